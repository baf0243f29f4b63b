import { appendFile, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { defineTool } from '../agent-tool.ts';
import { checkPlainFile } from '../files/plain-file.ts';
import { MAX_MEMORY_BYTES, MAX_NOTES_BYTES } from '../memory.ts';

const FILES = {
  group: '/workspace/group/CLAUDE.md',
  own: '/home/node/.claude/memory/MEMORY.md',
} as const;

export const tool = defineTool({
  name: 'remember',
  repeat: 'once',
  brings: 'own',
  doing: 'taking a note',
  description:
    'Adds a line to a memory that is shown to you in every turn from now on, as long as the file keeps to its limit. To change or take out what is there, edit the file.',
  input: z.object({
    text: z.string().trim().min(1).max(4_000).describe('One fact or wish, to be understood alone'),
    where: z
      .enum(['group', 'own'])
      .default('group')
      .describe('group: the CLAUDE.md of this group. own: your own notes'),
  }),
  async run({ text, where }) {
    const path = FILES[where];
    const line = `- ${text.replace(/\s*\n\s*/g, ' ')}\n`;
    await checkPlainFile(path);
    await mkdir(dirname(path), { recursive: true });
    // Appends, and never rewrites: the owner may be editing the same file.
    await appendFile(path, (await endsInLine(path)) ? line : `\n${line}`);
    return `Noted in ${path}.${await limitNotice(path)}`;
  },
});

/** Says when the memory is longer than what is shown of it. */
async function limitNotice(path: string): Promise<string> {
  const { size } = await stat(path);
  const most = path === FILES.own ? MAX_NOTES_BYTES : MAX_MEMORY_BYTES;
  if (size <= most) return '';
  return ` The file has ${size} bytes, and only ${most} of them are shown to you: its beginning and its end. Tell the user that this memory is over its limit, and offer to tidy it: merge what belongs together, and take out what is not true any more.`;
}

async function endsInLine(path: string): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text === '' || text.endsWith('\n');
}
