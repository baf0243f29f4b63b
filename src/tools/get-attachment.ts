import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';

const Input = z.object({
  message_id: z
    .string()
    .min(1)
    .max(200)
    .describe('The id in the line of the file, such as [image, 120 kB, id 3EB0…]'),
});

export const tool = defineTool({
  name: 'get_attachment',
  create: () => ({
    description:
      'Fetches a file (image, voice, document …) that came with a message of this chat, up to 20 MB, and returns its path below /workspace/media; the file name shows its type.',
    doing: 'fetching a file',
    isMainOnly: false,
    repeat: 'harmless',
    brings: 'outside',
    input: Input,
    run({ caller, fetchAttachment }, input) {
      return fetchAttachment(caller, input.message_id);
    },
  }),
});
