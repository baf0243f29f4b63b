import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';
import { namedGroup, otherGroup } from '../host/groups/named-group.ts';

const Input = z.object({
  text: z.string().min(1).max(100_000).describe('The message, in Markdown'),
  group: z
    .string()
    .optional()
    .describe('Name or folder of another registered chat; only the main chat may name one'),
  attachments: z
    .array(z.string().min(1).max(1_000))
    .max(10)
    .optional()
    .describe('Files to send along: paths in your own /workspace/group'),
  as_reaction: z
    .boolean()
    .optional()
    .describe('The text is one emoji, put on the message that you answer'),
});

const EMOJI = /^\p{RGI_Emoji}$/v;

export const tool = defineTool({
  name: 'send_message',
  create: () => ({
    description:
      'Sends a message to this chat at once, before the answer, with files of yours where you name them. The main chat may name any registered chat.',
    doing: 'sending a message',
    isMainOnly: false,
    repeat: 'once',
    brings: 'own',
    input: Input,
    elsewhere: (call, { group }) => otherGroup(call, group),
    async run(context, input) {
      const { text, group, attachments = [], as_reaction: isReaction = false } = input;
      if (isReaction && (!EMOJI.test(text) || attachments.length > 0)) {
        throw new Error('A reaction is one emoji and nothing else: "👍". Nothing was sent.');
      }
      const target = namedGroup(context, group, 'This chat may write to itself only.');
      const reach = context.reachOf(target.jid);
      if (reach === 'gone') {
        throw new Error(
          `Nothing was sent: the channel of ${target.name} (${target.jid}) is not in the assistant any more. ` +
            'The owner can add its skill again, or take the chat out with /unregister.',
        );
      }
      await context.send(target.jid, text, { attachments, isReaction });
      const isNamed = attachments.length > 0 && !context.capabilitiesOf(target.jid).attachments;
      const files = isNamed
        ? ' Its channel cannot send files: the message says where they are.'
        : '';
      if (reach === 'connected') return `Queued for ${target.name}.${files}`;
      return `Queued for ${target.name}: its channel is not connected now, and it is sent when it is.${files}`;
    },
  }),
});
