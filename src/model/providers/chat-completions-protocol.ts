import { z } from 'zod';
import { dictionary, list, text } from '../../lib/bounded-schema.ts';
import { problemBy } from '../allowed-requests.ts';
import { createListReader } from '../catalog/listed-model.ts';
import { fitChatCompletions } from '../fit/chat-completions.ts';
import type { Protocol } from '../protocol.ts';
import { statusOfError } from '../stream-head.ts';
import { Count } from '../tokens.ts';

/** The names that a request may hold, for the reason that `messages-protocol.ts` gives. */
const NAMES = [
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'messages',
  'model',
  'n',
  'parallel_tool_calls',
  'presence_penalty',
  'reasoning_effort',
  'response_format',
  'seed',
  'stop',
  'stream',
  'stream_options',
  'temperature',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'user',
  'verbosity',
];

/** Messages of the longest conversation, and parts of its longest message. */
const MOST_PARTS = 20_000;

const Encoded = z.string().startsWith('data:');

const Part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('refusal') }),
  z.object({ type: z.literal('input_audio') }),
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: Encoded }) }),
  z.object({
    type: z.literal('file'),
    file: z.object({ file_data: Encoded, file_id: z.null().optional() }),
  }),
]);

const Plain = z.object({
  messages: list(
    z.object({ content: z.union([z.string(), list(Part, MOST_PARTS)]).nullish() }),
    MOST_PARTS,
  ),
  tools: list(z.object({ type: z.literal('function') })).nullish(),
});

const StreamOptions = dictionary(z.unknown()).catch({});

const Answer = z.object({
  choices: z.tuple([z.object({ message: z.object({ content: text() }) })], z.unknown()),
});

const Counts = z.object({
  prompt_tokens: Count.nullish(),
  prompt_tokens_details: z.object({ cached_tokens: Count.nullish() }).nullish(),
  completion_tokens: Count.nullish(),
});
const StreamEvent = z.object({
  error: z.unknown().optional(),
  choices: z
    .array(
      z.object({ delta: z.record(z.string(), z.unknown()), finish_reason: z.unknown().optional() }),
    )
    .max(16)
    .optional(),
});
const Carrier = z.object({ usage: Counts.nullish() });

/** Chat completions as OpenAI made them, which most servers speak. */
export const chatCompletions: Protocol = {
  name: 'chat-completions',
  paths: ['/v1/chat/completions'],
  freePaths: [],
  usualAnswerTokens: null,
  usualEnd: '/v1',
  // Base addresses end in /v1 by convention, and some in something else instead.
  urlOf: (baseUrl, path) => new URL(`${baseUrl.replace(/\/+$/, '')}${path.slice('/v1'.length)}`),
  listUrl: (baseUrl) => new URL(`${baseUrl.replace(/\/+$/, '')}/models`),
  modelsIn: createListReader(),
  headersOf: () => ({}),
  problemOf: problemBy(NAMES, Plain),
  withCounts: (request) => ({
    ...request,
    stream_options: { ...StreamOptions.parse(request['stream_options']), include_usage: true },
  }),
  fit: fitChatCompletions,
  // These servers keep the beginning of a request by themselves.
  withCache: (request) => request,
  withoutTools({ tools: _, tool_choice: __, parallel_tool_calls: ___, messages, ...request }) {
    return { ...request, messages: Array.isArray(messages) ? messages.map(asText) : messages };
  },
  question: ({ system, user }) => ({
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: user },
    ],
  }),
  // Without a limit, which newer models refuse by its old name.
  probe: { messages: [{ role: 'user', content: 'Say ok.' }] },
  isAnswer: (body) => typeof body === 'object' && body !== null && 'choices' in body,
  textIn: (body) => Answer.safeParse(body).data?.choices[0].message.content ?? null,
  headEventOf(event) {
    const { data } = StreamEvent.safeParse(event);
    if (data === undefined) return 'begun';
    if (data.error !== undefined && data.error !== null) {
      return { status: statusOfError(data.error) };
    }
    const isSaid = data.choices?.some(
      ({ delta: { role: _, ...said }, finish_reason: reason }) =>
        Boolean(reason) || Object.values(said).some((each) => each !== null && each !== ''),
    );
    return isSaid === false ? 'waiting' : 'begun';
  },
  countsIn(event) {
    const counts = Carrier.safeParse(event).data?.usage;
    if (!counts) return null;
    const cacheReadTokens = counts.prompt_tokens_details?.cached_tokens ?? 0;
    return {
      // The prompt includes what came from the cache.
      inputTokens: Math.max(0, (counts.prompt_tokens ?? 0) - cacheReadTokens),
      cacheWriteTokens: 0,
      cacheReadTokens,
      outputTokens: counts.completion_tokens ?? 0,
    };
  },
};

const Message = z.looseObject({
  role: z.string(),
  content: z.unknown(),
  tool_calls: z.array(z.unknown()).optional(),
});

/** Returns calls of tools and their results as text: servers of models without tools refuse them. */
function asText(message: unknown): unknown {
  const said = Message.safeParse(message).data;
  if (said === undefined) return message;
  const { role, content, tool_calls: calls, tool_call_id: _, ...rest } = said;
  if (role === 'tool') return { role: 'user', content: `[A tool gave: ${textOf(content)}]` };
  if (calls === undefined) return message;
  return { ...rest, role, content: `${textOf(content)}[I called ${JSON.stringify(calls)}]` };
}

function textOf(content: unknown): string {
  if (content === null || content === undefined) return '';
  return typeof content === 'string' ? content : JSON.stringify(content);
}
