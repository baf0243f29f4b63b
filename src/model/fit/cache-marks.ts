import { type Fields, fieldsIn, isFields } from './fitted-request.ts';

const MARK = { cache_control: { type: 'ephemeral' } } as const;
/** Blocks that the API refuses a mark on. */
const UNMARKED = ['thinking', 'redacted_thinking'];

/**
 * Marks what a server of the Messages API is to keep in its cache: tools and system, and the conversation to its end.
 *
 * A third mark is where the last request ended. The server looks for what it has read before at most 20 blocks in front
 * of a mark, and one round of tool calls can be longer than that. A request that has marks of its own is left alone.
 */
export function withCacheMarks(request: Fields): Fields {
  const { system, tools, messages } = request;
  const said = fieldsIn(messages);
  if (hasMark(request)) return request;
  const answered = said.findLastIndex(({ role }) => role === 'assistant');
  const marked = new Set([answered - 1, said.length - 1]);
  const blocks = typeof system === 'string' ? [{ type: 'text', text: system }] : fieldsIn(system);
  return {
    ...request,
    ...(blocks.length > 0 ? { system: lastMarked(blocks) } : {}),
    ...(blocks.length === 0 && fieldsIn(tools).length > 0
      ? { tools: lastMarked(fieldsIn(tools)) }
      : {}),
    messages: said.map((message, at) => (marked.has(at) ? messageMarked(message) : message)),
  };
}

function messageMarked(message: Fields): Fields {
  const { content } = message;
  const blocks =
    typeof content === 'string' ? [{ type: 'text', text: content }] : fieldsIn(content);
  return { ...message, content: lastMarked(blocks) };
}

function lastMarked(blocks: readonly Fields[]): readonly Fields[] {
  const last = blocks.findLastIndex(({ type }) => !UNMARKED.includes(String(type)));
  return blocks.map((block, at) => (at === last ? { ...block, ...MARK } : block));
}

function hasMark({ system, tools, messages }: Fields): boolean {
  const blocks = [
    ...fieldsIn(system),
    ...fieldsIn(tools),
    ...fieldsIn(messages).flatMap(({ content }) => fieldsIn(content)),
  ];
  return blocks.some((block) => isFields(block['cache_control']));
}

/** Returns the request without any mark, for a server that does not know them. */
export function withoutCacheMarks(request: Fields): Fields {
  const plain = ({ cache_control: _, ...block }: Fields): Fields => block;
  const { system, tools, messages } = request;
  return {
    ...request,
    ...(Array.isArray(system) ? { system: fieldsIn(system).map(plain) } : {}),
    ...(Array.isArray(tools) ? { tools: fieldsIn(tools).map(plain) } : {}),
    messages: fieldsIn(messages).map((message) =>
      Array.isArray(message['content'])
        ? { ...message, content: fieldsIn(message['content']).map(plain) }
        : message,
    ),
  };
}
