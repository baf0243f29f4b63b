import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRequest } from '../../testing/model/anthropic-request.ts';
import { brokenChatRule } from '../../testing/model/openai-rules.ts';
import { testModel } from '../../testing/model/test-model.ts';
import { requestFor } from '../request-check.ts';

/** Texts, ids and names as models and servers leave them in conversations. */
const text = fc.constantFrom('', ' \n', '\t', 'Hello!', '  indented', 'two\nlines', '{"a":1}');
const callId = fc.constantFrom(
  'functions.shell:0',
  'call_abc|fc_123',
  '',
  'toolu_01Zz',
  'chatcmpl-tool-9f',
  `call_${'x'.repeat(90)}`,
  'shell:0',
  'ä ö',
);
const toolName = fc.constantFrom('shell', 'functions.shell', '', 'a b', 'x'.repeat(200), 'näme');
const property = fc.constantFrom(
  'a',
  'filter[status]',
  'a b',
  '',
  '$ref',
  'x'.repeat(80),
  'é',
  'b',
);
const input = fc.constantFrom<unknown>({ a: 1 }, {}, 'text', null, [1], 3);
const inputText = fc.constantFrom('{"a":1}', '', '{broken', '[1]', 'null', '"x"');

const leaf = fc.constantFrom<unknown>(
  { type: 'string' },
  { type: 'array' },
  { type: 'array', items: [{ type: 'string' }, true] },
  { $ref: 'https://example.org/schema.json' },
  { $ref: '#/$defs/none' },
  { type: 'any' },
  { enum: [] },
  { pattern: '(' },
  true,
  false,
);
const schema = fc.letrec<{ object: unknown; part: unknown }>((tie) => ({
  part: fc.oneof({ depthSize: 'small' }, leaf, tie('object')),
  object: fc.record(
    {
      type: fc.constantFrom('object', undefined, 'any'),
      properties: fc.dictionary(property, tie('part'), { maxKeys: 3 }),
      required: fc.array(property, { maxLength: 3 }),
      anyOf: fc.array(tie('part'), { maxLength: 2 }),
      oneOf: fc.array(tie('part'), { maxLength: 2 }),
      allOf: fc.array(tie('part'), { maxLength: 2 }),
      not: tie('part'),
      enum: fc.constant([{}]),
      $ref: fc.constantFrom('#/$defs/none', '#'),
    },
    { requiredKeys: [] },
  ),
})).object;
const tools = fc.array(fc.tuple(toolName, schema), { maxLength: 4 });

const block = fc.oneof(
  text.map((said) => ({ type: 'text', text: said })),
  fc.record({ type: fc.constant('tool_use'), id: callId, name: toolName, input }),
  fc.record({ type: fc.constant('tool_result'), tool_use_id: callId, content: text }),
  fc.record({ type: fc.constant('thinking'), thinking: text, signature: fc.constantFrom('', 's') }),
);
const message = fc.record({
  role: fc.constantFrom('user', 'assistant'),
  content: fc.oneof(text, fc.array(block, { maxLength: 4 })),
});

const HEADERS = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' };

describe('whatever another model left in a conversation, the next model takes it', () => {
  it('by the Messages API', () => {
    const model = testModel();
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 8 }), tools, (said, declared) => {
        const given = {
          model: 'x',
          max_tokens: 100,
          messages: [...said, { role: 'user', content: 'And now?' }],
          tools: declared.map(([name, input_schema]) => ({ name, input_schema })),
        };
        const asked = requestFor(model, given, model.protocol.withCache);
        const read = readRequest('/v1/messages', HEADERS, JSON.stringify(asked));
        expect(read).not.toHaveProperty('message');
        // What is sent once is sent the same way again: the server's cache depends on it.
        expect(requestFor(model, given, model.protocol.withCache)).toEqual(asked);
      }),
      { numRuns: 500 },
    );
  });

  it('by chat completions', () => {
    const model = testModel({ provider: 'openai', baseUrl: 'http://127.0.0.1:1/v1' });
    const call = fc.record({
      id: callId,
      type: fc.constant('function'),
      function: fc.record({ name: toolName, arguments: fc.oneof(inputText, input) }),
    });
    const line = fc.oneof(
      fc.record({ role: fc.constantFrom('user', 'system'), content: text }),
      fc.record({
        role: fc.constant('user'),
        content: fc.array(
          text.map((said) => ({ type: 'text', text: said })),
          { maxLength: 3 },
        ),
      }),
      fc.record({
        role: fc.constant('assistant'),
        content: fc.oneof(text, fc.constant(null)),
        tool_calls: fc.array(call, { maxLength: 3 }),
      }),
      fc.record({ role: fc.constant('tool'), tool_call_id: callId, content: text }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 10 }), tools, (said, declared) => {
        const asked = requestFor(model, {
          model: 'x',
          messages: [...said, { role: 'user', content: 'And now?' }],
          tools: declared.map(([name, parameters]) => ({
            type: 'function',
            function: { name, parameters },
          })),
        });
        expect(brokenChatRule(asked)).toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  it('and a result stays with its call, also where ids repeat', () => {
    const model = testModel();
    const call = { type: 'tool_use', id: 'functions.shell:0', name: 'shell', input: {} };
    const result = (content: string) => ({ type: 'tool_result', tool_use_id: call.id, content });
    const { messages } = requestFor(model, {
      tools: [{ name: 'shell', input_schema: {} }],
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [result('first')] },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [result('second')] },
      ],
    });
    expect(messages).toMatchObject([
      {},
      { content: [{ id: 'call_functions_shell_0' }] },
      { content: [{ tool_use_id: 'call_functions_shell_0', content: 'first' }] },
      { content: [{ id: 'call_functions_shell_0_2' }] },
      { content: [{ tool_use_id: 'call_functions_shell_0_2', content: 'second' }] },
    ]);
  });
});

describe('what a server refuses is learnt once', () => {
  const tools = [
    { name: 'shell', input_schema: { type: 'object' } },
    { name: 'notion__create', input_schema: { type: 'object' } },
  ];
  it.each([
    ['tools.1.custom.input_schema: is not valid', { tools }, { tools: [tools[0]] }],
    ["Invalid schema for function 'notion__create': bad", { tools }, { tools: [tools[0]] }],
    [
      'max_tokens: 64000 > 8192, which is the maximum',
      { max_tokens: 64_000 },
      { max_tokens: 8_192 },
    ],
    ['the valid range of max_tokens is [1, 8192]', { max_tokens: 32_000 }, { max_tokens: 8_192 }],
    [
      "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      { max_tokens: 4_000 },
      { max_completion_tokens: 4_000 },
    ],
    ['`temperature` is deprecated for this model.', { temperature: 1, model: 'm' }, { model: 'm' }],
    [
      'Invalid `signature` in `thinking` block',
      {
        messages: [
          { role: 'assistant', content: [{ type: 'thinking' }, { type: 'text', text: 'a' }] },
        ],
      },
      { messages: [{ role: 'assistant', content: [{ type: 'text', text: 'a' }] }] },
    ],
  ])('%s', (said, request, mended) => {
    const { quirks } = testModel();
    const body = JSON.stringify({ error: { message: said } });
    expect(quirks.learn({ status: 400, body }, request)).toBe(true);
    expect(quirks.applyTo({ ...request })).toMatchObject(mended);
    expect(Object.keys(quirks.applyTo(request))).toEqual(Object.keys(mended));
    expect(quirks.learn({ status: 400, body }, quirks.applyTo(request))).toBe(false);
  });

  it.each(['prompt is too long: 210000 tokens > 200000 maximum', 'Your credit is too low'])(
    'nothing is learnt from "%s"',
    (said) => {
      const { quirks } = testModel();
      const request = { max_tokens: 8_000, tools, messages: [] };
      expect(quirks.learn({ status: 400, body: said }, request)).toBe(false);
      expect(quirks.applyTo(request)).toEqual(request);
    },
  );
});
