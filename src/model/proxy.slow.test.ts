import { createServer } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startAnthropicServer } from '../testing/model/anthropic.ts';
import { KEY, openProxy } from '../testing/model/model-proxy.ts';
import { testModel } from '../testing/model/test-model.ts';
import { callPath, modelUrl } from './upstream-request.ts';

const BODY = {
  model: 'claude-test',
  max_tokens: 10,
  messages: [{ role: 'user', content: 'hi' }],
};

test('a call gets the key, loses every other header of the agent, and is counted', async () => {
  await using far = await startedServer();
  await using proxy = await openProxy(far.url);
  const answer = await proxy.post('/v1/messages', JSON.stringify(BODY), {
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
    'x-api-key': 'mine',
    authorization: 'Bearer mine',
    cookie: 'a=b',
  });
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text)).toMatchObject({ content: [{ type: 'text', text: 'hello' }] });
  const { headers } = far.requests[0] ?? {};
  expect(headers).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01' });
  expect(headers).not.toHaveProperty('authorization');
  expect(headers).not.toHaveProperty('cookie');
  expect(proxy.charged).toMatchObject([{ inputTokens: 100, outputTokens: 20 }]);
});

test.each([
  ['GET', '/v1/messages'],
  ['POST', '/v1/models'],
  ['POST', '/v1/files'],
  ['POST', '/v1/messages/batches'],
  ['POST', '/v1/messages?beta=true'],
  ['POST', '/v1/../v1/messages'],
  ['POST', 'http://169.254.169.254/v1/messages'],
  ['POST', '/v1/chat/completions'],
  ['CONNECT', 'example.org:443'],
])('%s %s is not passed on', async (method, path) => {
  await using far = await startedServer();
  await using proxy = await openProxy(far.url);
  const answer = await proxy.post(path, JSON.stringify(BODY), {}, method).catch(() => null);
  expect(answer?.status ?? 403).toBe(403);
  expect(far.requests).toEqual([]);
});

test('without a turn nobody pays, so nothing is passed on', async () => {
  await using far = await startedServer();
  await using proxy = await openProxy(far.url, { isIdle: true });
  const answer = await proxy.post('/v1/messages', JSON.stringify(BODY));
  expect(answer.status).toBe(409);
  expect(far.requests).toEqual([]);
});

test('a request of over 20 MB is refused', async () => {
  await using far = await startedServer();
  await using proxy = await openProxy(far.url);
  const answer = await proxy.post('/v1/messages', 'x'.repeat(21 * 1_048_576));
  expect(answer.status).toBe(413);
  expect(far.requests).toEqual([]);
});

test('an answer goes on without the key that it repeats, also where the network cuts that', async () => {
  const chunks = (key: string) => [
    'data: ',
    `{"error":"${key} and ${key.slice(0, 5)}`,
    key.slice(5),
    ' sk-real or sk-"}\n\n',
    'sk-re',
  ];
  const server = createServer(async (incoming, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of chunks(String(incoming.headers['x-api-key']))) {
      response.write(chunk);
      await setImmediate();
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  await using proxy = await openProxy(`http://127.0.0.1:${port}`);
  const answer = await proxy.post('/v1/messages', JSON.stringify({ ...BODY, stream: true }));
  server.close();
  expect(answer.text).toBe('data: {"error":"[key] and [key] sk-real or sk-"}\n\nsk-re');
});

test("an error of the model's server comes back without the key that it repeats", async () => {
  const server = createServer((incoming, response) => {
    response.writeHead(400, { 'content-type': 'application/json', 'set-cookie': 'a=b' });
    const message = `bad key ${incoming.headers['x-api-key']}`;
    response.end(JSON.stringify({ error: { message } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  await using proxy = await openProxy(`http://127.0.0.1:${port}`);
  const answer = await proxy.post('/v1/messages', JSON.stringify(BODY));
  server.close();
  expect(answer).toEqual({ status: 400, text: '{"error":{"message":"bad key [key]"}}' });
  expect(proxy.failures.at(-1)?.message).toBe(
    "The model's server refused the request (400): bad key [key].",
  );
});

test('a second agent on one socket is refused', async () => {
  await using far = await startedServer();
  await using proxy = await openProxy(far.url);
  expect(await proxy.upgrade('claw-frames')).toBe(101);
  expect(await proxy.upgrade('claw-frames')).toBe(409);
});

test('an upgrade to anything but frames is refused', async () => {
  await using far = await startedServer();
  await using proxy = await openProxy(far.url);
  expect(await proxy.upgrade('websocket')).toBe(409);
});

test.each([
  ['anthropic', 'https://api.anthropic.com', 'https://api.anthropic.com/v1/messages'],
  ['anthropic', 'https://proxy.example/a/v1/', 'https://proxy.example/a/v1/messages'],
  ['openai', 'https://api.openai.com/v1', 'https://api.openai.com/v1/chat/completions'],
  ['openai', 'http://localhost:11434/v1/', 'http://localhost:11434/v1/chat/completions'],
] as const)('the model of %s at %s is called at %s', (provider, baseUrl, expected) => {
  const path = provider === 'anthropic' ? '/v1/messages' : '/v1/chat/completions';
  const model = testModel({ provider, baseUrl });
  expect(callPath(model, 'POST', path)).toBe(path);
  expect(modelUrl(model, path).href).toBe(expected);
});

async function startedServer() {
  const server = await startAnthropicServer(() => [{ type: 'text', text: 'hello' }]);
  return { ...server, [Symbol.asyncDispose]: server.close };
}
