import { z } from 'zod';
import { namedGroup } from '../named-group.ts';
import type { AgentTool } from '../tool.ts';

const Input = z.object({
  text: z.string().min(1).max(100_000).describe('The message, in Markdown'),
  group: z
    .string()
    .optional()
    .describe('Name or folder of another registered chat; only the main chat may name one'),
});

export const tool: AgentTool = {
  name: 'send_message',
  description:
    'Sends a message to this chat at once, before the answer. The main chat may name any registered chat.',
  isMainOnly: false,
  input: Input,
  async run(context, input) {
    const { text, group } = Input.parse(input);
    const target = namedGroup(context, group, 'This chat may write to itself only.');
    context.send(target.jid, text);
    return `Queued for ${target.name}.`;
  },
};
