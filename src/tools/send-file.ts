import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';

const Input = z.object({
  path: z.string().min(1).max(1_000).describe('A file in your own /workspace/group'),
  caption: z.string().max(10_000).default('').describe('What to say with it, in Markdown'),
});

export const tool = defineTool({
  name: 'send_file',
  create: () => ({
    description:
      'Sends a file of your own /workspace/group to this chat at once, up to 20 MB: a picture as a picture, anything else as a document. To show a picture within your answer, write it there as Markdown: ![what it shows](chart.png).',
    doing: 'sending a file',
    isMainOnly: false,
    repeat: 'once',
    brings: 'own',
    input: Input,
    async run({ caller, send, reachOf, capabilitiesOf }, { path, caption }) {
      await send(caller.jid, caption, { attachments: [path] });
      if (capabilitiesOf(caller.jid).attachments === undefined) {
        return 'The channel of this chat cannot send files: the message says where the file is.';
      }
      return reachOf(caller.jid) === 'connected'
        ? 'Queued for this chat.'
        : 'Queued for this chat: its channel is not connected now, and it is sent when it is.';
    },
  }),
});
