import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { defineTool } from '../agent-tool.ts';

const MAX_ENTRIES = 1_000;

export const tool = defineTool({
  name: 'list_files',
  repeat: 'harmless',
  brings: 'own',
  doing: 'looking through files',
  description: 'Lists a folder. Folders end in a slash; links are not followed.',
  input: z.object({
    path: z.string().default('.').describe('Absolute, or relative to /workspace/group'),
    depth: z.number().int().min(1).max(10).default(2),
  }),
  async run({ path, depth }) {
    const found: string[] = [];
    await collect(path, await readdir(path, WITH_TYPES), { depth, found });
    if (found.length === 0) return 'The folder is empty.';
    if (found.length < MAX_ENTRIES) return found.join('\n');
    return `${found.join('\n')}\n[the first ${MAX_ENTRIES}; list a subfolder for the rest]`;
  },
});

const WITH_TYPES = { withFileTypes: true } as const;

async function collect(
  dir: string,
  entries: Dirent[],
  { depth, found }: { readonly depth: number; readonly found: string[] },
): Promise<void> {
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    if (found.length >= MAX_ENTRIES) return;
    const path = join(dir, entry.name);
    found.push(entry.isDirectory() ? `${path}/` : path);
    if (!entry.isDirectory() || depth === 1) continue;
    // One that is closed, or whose name is no UTF-8, is shown without what is in it.
    const inside = await readdir(path, WITH_TYPES).catch(() => []);
    await collect(path, inside, { depth: depth - 1, found });
  }
}
