import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';
import { readTextBeneath } from '../lib/open-beneath.ts';

const MAX_BYTES = 262_144;
const PART = '[A-Za-z0-9_][A-Za-z0-9_. -]{0,99}';

const Input = z.object({
  text: z
    .string()
    .max(100_000)
    .describe('What to write, in Markdown; empty with the action "write" deletes the file'),
  action: z
    .enum(['add', 'write', 'replace'])
    .default('add')
    .describe(
      'add: lines at the end. write: the whole file anew. replace: the text in place of `old`, which is in the file once',
    ),
  old: z.string().min(1).max(100_000).optional().describe('For replace: the text as it is now'),
  file: z
    .string()
    .regex(new RegExp(`^${PART}(/${PART}){0,5}$`), 'must be a plain path below /workspace/global')
    .default('CLAUDE.md')
    .describe('A path below /workspace/global'),
});

/** Writes what every group reads. The containers see that folder read-only, so each change comes by here. */
export const tool = defineTool({
  name: 'write_global_memory',
  create: ({ groupsDir, newId }) => ({
    description:
      'Changes the memory of all groups: CLAUDE.md, or another text file in /workspace/global. Every group reads it: nothing private. Only when the owner asks for it. For the main chat only.',
    doing: 'writing the memory of all groups',
    isMainOnly: true,
    repeat: 'once',
    brings: 'own',
    input: Input,
    elsewhere: () => ({ key: 'global memory', name: 'the memory of all groups' }),
    async run(_call, { text, action, old, file }) {
      const root = join(groupsDir, 'global');
      const path = join(root, file);
      const before = await textOf(root, file);
      if (action === 'write' && text === '') {
        if (before !== null) await rm(path);
        return `${file} is not there any more.`;
      }
      const after = newText(before ?? '', { text, action, old });
      if (Buffer.byteLength(after) > MAX_BYTES) throw new Error(`${file} would have over 256 KB.`);
      await mkdir(dirname(path), { recursive: true });
      // The whole file or the old one, whatever happens; every group's agent may read it.
      const fresh = `${path}.${newId()}.new`;
      await writeFile(fresh, after, { mode: 0o644 });
      await rename(fresh, path);
      return `Written to /workspace/global/${file}.`;
    },
  }),
});

/** Follows no link, which an older version's agent could have made; null where no such file is there. */
async function textOf(root: string, file: string): Promise<string | null> {
  try {
    const text = await readTextBeneath(root, file.split('/'), MAX_BYTES);
    if (text === null) throw new Error(`${file} is not a file of at most 256 KB.`);
    return text;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP' || code === 'ENOTDIR') {
      throw new Error(`${file} is a link or in no folder. Name another file.`);
    }
    throw error;
  }
}

function newText(
  before: string,
  { text, action, old }: Pick<z.output<typeof Input>, 'text' | 'action' | 'old'>,
): string {
  if (action === 'write') return text;
  if (action === 'add') {
    return `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${text}\n`;
  }
  const parts = before.split(old ?? '\0');
  if (parts.length !== 2) {
    const many = parts.length === 1 ? 'not in the file' : 'in the file more than once';
    throw new Error(`Nothing was written: \`old\` is ${many}. Read it first.`);
  }
  return parts.join(text);
}
