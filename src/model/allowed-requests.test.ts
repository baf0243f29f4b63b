import { expect, test } from 'vitest';
import { startAnthropicServer } from '../testing/model/anthropic.ts';
import { openProxy } from '../testing/model/model-proxy.ts';
import { startOpenAiServer } from '../testing/model/openai.ts';

const ELSEWHERE = 'https://attacker.example/?stolen=diary';
const MESSAGES = [{ role: 'user', content: 'hi' }];
const ANTHROPIC = { model: 'claude-test', max_tokens: 10, messages: MESSAGES };
const OPENAI = { model: 'claude-test', messages: MESSAGES };

const says = (...content: readonly object[]) => ({ messages: [{ role: 'user', content }] });
const url = { type: 'url', url: ELSEWHERE };

test.each([
  ['a search of the web', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
  ['a fetch from the web', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }],
  ['a computer of its server', { tools: [{ type: 'code_execution_20250825', name: 'x' }] }],
  ['tools of another server', { mcp_servers: [{ type: 'url', name: 'x', url: ELSEWHERE }] }],
  ['a dearer model in case of need', { fallbacks: [{ model: 'claude-dearest' }] }],
  ['more speed for more money', { speed: 'fast' }],
  ['a dearer tier', { service_tier: 'priority' }],
  ['what an earlier call left there', { thread: { type: 'continue', previous_message_id: 'm' } }],
  ['a picture from an address', says({ type: 'image', source: url })],
  ['a document from an address', says({ type: 'document', source: url })],
  ['a file of the account', says({ type: 'document', source: { type: 'file', file_id: 'f' } })],
  [
    'an address in the result of a tool',
    says({ type: 'tool_result', tool_use_id: '1', content: [{ type: 'image', source: url }] }),
  ],
  [
    'an address in a document of several parts',
    says({
      type: 'document',
      source: { type: 'content', content: [{ type: 'image', source: url }] },
    }),
  ],
  [
    'a cache that costs more',
    says({ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } }),
  ],
  ['a block that nobody here knows', says({ type: 'container_upload', file_id: 'f' })],
])('Anthropic is not asked for %s', async (_name, more) => {
  await using far = await anthropic();
  await using proxy = await openProxy(far.url);
  const body = JSON.stringify({ ...ANTHROPIC, ...more });
  for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
    const answer = await proxy.post(path, body, { 'anthropic-version': '2023-06-01' });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('cannot be asked for');
  }
  expect(far.requests).toEqual([]);
  expect(proxy.charges).toEqual([]);
});

test.each([
  ['a search of the web', { web_search_options: {} }],
  ['a tool of its server', { tools: [{ type: 'web_search' }] }],
  ['a dearer tier', { service_tier: 'priority' }],
  ['keeping what was said', { store: true }],
  ['a picture from an address', says({ type: 'image_url', image_url: { url: ELSEWHERE } })],
  ['a file of the account', says({ type: 'file', file: { file_id: 'file-1' } })],
])('OpenAI is not asked for %s', async (_name, more) => {
  await using far = await openAi();
  await using proxy = await openProxy(`${far.url}/v1`, { provider: 'openai' });
  const answer = await proxy.post('/v1/chat/completions', JSON.stringify({ ...OPENAI, ...more }));
  expect(answer.status).toBe(400);
  expect(far.requests).toEqual([]);
});

const PICTURE = 'iVBORw0KGgo=';

test('all parts of a conversation pass unchanged', async () => {
  await using far = await anthropic();
  await using proxy = await openProxy(far.url);
  const source = { type: 'base64', media_type: 'image/png', data: PICTURE };
  const body = {
    ...ANTHROPIC,
    system: [{ type: 'text', text: 'be short', cache_control: { type: 'ephemeral' } }],
    tools: [{ name: 'shell', description: 'runs', input_schema: { type: 'object' } }],
    tool_choice: { type: 'auto' },
    thinking: { type: 'enabled', budget_tokens: 1_024 },
    messages: [
      { role: 'user', content: [{ type: 'image', source }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'tool_use', id: '1', name: 'shell', input: { type: 'url', url: ELSEWHERE } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: '1', content: [{ type: 'text', text: 'done' }] },
        ],
      },
    ],
  };
  const answer = await proxy.post('/v1/messages', JSON.stringify(body), {
    'anthropic-version': '2023-06-01',
  });
  expect(answer.status).toBe(200);
  expect(far.requests[0]?.sent).toMatchObject(body);
});

test('half a character, which a server would refuse with all of the call, goes on as a sign for one', async () => {
  await using far = await anthropic();
  await using proxy = await openProxy(far.url);
  const content = `${String.raw`a cut \ud83d \\ud83d`}\ud83d 🐢 \udca2"\\\udca2`;
  const body = JSON.stringify({ ...ANTHROPIC, messages: [{ role: 'user', content }] });
  await proxy.post('/v1/messages', body, { 'anthropic-version': '2023-06-01' });
  const messages = [{ role: 'user', content: content.toWellFormed() }];
  expect(far.requests[0]?.body).toMatchObject({ messages });
});

test('all parts of a conversation with another model pass unchanged', async () => {
  await using far = await openAi();
  await using proxy = await openProxy(`${far.url}/v1`, { provider: 'openai' });
  const call = { id: '1', type: 'function', function: { name: 'shell', arguments: '{}' } };
  const body = {
    ...OPENAI,
    tools: [{ type: 'function', function: { name: 'shell', parameters: { type: 'object' } } }],
    reasoning_effort: 'low',
    messages: [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } }],
      },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: '1', content: 'done' },
    ],
  };
  expect((await proxy.post('/v1/chat/completions', JSON.stringify(body))).status).toBe(200);
  expect(far.requests[0]?.body).toMatchObject(body);
});

test('of beta features, only those without an extra price are requested', async () => {
  await using far = await anthropic();
  await using proxy = await openProxy(far.url);
  await proxy.post('/v1/messages', JSON.stringify(ANTHROPIC), {
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'context-1m-2025-08-07, interleaved-thinking-2025-05-14,fast-mode-2026-02-01',
  });
  await proxy.post('/v1/messages', JSON.stringify(ANTHROPIC), {
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'context-1m-2025-08-07',
  });
  expect(far.requests.map(({ headers }) => headers['anthropic-beta'])).toEqual([
    'interleaved-thinking-2025-05-14',
    undefined,
  ]);
});

async function anthropic() {
  const server = await startAnthropicServer(() => [{ type: 'text', text: 'hello' }]);
  return { ...server, [Symbol.asyncDispose]: server.close };
}

async function openAi() {
  const server = await startOpenAiServer(() => 'hello');
  return { ...server, [Symbol.asyncDispose]: server.close };
}
