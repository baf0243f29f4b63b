import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { brokenRule } from './anthropic-rules.ts';

const Block = z.looseObject({ type: z.string() });
const Message = z.looseObject({
  role: z.enum(['user', 'assistant']),
  content: z.union([z.string(), z.array(Block)]),
});

/** The parts of a Messages request that the real server insists on, and those that tests look at. */
const Body = z.looseObject({
  model: z.string().min(1),
  max_tokens: z.number().int().positive(),
  messages: z.array(Message).min(1),
  system: z.union([z.string(), z.array(Block)]).optional(),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
  stream: z.boolean().optional(),
});

export type AnthropicBody = z.output<typeof Body>;
export type AnthropicRequest = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Without marks for the cache; a text that stands alone is a string. */
  readonly body: AnthropicBody;
  /** As it came. */
  readonly sent: AnthropicBody;
};

/** The real server's answer to a request that it refuses. */
export type Refusal = { readonly status: number; readonly type: string; readonly message: string };

/** Reads a request as strictly as the real server does. */
export function readRequest(
  path: string,
  headers: IncomingHttpHeaders,
  text: string,
): AnthropicRequest | Refusal {
  if (headers['x-api-key'] === undefined) {
    return { status: 401, type: 'authentication_error', message: 'x-api-key header is required' };
  }
  if (headers['anthropic-version'] === undefined) {
    return invalid('anthropic-version: header is required');
  }
  const parsed = Body.safeParse(parseJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return invalid(`${issue?.path.join('.')}: ${issue?.message}`);
  }
  const sent = parsed.data;
  const wrong = wrongConversation(sent) ?? brokenRule(sent);
  return wrong === null ? { path, headers, body: withoutMarks(sent), sent } : invalid(wrong);
}

/** Returns what a request says, whatever of it the server is to keep in its cache. */
function withoutMarks({ system, tools, messages, ...rest }: AnthropicBody): AnthropicBody {
  const plain = <T extends object>(block: T): T => {
    const { cache_control: _, ...kept } = block as T & { cache_control?: unknown };
    return kept as unknown as T;
  };
  const isMarked = (content: string | readonly object[]) =>
    typeof content !== 'string' && content.some((block) => 'cache_control' in block);
  const contentOf = (content: string | z.output<typeof Block>[]) => {
    if (typeof content === 'string' || !isMarked(content)) return content;
    const [first, ...others] = content.map(plain);
    return first?.type === 'text' && others.length === 0
      ? String(first['text'])
      : content.map(plain);
  };
  return {
    ...rest,
    ...(system === undefined ? {} : { system: contentOf(system) }),
    ...(tools === undefined ? {} : { tools: tools.map(plain) }),
    messages: messages.map((message) => ({ ...message, content: contentOf(message.content) })),
  };
}

/** Returns the text of the newest message of the user's, blocks joined; results of tools and the host's notes are left out. */
export function lastUserText({ body }: AnthropicRequest): string {
  const last = body.messages.findLast(({ role }) => role === 'user');
  if (last === undefined) return '';
  if (typeof last.content === 'string') return last.content;
  return last.content
    .flatMap(({ type, text }) => (type === 'text' ? [String(text)] : []))
    .filter((text) => !text.startsWith('[For this turn]'))
    .join('');
}

/** Returns the results of tools in the newest message, as text, in order. */
export function lastToolResults({ body }: AnthropicRequest): readonly string[] {
  const content = body.messages.at(-1)?.content ?? [];
  if (typeof content === 'string') return [];
  return content
    .filter(({ type }) => type === 'tool_result')
    .map((block) => (typeof block.content === 'string' ? block.content : JSON.stringify(block)));
}

function invalid(message: string): Refusal {
  return { status: 400, type: 'invalid_request_error', message };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Refused by the schema, as anything else that is not an object.
    return null;
  }
}

function wrongConversation({ messages }: AnthropicBody): string | null {
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  for (const [at, message] of messages.entries()) {
    const before = messages[at - 1];
    if (before?.role === message.role) return 'messages: roles must alternate';
    const unanswered = idsOf(before, 'tool_use', 'id').find(
      (id) => !idsOf(message, 'tool_result', 'tool_use_id').includes(id),
    );
    if (unanswered !== undefined) return `messages.${at}: tool_use ${unanswered} has no result`;
  }
  return null;
}

function idsOf(message: z.output<typeof Message> | undefined, type: string, key: string): string[] {
  if (message === undefined || typeof message.content === 'string') return [];
  return message.content.filter((block) => block.type === type).map((block) => String(block[key]));
}
