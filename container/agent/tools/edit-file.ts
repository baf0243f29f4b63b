import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { ToolFault } from '../../../src/lib/tool-fault.ts';
import { defineTool } from '../agent-tool.ts';
import { readText } from '../files/plain-file.ts';

export const tool = defineTool({
  name: 'edit_file',
  repeat: 'once',
  brings: 'own',
  doing: 'writing files',
  description: 'Replaces a piece of a text file. The old text must be there exactly once.',
  input: z.object({
    path: z.string().describe('Absolute, or relative to /workspace/group'),
    old_text: z.string().min(1),
    new_text: z.string(),
    replace_all: z.boolean().default(false),
  }),
  async run({ path, old_text, new_text, replace_all }) {
    // Byte by byte: what is no UTF-8 elsewhere in the file stays as it is.
    const pieces = (await readText(path, 'latin1')).split(bytesOf(old_text));
    const found = pieces.length - 1;
    if (found === 0)
      throw new ToolFault('not-found', `The old text is not in ${path}. Read the file again.`);
    if (found > 1 && !replace_all) {
      throw new ToolFault(
        'bad-arguments',
        `The old text is in ${path} ${found} times. Give more of it.`,
      );
    }
    await writeFile(path, pieces.join(bytesOf(new_text)), 'latin1');
    return `Replaced ${found} in ${path}.`;
  },
});

function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}
