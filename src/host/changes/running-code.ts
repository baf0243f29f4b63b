import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/** The code that this process was started on, which the tree may be ahead of. */
export type RunningCode = {
  /** Tells whether a command has published other code since the start. */
  isOutdated(): boolean;
  /** Names the layers that run: `core and telegram 2.0.0`. */
  describe(): string;
};

const State = z.looseObject({
  layers: z.array(z.looseObject({ name: z.string(), version: z.string() })),
});

/** Notes the code that is in the tree now; called at the start. */
export function noteRunningCode(projectDir: string): RunningCode {
  const atStart = readState(projectDir);
  return {
    isOutdated: () => readState(projectDir) !== atStart,
    describe: () => (atStart === null ? describeLayers([]) : describeState(atStart)),
  };
}

/** Names the core and the layers on it. */
export function describeLayers(
  layers: readonly { readonly name: string; readonly version: string }[],
): string {
  const names = layers.map(({ name, version }) => `${name} ${version}`).join(', ');
  return `core and ${names || 'no skills'}`;
}

function describeState(text: string): string {
  try {
    return describeLayers(State.parse(parse(text)).layers);
  } catch {
    return 'other code'; // Damaged by hand; `claw doctor` says so.
  }
}

/** Returns the text that every command which publishes code rewrites; null where none has run. */
function readState(projectDir: string): string | null {
  try {
    return readFileSync(join(projectDir, '.claw/state.yaml'), 'utf8');
  } catch {
    return null;
  }
}
