import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { type AnthropicReply, startAnthropicServer } from '../testing/model/anthropic.ts';
import { startOpenAiServer } from '../testing/model/openai.ts';
import { testModel } from '../testing/model/test-model.ts';
import { completeOnce, completeText, problemOfServer } from './completion.ts';
import { connectionFailure } from './failure.ts';

test('a model that answers is believed', async () => {
  await using server = await anthropic([{ type: 'text', text: 'ok' }]);
  expect(await completeOnce(model(server.url))).toEqual({ ok: true });
  expect(server.requests[0]?.headers['x-api-key']).toBe('sk-1');
});

test('an OpenAI-compatible model that answers is believed, with a key or without', async () => {
  const server = await startOpenAiServer(() => 'ok');
  const there = { provider: 'openai', baseUrl: `${server.url}/v1` } as const;
  expect(await completeOnce(testModel({ ...there, key: null }))).toEqual({ ok: true });
  expect(await completeOnce(testModel({ ...there, key: 'sk-2' }))).toEqual({ ok: true });
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    undefined,
    'Bearer sk-2',
  ]);
  await server.close();
});

test.each<[number, AnthropicReply, RegExp]>([
  [401, { kind: 'error', status: 401 }, /refused the API key \(401\)/],
  [429, { kind: 'error', status: 429 }, /rate limit/],
  [529, { kind: 'error', status: 529, message: 'Overloaded' }, /overloaded \(529\): Overloaded\./],
])('status %i is told in a sentence', async (_status, reply, expected) => {
  await using server = await anthropic(reply);
  const message = expect.stringMatching(expected);
  expect(await completeOnce(model(server.url))).toEqual({ ok: false, message });
});

test.each([
  ['sk-1\nX: 2', ''],
  ['sk-1\u2026', ''],
  ['sk-1\0', ''],
  ['sk-1', 'user:secret@'],
])(
  'a key or an address that cannot be sent is told of, and not shown: %j %s',
  async (key, login) => {
    const there = { provider: 'openai', baseUrl: `http://${login}127.0.0.1:9/v1`, key } as const;
    expect(await completeOnce(testModel(there))).toEqual({
      ok: false,
      message:
        '127.0.0.1:9 cannot be asked: the API key or a header holds a line break or a sign that cannot be sent, or the address has a password in it. Set it again with `npx claw setup`.',
    });
  },
);

test('silence is told after its time', async () => {
  await using server = await anthropic({ kind: 'stall' });
  expect(await completeOnce(model(server.url), 1_000)).toEqual({
    ok: false,
    message: expect.stringMatching(/^The model at 127\.0\.0\.1:\d+ said nothing for 1 s\.$/),
  });
});

test('an address where nothing listens is named', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  await new Promise((resolve) => server.close(resolve));
  expect(await completeOnce(model(`http://127.0.0.1:${port}`))).toEqual({
    ok: false,
    message: `The model at 127.0.0.1:${port} cannot be reached (ECONNREFUSED: nothing listens there; check the address, and whether the server runs).`,
  });
});

test('a page that is not found tells of the address, an unknown model of its name', async () => {
  const page = createServer((_request, response) => {
    response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not Found</h1>');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => page.once('listening', resolve));
  const address = page.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/api`;
  const settings = testModel({ provider: 'openai', baseUrl: url });
  expect(await completeOnce(settings)).toEqual({
    ok: false,
    message: `The server at ${url} answers, but no model does there (404). Check the address; it often ends in /v1.`,
  });
  await new Promise((resolve) => page.close(resolve));
  await using server = await anthropic({ kind: 'error', status: 404, message: 'model: x' });
  expect(await completeOnce(model(server.url))).toEqual({
    ok: false,
    message: expect.stringMatching(/does not know "claude-test" \(404\): model: x. Check the name/),
  });
});

test('a server is there when it answers anything; else it is said why not', async () => {
  await using server = await anthropic({ kind: 'error', status: 401 });
  expect(await problemOfServer(server.url)).toBeNull();
  expect(await problemOfServer('http://127.0.0.1:6000/v1')).toBe(
    'The model at 127.0.0.1:6000 cannot be reached (programs may not call port 6000, so let the server listen on another one).',
  );
});

test('a name that there is not is told as that', () => {
  const unknown = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
  expect(connectionFailure(model('https://api.nowhere.example/v1'), unknown).message).toBe(
    'The model at api.nowhere.example cannot be reached (ENOTFOUND: there is no server of that name; check how it is written, and whether this machine is online).',
  );
});

test('a friendly page is no model', async () => {
  await using server = await anthropic({ kind: 'garbage' });
  expect(await completeOnce(model(server.url))).toEqual({
    ok: false,
    message: expect.stringMatching(/is not a model's server/),
  });
});

test('without a key Anthropic is not even asked', async () => {
  await using server = await anthropic([{ type: 'text', text: 'ok' }]);
  const result = await completeOnce(testModel({ baseUrl: server.url, key: null }));
  expect(result).toEqual({ ok: false, message: expect.stringMatching(/`npx claw setup`/) });
  expect(server.requests).toEqual([]);
});

const PROMPT = { system: 'Be brief.', user: 'Which one?' };
const LIMITS = { timeoutMs: 60_000 };

test('a question is answered in words by either protocol', async () => {
  await using server = await anthropic([
    { type: 'text', text: 'this ' },
    { type: 'text', text: 'one' },
  ]);
  expect(await completeText(model(server.url), PROMPT, LIMITS)).toEqual({
    ok: true,
    text: 'this one',
  });
  expect(server.requests[0]?.body).toMatchObject({
    system: 'Be brief.',
    messages: [{ role: 'user', content: 'Which one?' }],
  });
  const other = await startOpenAiServer(() => 'that one');
  const settings = testModel({ provider: 'openai', baseUrl: `${other.url}/v1` });
  expect(await completeText(settings, PROMPT, LIMITS)).toEqual({ ok: true, text: 'that one' });
  await other.close();
});

test('a question that comes to nothing is a sentence: no model there, silence, a word to stop', async () => {
  await using page = await anthropic({ kind: 'garbage' });
  const notOne = await completeText(model(page.url), PROMPT, LIMITS);
  expect(notOne).toEqual({ ok: false, message: expect.stringMatching(/not a model's server/) });
  await using silent = await anthropic({ kind: 'stall' });
  const late = await completeText(model(silent.url), PROMPT, { timeoutMs: 1_000 });
  expect(late).toEqual({ ok: false, message: expect.stringMatching(/said nothing for 1 s/) });
  const stopped = { timeoutMs: 60_000, signal: AbortSignal.abort() };
  expect(await completeText(model(silent.url), PROMPT, stopped)).toMatchObject({ ok: false });
});

function model(baseUrl: string) {
  return testModel({ baseUrl });
}

async function anthropic(reply: AnthropicReply) {
  const server = await startAnthropicServer(() => reply);
  return { ...server, [Symbol.asyncDispose]: server.close };
}

test('a server that leads elsewhere has the key shown to no one, and one without end is given up', async () => {
  const shown: unknown[] = [];
  const elsewhere = createServer(({ headers }, response) => {
    shown.push(headers['x-api-key']);
    response.end('{}');
  });
  const leading = createServer((_request, response) => {
    response.writeHead(307, { location: `${urlOf(elsewhere)}/v1/messages` }).end();
  });
  const endless = createServer((_request, response) => {
    response.on('drain', goOn);
    function goOn(): void {
      while (!response.destroyed && response.write('x'.repeat(1_000_000)));
    }
    goOn();
  });
  const servers = [elsewhere, leading, endless];
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  expect(await completeOnce(model(urlOf(leading)))).toMatchObject({ ok: false });
  expect(shown).toEqual([]);
  expect(await completeOnce(model(urlOf(endless)))).toEqual({
    ok: false,
    message: expect.stringContaining("is not a model's server"),
  });
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
