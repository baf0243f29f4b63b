import { z } from 'zod';
import type { ModelSettings } from '../config.ts';

/**
 * What may be asked of a model's server: words, pictures and files that stand in the request, and tools
 * that the agent runs itself.
 *
 * Anything else makes the server do more than to answer. It would fetch addresses and call other servers
 * on behalf of a container that has no network, hand out what is kept in the account, or let another
 * model answer; and most of it is paid for in other ways than by tokens. So what is not named here is
 * refused: servers learn new things faster than a list of forbidden ones.
 */
const NAMES = {
  anthropic: [
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
  ],
  openai: [
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
  ],
} as const;

/** Written for five minutes, which is the price that is known; a longer time costs more. */
const cache_control = z.object({ ttl: z.literal('5m').nullish() }).nullish();

const plain = <T extends string>(type: T) => z.object({ type: z.literal(type), cache_control });
const textOr = (blocks: z.ZodType) => z.union([z.string(), z.array(blocks)]).nullish();

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

const PLAIN = {
  anthropic: z.object({
    system: textOr(Block),
    messages: z.array(z.object({ content: textOr(Block) })),
    tools: z.array(z.object({ type: z.literal('custom').nullish(), cache_control })).nullish(),
  }),
  openai: z.object({
    messages: z.array(z.object({ content: textOr(Part) })),
    tools: z.array(z.object({ type: z.literal('function') })).nullish(),
  }),
} as const;

/** What of a request may not go on to the model's server, as the agent is told; null when all of it may. */
export function requestProblem(
  { provider }: Pick<ModelSettings, 'provider'>,
  request: Readonly<Record<string, unknown>>,
): string | null {
  const names: readonly string[] = NAMES[provider];
  const unknown = Object.keys(request).find((name) => !names.includes(name));
  if (unknown !== undefined) return `${JSON.stringify(unknown)} cannot be asked for here.`;
  const { error } = PLAIN[provider].safeParse(request);
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return null;
  return `What stands at ${issue.path.join('.')} cannot be asked for here.`;
}

/** Features that are being tried out and change neither the price of a call nor whom it reaches. */
const BETAS = [
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'pdfs-2024-09-25',
  'structured-outputs-2025-11-13',
];

/** What is left of the header that asks for such features; null when nothing is. */
export function plainBetas(header: string): string | null {
  const named = header.split(',').map((name) => name.trim());
  return named.filter((name) => BETAS.includes(name)).join(',') || null;
}
