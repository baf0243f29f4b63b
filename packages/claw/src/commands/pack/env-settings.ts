import type { TreeFile } from '@patchclaw/merge';
import { envMap } from '../../structured/env/env.ts';
import { envData } from '../../structured/env/env-edit.ts';

/** A setting of `.env.example` as an author wrote it. */
export type WrittenSetting = { readonly example: string; readonly description: string | null };

/** Reads the settings of an env file by name, each with the comment right above it. */
export function readSettings(file: TreeFile | null): ReadonlyMap<string, WrittenSetting> {
  if (file === null) return new Map();
  const values = envData(file.bytes);
  const { chunks } = envMap(file.bytes.toString('utf8'));
  return new Map(
    chunks.map(({ key, lead }) => [
      key,
      { example: values[key] ?? '', description: commentIn(lead) },
    ]),
  );
}

/**
 * Returns the comment that ends right above a setting: what a blank line or a setting in comments parts is
 * not its own.
 */
function commentIn(lead: readonly string[]): string | null {
  const lines: string[] = [];
  for (const line of [...lead].reverse()) {
    const text = /^\s*#+\s?(.*?)\s*$/.exec(line)?.[1];
    if (text === undefined || /^[A-Z][A-Z0-9_]*=/.test(text)) break;
    // Written by claw for a setting whose example is no value.
    if (!text.startsWith('Looks like ')) lines.unshift(text);
  }
  return lines.length === 0 ? null : lines.join('\n');
}
