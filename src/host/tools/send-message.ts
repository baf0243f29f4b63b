import { z } from 'zod';
import type { Group } from '../../store/store.ts';
import type { AgentTool, ToolContext } from '../tool.ts';

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
    const target = group === undefined ? context.caller : namedGroup(context, group);
    context.send(target.jid, text);
    return `Queued for ${target.name}.`;
  },
};

function namedGroup({ caller, store }: ToolContext, wanted: string): Group {
  const name = wanted.toLowerCase();
  if (name === caller.folder || name === caller.name.toLowerCase()) return caller;
  if (!caller.isMain) throw new Error('This chat may write to itself only.');
  const groups = store.groups.all();
  const found = groups.filter(
    (group) => group.folder === name || group.name.toLowerCase() === name,
  );
  const [only] = found;
  if (found.length === 1 && only !== undefined) return only;
  const known = groups.map((group) => group.folder).join(', ');
  throw new Error(
    found.length === 0
      ? `No registered chat is called ${wanted}. There are: ${known}.`
      : `Several chats are called ${wanted}. Use the folder: ${found.map((group) => group.folder).join(', ')}.`,
  );
}
