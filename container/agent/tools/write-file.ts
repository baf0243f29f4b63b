import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { defineTool } from '../agent-tool.ts';
import { checkPlainFile } from '../files/plain-file.ts';

export const tool = defineTool({
  name: 'write_file',
  repeat: 'harmless',
  brings: 'own',
  doing: 'writing files',
  description: 'Writes a text file, replacing what was there. Missing folders are made.',
  input: z.object({
    path: z.string().describe('Absolute, or relative to /workspace/group'),
    content: z.string(),
  }),
  async run({ path, content }) {
    await checkPlainFile(path);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    return `Wrote ${Buffer.byteLength(content)} bytes to ${path}.`;
  },
});
