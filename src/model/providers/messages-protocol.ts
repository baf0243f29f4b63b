import { z } from 'zod';
import { list, text } from '../../lib/bounded-schema.ts';
import { problemBy } from '../allowed-requests.ts';
import { createListReader } from '../catalog/listed-model.ts';
import { withCacheMarks } from '../fit/cache-marks.ts';
import { fitMessages } from '../fit/messages.ts';
import type { Protocol } from '../protocol.ts';
import { statusOfError } from '../stream-head.ts';
import { Count } from '../tokens.ts';

/**
 * The names that a request may hold: text, pictures and files inside the request, and tools that
 * the agent runs itself.
 *
 * Anything else makes the server do more than to answer. It would fetch addresses and call other servers
 * on behalf of a container that has no network, hand out what is kept in the account, or let another
 * model answer; and most of it is paid for in other ways than by tokens. So what is not named here is
 * refused: servers learn new things faster than a list of forbidden ones.
 */
const NAMES = [
  'max_tokens',
  'messages',
  'metadata',
  'model',
  'output_config',
  'stop_sequences',
  'stream',
  'system',
  'temperature',
  'thinking',
  'tool_choice',
  'tools',
  'top_k',
  'top_p',
];

/** Written for five minutes, which is the price that is known; a longer time costs more. */
const cache_control = z.object({ ttl: z.literal('5m').nullish() }).nullish();

const plain = <T extends string>(type: T) => z.object({ type: z.literal(type), cache_control });
/** Messages of the longest conversation, and blocks of its longest message. */
const MOST_BLOCKS = 20_000;

const textOr = (blocks: z.ZodType) => z.union([z.string(), list(blocks, MOST_BLOCKS)]).nullish();

const Source = z.discriminatedUnion('type', [
  z.object({ type: z.literal('base64') }),
  z.object({ type: z.literal('text') }),
  z.object({
    type: z.literal('content'),
    get content() {
      return textOr(Block);
    },
  }),
]);

const Block: z.ZodType = z.discriminatedUnion('type', [
  plain('text'),
  plain('image').extend({ source: Source }),
  plain('document').extend({ source: Source }),
  plain('search_result').extend({
    get content() {
      return textOr(Block);
    },
  }),
  plain('thinking'),
  plain('redacted_thinking'),
  // What a tool was called with is text to the server, whatever it looks like.
  plain('tool_use'),
  plain('tool_result').extend({
    get content() {
      return textOr(Block);
    },
  }),
]);

const Plain = z.object({
  system: textOr(Block),
  messages: list(z.object({ content: textOr(Block) }), MOST_BLOCKS),
  tools: list(z.object({ type: z.literal('custom').nullish(), cache_control })).nullish(),
});

/** Beta features that change neither the price of a call nor its destination. */
const BETAS = [
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'pdfs-2024-09-25',
  'structured-outputs-2025-11-13',
];

const Answer = z.object({
  content: list(z.looseObject({ type: text(100), text: text().optional() })),
});

const Counts = z.object({
  input_tokens: Count.nullish(),
  output_tokens: Count.nullish(),
  cache_creation_input_tokens: Count.nullish(),
  cache_read_input_tokens: Count.nullish(),
});
const Carrier = z.object({
  usage: Counts.nullish(),
  message: z.object({ usage: Counts.nullish() }).nullish(),
});

const StreamEvent = z.object({
  type: z.string(),
  error: z.unknown().optional(),
  content_block: z.object({ type: z.string(), text: z.string().optional() }).nullish().catch(null),
});

const MAX_ANSWER_TOKENS = 16_000;

function urlOf(baseUrl: string, path: string): URL {
  return new URL(`${baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '')}${path}`);
}

/** The Messages API of Anthropic, which other providers speak as well. */
export const messages: Protocol = {
  name: 'messages',
  paths: ['/v1/messages', '/v1/messages/count_tokens'],
  freePaths: ['/v1/messages/count_tokens'],
  usualAnswerTokens: 32_000,
  usualEnd: null,
  // Base addresses do not end in /v1 by convention; both are taken.
  urlOf,
  listUrl: (baseUrl) => urlOf(baseUrl, '/v1/models?limit=1000'),
  modelsIn: createListReader(),
  headersOf(given) {
    const version = given['anthropic-version'];
    const betas = plainBetas(String(given['anthropic-beta'] ?? ''));
    return {
      'anthropic-version': typeof version === 'string' ? version : '2023-06-01',
      ...(betas === null ? {} : { 'anthropic-beta': betas }),
    };
  },
  problemOf: problemBy(NAMES, Plain),
  withCounts: (request) => request,
  fit: fitMessages,
  withCache: withCacheMarks,
  // The declarations stay: the server refuses calls in the conversation that it finds none for.
  withoutTools: (request) =>
    request['tools'] === undefined ? request : { ...request, tool_choice: { type: 'none' } },
  question: ({ system, user }) => ({
    max_tokens: MAX_ANSWER_TOKENS,
    ...(system === undefined ? {} : { system }),
    messages: [{ role: 'user', content: user }],
  }),
  probe: { max_tokens: 16, messages: [{ role: 'user', content: 'Say ok.' }] },
  isAnswer: (body) => typeof body === 'object' && body !== null && 'content' in body,
  textIn(body) {
    const { data } = Answer.safeParse(body);
    return data === undefined ? null : data.content.map(({ text }) => text ?? '').join('');
  },
  headEventOf(event) {
    const { data } = StreamEvent.safeParse(event);
    if (data?.type === 'error') return { status: statusOfError(data.error) };
    if (data?.type === 'message_start' || data?.type === 'ping') return 'waiting';
    const isEmptyBlock = data?.content_block?.type === 'text' && !data.content_block.text;
    return data?.type === 'content_block_start' && isEmptyBlock ? 'waiting' : 'begun';
  },
  countsIn(event) {
    const { data } = Carrier.safeParse(event);
    const counts = data?.usage ?? data?.message?.usage;
    if (!counts) return null;
    return {
      inputTokens: counts.input_tokens ?? 0,
      cacheWriteTokens: counts.cache_creation_input_tokens ?? 0,
      cacheReadTokens: counts.cache_read_input_tokens ?? 0,
      outputTokens: counts.output_tokens ?? 0,
    };
  },
};

/** Returns what is left of the header that asks for such features; null when nothing is. */
function plainBetas(header: string): string | null {
  const named = header.split(',').map((name) => name.trim());
  return named.filter((name) => BETAS.includes(name)).join(',') || null;
}
