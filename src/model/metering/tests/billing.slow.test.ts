import { expect, test, vi } from 'vitest';
import { type AnthropicScript, startAnthropicServer } from '../../../testing/model/anthropic.ts';
import { openProxy } from '../../../testing/model/model-proxy.ts';
import { startOpenAiServer } from '../../../testing/model/openai.ts';

const BODY = {
  model: 'claude-test',
  max_tokens: 500,
  messages: [{ role: 'user', content: 'x'.repeat(300) }],
};
const HELLO: AnthropicScript = () => [{ type: 'text', text: 'hello' }];

test('a refused call gets an error of the provider, and the server never sees it', async () => {
  await using far = await startedServer(HELLO);
  const message = 'The budget for today is used up.';
  await using proxy = await openProxy(far.url, {
    admit: async () => ({ kind: 'refused', message }),
  });
  const answer = await proxy.post('/v1/messages', JSON.stringify(BODY));
  expect(answer.status).toBe(402);
  expect(JSON.parse(answer.text)).toEqual({
    type: 'error',
    error: { type: 'billing_error', message },
  });
  expect(far.requests).toEqual([]);
  expect(proxy.failures).toEqual([{ code: 'BUDGET', message }]);
});

test('a call is announced with the most that it may take', async () => {
  await using far = await startedServer(HELLO);
  const announced: object[] = [];
  await using proxy = await openProxy(far.url, {
    async admit({ atMost }) {
      announced.push(atMost);
      return { kind: 'admitted', charge: () => {} };
    },
  });
  const picture = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(900_000) };
  await proxy.post('/v1/messages', JSON.stringify(BODY));
  const messages = [{ role: 'user', content: [{ type: 'image', source: picture }] }];
  await proxy.post('/v1/messages', JSON.stringify({ ...BODY, messages }));
  expect(announced).toEqual([
    { inputTokens: expect.any(Number), cacheWriteTokens: 0, cacheReadTokens: 0, outputTokens: 500 },
    expect.objectContaining({ outputTokens: 500 }),
  ]);
  const [text, image] = announced.map((each) => (each as { inputTokens: number }).inputTokens);
  expect(text).toBeGreaterThan(100);
  expect(text).toBeLessThan(150);
  // A picture is read in pixels: its file says little about its tokens.
  expect(image).toBeGreaterThan(1_600);
  expect(image).toBeLessThan(20_000);
});

test.each([
  ['another model', { ...BODY, model: 'claude-dearest' }],
  ['no model', { messages: [] }],
  ['no object', 'hello'],
])('a call of %s is refused: its price is not known', async (_name, body) => {
  await using far = await startedServer(HELLO);
  await using proxy = await openProxy(far.url);
  const answer = await proxy.post('/v1/messages', JSON.stringify(body));
  expect(answer.status).toBe(400);
  expect(far.requests).toEqual([]);
  expect(proxy.charges).toEqual([]);
});

test('a key that stands twice reaches the server once, as it was read here', async () => {
  await using far = await startedServer(HELLO);
  await using proxy = await openProxy(far.url);
  const twice = JSON.stringify(BODY).replace('{', '{"model":"claude-dearest",');
  await proxy.post('/v1/messages', twice, { 'anthropic-version': '2023-06-01' });
  expect(far.requests.map(({ body }) => body.model)).toEqual(['claude-test']);
});

test('a request that is nested without end is refused, and the next one is answered', async () => {
  await using far = await startedServer(HELLO);
  await using proxy = await openProxy(far.url);
  const nested = `{"model":"claude-test","messages":${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
  expect((await proxy.post('/v1/messages', nested)).status).toBe(400);
  expect(far.requests).toEqual([]);
  expect((await proxy.post('/v1/messages', JSON.stringify(BODY))).status).toBe(200);
});

test('counting tokens costs nothing and asks no budget', async () => {
  await using far = await startedServer(HELLO);
  await using proxy = await openProxy(far.url, {
    admit: () => Promise.reject(new Error('asked')),
  });
  // This server does not know the path, but it was asked.
  expect((await proxy.post('/v1/messages/count_tokens', JSON.stringify(BODY))).status).toBe(404);
  expect(proxy.charged).toEqual([]);
});

test('an error of the server ends without a charge', async () => {
  await using far = await startedServer(() => ({ kind: 'error', status: 529 }));
  await using proxy = await openProxy(far.url);
  await proxy.post('/v1/messages', JSON.stringify(BODY));
  expect(proxy.charges).toEqual([null]);
  expect(proxy.charged).toEqual([]);
});

test('a server that cannot be reached ends without a charge', async () => {
  const far = await startedServer(HELLO);
  await far.close();
  await using proxy = await openProxy(far.url);
  expect((await proxy.post('/v1/messages', JSON.stringify(BODY))).status).toBe(424);
  expect(proxy.charges).toEqual([null]);
});

test('an agent that disconnects in the middle of an answer pays for the part that was written', async () => {
  const text = 'word '.repeat(4_000);
  await using far = await startedServer(() => ({
    kind: 'slow',
    blocks: [{ type: 'text', text }],
    chunkBytes: 1_600,
    delayMs: 40,
  }));
  await using proxy = await openProxy(far.url);
  await proxy.abandon('/v1/messages', JSON.stringify({ ...BODY, stream: true }));
  await vi.waitFor(() => expect(proxy.charges).toHaveLength(1));
  const [counts] = proxy.charges;
  expect(counts?.inputTokens).toBe(100);
  // The server has said one token so far; the pieces of text that came had some hundred.
  expect(counts?.outputTokens).toBeGreaterThan(50);
  expect(proxy.failures).toEqual([null]);
});

test('an agent that disconnects before an answer pays for the question and the time', async () => {
  await using far = await startedServer(() => ({ kind: 'stall' }));
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  // The time is asked for when the request is sent, and when it is paid for.
  const times = [0];
  const now = () => {
    resolve();
    return times.pop() ?? 300;
  };
  await using proxy = await openProxy(far.url, { now });
  await proxy.abandon('/v1/messages', JSON.stringify(BODY), asked);
  await vi.waitFor(() => expect(proxy.charges).toHaveLength(1));
  const [counts] = proxy.charges;
  expect(counts?.inputTokens).toBeGreaterThan(100);
  // 100 for each second.
  expect(counts?.outputTokens).toBe(30);
});

test('a call under way is charged in the moment in which its turn ends', async () => {
  await using far = await startedServer(() => ({ kind: 'stall' }));
  await using proxy = await openProxy(far.url);
  const asked = proxy.post('/v1/messages', JSON.stringify(BODY)).catch(() => null);
  await vi.waitFor(() => expect(far.requests).toHaveLength(1));
  proxy.endTurn();
  expect(proxy.charges).toHaveLength(1);
  expect(proxy.charges[0]?.inputTokens).toBeGreaterThan(100);
  await asked;
  expect(proxy.charges).toHaveLength(1);
});

test('an OpenAI stream is made to report what it took', async () => {
  await using far = await startedOpenAi();
  await using proxy = await openProxy(far.url, { provider: 'openai' });
  const body = { model: 'claude-test', stream: true, messages: BODY.messages };
  await proxy.post('/v1/chat/completions', JSON.stringify(body));
  expect(proxy.charged).toEqual([
    { inputTokens: 30, cacheWriteTokens: 0, cacheReadTokens: 0, outputTokens: 5 },
  ]);
});

async function startedServer(script: AnthropicScript) {
  const server = await startAnthropicServer(script);
  return { ...server, [Symbol.asyncDispose]: server.close };
}

async function startedOpenAi() {
  const server = await startOpenAiServer(() => 'hello');
  return { ...server, url: `${server.url}/v1`, [Symbol.asyncDispose]: server.close };
}
