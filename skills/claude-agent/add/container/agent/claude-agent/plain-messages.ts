import { z } from 'zod';

const Block = z.looseObject({ type: z.string() });
type Block = z.output<typeof Block>;

const Messages = z.array(
  z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(Block)]) }),
);

/**
 * Returns a conversation with messages of two roles that alternate, as every server of the protocol takes it.
 *
 * For newer models the SDK puts what it has to say between the messages, under a role that only Anthropic's own
 * servers know, and only with a header that the host does not pass on.
 */
export function plainMessages(given: unknown): unknown {
  const messages = Messages.safeParse(given).data;
  if (messages === undefined) return given;
  const plain: { role: string; content: Block[] }[] = [];
  for (const { role, content } of messages) {
    const isReminder = role !== 'user' && role !== 'assistant';
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const said = isReminder ? blocks.map(reminder) : blocks;
    const last = plain.at(-1);
    if (last?.role === (isReminder ? 'user' : role)) last.content.push(...said);
    else plain.push({ role: isReminder ? 'user' : role, content: [...said] });
  }
  // Servers want the results of tools before anything else in a message.
  return plain.map(({ role, content }) => ({
    role,
    content: content.toSorted((one, other) => Number(isResult(other)) - Number(isResult(one))),
  }));
}

function reminder(block: Block): Block {
  if (block.type !== 'text') return block;
  return { ...block, text: `<system-reminder>\n${block['text']}\n</system-reminder>` };
}

function isResult({ type }: Block): boolean {
  return type === 'tool_result';
}
