import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { defineTool } from '../agent-tool.ts';

export const tool = defineTool({
  name: 'word_count',
  description: 'Counts the words of a text file of this chat.',
  input: z.object({ path: z.string().describe('Absolute, or below /workspace/group') }),
  async run({ path }, { signal }) {
    const at = new URL(path, 'file:///workspace/group/');
    const text = await readFile(at, { encoding: 'utf8', signal });
    return `${text.split(/\s+/).filter((word) => word !== '').length} words`;
  },
});
