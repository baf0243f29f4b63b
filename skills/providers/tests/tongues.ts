import type { Asked, Tongue } from './servers.ts';

const FRAME = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' };
const delta = (fields: object, finish: string | null = null, more: object = {}) => ({
  ...FRAME,
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
  ...more,
});
const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const list = (...entries: readonly object[]) => ({ object: 'list', data: entries });

/** A call in pieces: its head, then its input bit by bit. */
const inPieces = (input: string, index: number, id: string) => [
  delta({
    tool_calls: [{ index, id, type: 'function', function: { name: 'shell', arguments: '' } }],
  }),
  ...(input.match(/.{1,7}/gsu) ?? []).map((piece) =>
    delta({ tool_calls: [{ index, function: { arguments: piece } }] }),
  ),
];
const whole = (input: string, id: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'shell', arguments: input },
  ...more,
});
const words = (text: string) =>
  (text.match(/.{1,5}/gsu) ?? []).map((content) => delta({ content }));

const usual: Tongue = {
  calls: (inputs) => [
    delta({ role: 'assistant', content: null }),
    ...inputs.flatMap((input, at) => inPieces(input, at, `call_${at}`)),
    delta({}, 'tool_calls'),
    { ...FRAME, choices: [], usage: USAGE },
  ],
  says: (text) => [
    delta({ role: 'assistant', content: '' }),
    ...words(text),
    delta({}, 'stop'),
    { ...FRAME, choices: [], usage: USAGE },
  ],
  list: list({ id: 'm', object: 'model' }),
};

const error = (status: number, message: string) => ({ status, body: { error: { message } } });
const assistants = ({ messages }: Asked) => messages.filter(({ role }) => role === 'assistant');
const reasoned = (asked: Asked) =>
  assistants(asked).some((message) => 'reasoning_content' in message || 'reasoning' in message);
const schemas = ({ tools }: Asked) => JSON.stringify(tools ?? []);

/** Each provider's tongue, by its name. */
export const TONGUES: Readonly<Record<string, Tongue>> = {
  openrouter: {
    ...usual,
    comment: ': OPENROUTER PROCESSING',
    says: (text) => [
      delta({ role: 'assistant', content: '', reasoning: 'Hm.' }),
      ...words(text),
      delta({ content: '' }, 'stop', { provider: 'Acme', usage: { ...USAGE, cost: 0.0004 } }),
    ],
    list: list({
      id: 'm',
      context_length: 65_536,
      pricing: { prompt: '0.000002', completion: '0.00001' },
    }),
  },
  gemini: {
    ...usual,
    refuses: (asked) => {
      // Of the turn under way only, since its last question.
      const asks = asked.messages.findLastIndex(({ role }) => role === 'user');
      const [calls] = asked.messages.slice(asks).flatMap(({ tool_calls: made }) => made ?? []);
      const signed = calls === undefined || JSON.stringify(calls).includes('c2lnbmVk');
      const message = !signed
        ? 'Function call is missing a thought_signature in functionCall parts.'
        : /"(\$schema|additionalProperties|exclusiveMinimum)":/.test(schemas(asked))
          ? 'Invalid JSON payload received. Unknown name "additionalProperties"'
          : null;
      return message === null
        ? null
        : { status: 400, body: [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }] };
    },
    calls: (inputs) => [
      delta(
        {
          role: 'assistant',
          tool_calls: inputs.map((input, index) =>
            whole(input, `function-call-${index}`, {
              index,
              ...(index === 0
                ? { extra_content: { google: { thought_signature: 'c2lnbmVk' } } }
                : {}),
            }),
          ),
        },
        'stop',
        { usage: { ...USAGE, total_tokens: 150 } },
      ),
    ],
    says: (text) => [
      ...words(text).map((chunk) => ({
        ...chunk,
        usage: { ...USAGE, completion_tokens: 5, total_tokens: 140 },
      })),
      delta({ role: 'assistant' }, 'stop', { usage: { ...USAGE, total_tokens: 150 } }),
    ],
    list: list({ id: 'models/m' }, { id: 'models/text-embedding-004' }),
  },
  groq: {
    ...usual,
    refuses: (asked) =>
      reasoned(asked)
        ? error(400, "'messages.2' : property 'reasoning_content' is unsupported")
        : null,
    calls: (inputs) => [
      delta({ role: 'assistant', content: null, reasoning: 'I count.' }, null, {
        x_groq: { id: 'req_1' },
      }),
      ...inputs.map((input, index) =>
        delta({ tool_calls: [whole(input, `call_${index}`, { index })] }),
      ),
      delta({}, 'tool_calls', { x_groq: { id: 'req_1', usage: USAGE } }),
    ],
    says: (text) => [...words(text), delta({}, 'stop', { x_groq: { id: 'req_1', usage: USAGE } })],
    list: list(
      { id: 'm', context_window: 131_072 },
      { id: 'whisper-large-v3', context_window: 448 },
    ),
  },
  deepseek: {
    ...usual,
    comment: ': keep-alive',
    refuses: (asked) =>
      asked.messages
        .slice(asked.messages.findLastIndex(({ role }) => role === 'user'))
        .some((message) => message.tool_calls !== undefined && !('reasoning_content' in message))
        ? error(400, 'Missing `reasoning_content` field in the assistant message')
        : null,
    calls: (inputs) => [
      delta({ role: 'assistant', content: null, reasoning_content: 'I ' }),
      delta({ content: null, reasoning_content: 'count.' }),
      ...inputs.flatMap((input, at) => inPieces(input, at, `call_0${at}_x`)),
      delta({ content: '', reasoning_content: null }, 'tool_calls', {
        usage: { ...USAGE, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
      }),
    ],
    says: (text) => [
      delta({ role: 'assistant', content: null, reasoning_content: 'So.' }),
      ...words(text),
      delta({ content: '', reasoning_content: null }, 'stop', {
        usage: { ...USAGE, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
      }),
    ],
  },
  mistral: {
    ...usual,
    refuses(asked) {
      const known = [
        'model',
        'messages',
        'tools',
        'tool_choice',
        'stream',
        'max_tokens',
        'temperature',
        'top_p',
        'stop',
        'random_seed',
        'response_format',
        'presence_penalty',
        'frequency_penalty',
        'n',
        'parallel_tool_calls',
      ];
      const unknown = Object.keys(asked).find((name) => !known.includes(name));
      const ids = asked.messages.flatMap(({ tool_calls: calls = [], tool_call_id: id }) => [
        ...calls.map((call) => call.id),
        ...(id === undefined ? [] : [id]),
      ]);
      const bad = ids.find((id) => !/^[A-Za-z0-9]{9}$/.test(id));
      if (unknown !== undefined || reasoned(asked)) {
        const detail = [
          {
            type: 'extra_forbidden',
            loc: ['body', unknown ?? 'messages'],
            msg: 'Extra inputs are not permitted',
          },
        ];
        return { status: 422, body: { object: 'error', message: { detail } } };
      }
      if (bad === undefined) return null;
      const message = `Tool call id was ${bad} but must be a-z, A-Z, 0-9, with a length of 9.`;
      return { status: 400, body: { object: 'error', message, type: 'invalid_function_call' } };
    },
    calls: (inputs) => [
      delta({ role: 'assistant', content: '' }),
      delta(
        {
          content: '',
          tool_calls: inputs.map((input, index) => whole(input, `aB3dE6gH${index}`, { index })),
        },
        'tool_calls',
        { usage: USAGE },
      ),
    ],
    says: (text) => [
      delta({
        role: 'assistant',
        content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'So.' }] }],
      }),
      ...words(text),
      delta({ content: '' }, 'stop', { usage: USAGE }),
    ],
    list: list(
      { id: 'm', max_context_length: 40_960, capabilities: { completion_chat: true } },
      { id: 'other', capabilities: { completion_chat: false } },
    ),
  },
  together: {
    ...usual,
    says: (text) => [
      ...words(text),
      delta({ role: 'assistant', content: '' }, 'eos', { usage: USAGE }),
    ],
    list: [
      { id: 'm', type: 'chat', context_length: 32_768, pricing: { input: 0.88, output: 0.9 } },
      { id: 'black-forest/paint', type: 'image' },
    ],
  },
  xai: {
    ...usual,
    refuses: (asked) =>
      'stop' in asked ? error(400, 'Argument not supported on this model: stop') : null,
    calls: (inputs) => [
      delta({ role: 'assistant', reasoning_content: 'Hm.' }),
      delta(
        { tool_calls: inputs.map((input, index) => whole(input, `call_${index}`, { index })) },
        'tool_calls',
        {
          usage: {
            ...USAGE,
            total_tokens: 150,
            completion_tokens_details: { reasoning_tokens: 30 },
          },
        },
      ),
    ],
    says: (text) => [
      ...words(text),
      delta({}, 'stop', {
        usage: { ...USAGE, total_tokens: 150, completion_tokens_details: { reasoning_tokens: 30 } },
      }),
    ],
  },
  ollama: {
    ...usual,
    // All calls as the first, and the end of an answer as any other.
    calls: (inputs) => [
      ...inputs.map((input, at) =>
        delta({
          role: 'assistant',
          content: '',
          tool_calls: [whole(input, `call_ab${at}`, { index: 0 })],
        }),
      ),
      delta({ role: 'assistant', content: '' }, 'stop'),
      { ...FRAME, choices: [], usage: USAGE },
    ],
  },
  local: {
    ...usual,
    // llama.cpp and vLLM: no word of the role, empty pieces, and no counts unless asked.
    calls: (inputs) => [
      ...inputs.flatMap((input, at) => inPieces(input, at, `chatcmpl-tool-${at}`)),
      delta({ content: null }, 'tool_calls'),
    ],
    says: (text) => [...words(text), delta({}, 'stop')],
    list: list({ id: 'm', max_model_len: 16_384 }),
  },
};

/** Returns a provider's tongue. */
export function tongueOf(name: string): Tongue {
  const tongue = TONGUES[name];
  if (tongue === undefined) throw new Error(`${name} has no tongue`);
  return tongue;
}
