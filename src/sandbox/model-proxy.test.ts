import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ModelSettings } from '../config.ts';
import { startAnthropicServer } from '../testing/anthropic.ts';
import { openGroupServer } from './group-server.ts';
import type { ModelFailure } from './model-failure.ts';
import { modelUrl } from './model-request.ts';
import type { Usage } from './sandbox.ts';
import { Silence } from './silence.ts';

const KEY = 'sk-real-key';
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
  expect(proxy.usage).toEqual([{ inputTokens: 100, outputTokens: 20 }]);
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
  const model = { provider, model: 'm', baseUrl, apiKey: null };
  expect(modelUrl(model, 'POST', path)?.href).toBe(expected);
});

async function startedServer() {
  const server = await startAnthropicServer(() => [{ type: 'text', text: 'hello' }]);
  return { ...server, [Symbol.asyncDispose]: server.close };
}

async function openProxy(baseUrl: string, { isIdle = false } = {}) {
  const socketDir = await mkdtemp(join(tmpdir(), 'claw-proxy-'));
  await chmod(socketDir, 0o700);
  const model: ModelSettings = {
    provider: 'anthropic',
    model: 'claude-test',
    baseUrl,
    apiKey: KEY,
  };
  const usage: Usage[] = [];
  const failures: (ModelFailure | null)[] = [];
  const turn = {
    signal: new AbortController().signal,
    silence: new Silence(),
    onUsage: (counts: Usage) => usage.push(counts),
    onModel: (failure: ModelFailure | null) => failures.push(failure),
  };
  const server = await openGroupServer({
    socketDir,
    user: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    proxy: { model, timeoutMs: 1_000 },
    currentTurn: () => (isIdle ? null : turn),
    onAgent: () => {},
  });
  const socketPath = join(socketDir, 'host.sock');
  return {
    usage,
    failures,
    post: (path: string, body: string, headers = {}, method = 'POST') =>
      post({ socketPath, path, method, headers }, body),
    upgrade: (protocol: string) => upgradeStatus(socketPath, protocol),
    async [Symbol.asyncDispose]() {
      await server.close();
      await rm(socketDir, { recursive: true, force: true });
    },
  };
}

function post(options: object, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(options, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk);
      resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

function upgradeStatus(socketPath: string, protocol: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { connection: 'Upgrade', upgrade: protocol };
    const asked = request({ socketPath, path: '/frames', headers });
    asked.on('upgrade', (answer) => resolve(answer.statusCode ?? 0));
    asked.on('response', (answer) => resolve(answer.statusCode ?? 0));
    asked.on('error', reject);
    asked.end();
  });
}
