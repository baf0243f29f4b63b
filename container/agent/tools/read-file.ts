import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { defineTool } from '../agent-tool.ts';
import { isPdf, readPdf } from '../files/pdf.ts';
import { checkPlainFile, readText } from '../files/plain-file.ts';

/** Bytes that are searched for a zero byte, as git does: text has none. */
const LOOKED_AT = 8_000;

export const tool = defineTool({
  name: 'read_file',
  repeat: 'harmless',
  brings: 'files',
  doing: 'reading files',
  description:
    'Reads a text file, or the text of a PDF. Long ones are cut at 64 KB: read on from a later line or page.',
  input: z.object({
    path: z.string().describe('Absolute, or relative to /workspace/group'),
    from_line: z.number().int().positive().default(1),
    lines: z.number().int().positive().optional().describe('How many lines; all by default'),
    pages: z.string().max(20).optional().describe('Pages of a PDF: 3, or 3-7; all by default'),
  }),
  async run({ path, from_line, lines, pages }, { signal }) {
    await checkPlainFile(path);
    if (await isPdf(path)) return await readPdf(path, pages, signal);
    const text = await readText(path);
    if (text.slice(0, LOOKED_AT).includes('\0')) throw new Error(await notText(path));
    if (from_line === 1 && lines === undefined) return text;
    const first = from_line - 1;
    const end = lines === undefined ? undefined : first + lines;
    return text.split('\n').slice(first, end).join('\n');
  },
});

async function notText(path: string): Promise<string> {
  const { size } = await stat(path);
  return `${path} is not text but ${size} bytes of something else: look at it by a program of the shell. A picture is seen only as a part of a message.`;
}
