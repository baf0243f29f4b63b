import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import {
  type AnthropicReply,
  type AnthropicScript,
  startAnthropicServer,
} from '../../testing/model/anthropic.ts';
import { openProxy } from '../../testing/model/model-proxy.ts';
import { testModel } from '../../testing/model/test-model.ts';

const BODY = JSON.stringify({
  model: 'claude-test',
  max_tokens: 500,
  stream: true,
  messages: [{ role: 'user', content: 'hi' }],
});
const HELLO: AnthropicScript = () => [{ type: 'text', text: 'hello from the second' }];

test.each<[string, AnthropicReply, RegExp]>([
  ['is overloaded', { kind: 'error', status: 529 }, /overloaded \(529\)/],
  ['refuses the key', { kind: 'error', status: 401 }, /refused the API key/],
  ['does not know the model', { kind: 'error', status: 404 }, /does not know "claude-test"/],
  ['says nothing', { kind: 'stall' }, /said nothing/],
])('where a server %s, the next model is asked, and answers', async (_name, reply, why) => {
  await using first = await started(() => reply);
  await using second = await started(HELLO);
  const next = [testModel({ name: 'second', baseUrl: second.url, key: 'sk-2' })];
  await using proxy = await openProxy(first.url, { next, timeoutMs: 5_000 });
  const answer = await proxy.post('/v1/messages', BODY);
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('second');
  expect(second.requests).toHaveLength(1);
  expect(second.requests[0]?.headers['x-api-key']).toBe('sk-2');
  expect(second.requests[0]?.body.model).toBe('second');
  expect(proxy.passedOver).toEqual([expect.stringMatching(why)]);
  // The turn has not failed: nobody is told of the first.
  expect(proxy.failures).toEqual([null]);
});

test.each<[string, number]>([
  ['flows', 0],
  ['drips', 20],
])('where the body of an error %s without end, the next model is asked', async (_name, everyMs) => {
  const endless = createServer((_request, response) => {
    response.writeHead(500, { 'content-type': 'application/json' });
    const goOn = () => {
      if (response.destroyed) return;
      const hasRoom = response.write(everyMs === 0 ? 'x'.repeat(100_000) : 'x');
      if (!hasRoom) response.once('drain', goOn);
      else if (everyMs === 0) setImmediate(goOn);
      else setTimeout(goOn, everyMs);
    };
    goOn();
  }).listen(0, '127.0.0.1');
  await once(endless, 'listening');
  const { port } = endless.address() as AddressInfo;
  await using second = await started(HELLO);
  const next = [testModel({ baseUrl: second.url })];
  await using proxy = await openProxy(`http://127.0.0.1:${port}`, { next, timeoutMs: 5_000 });
  expect((await proxy.post('/v1/messages', BODY)).status).toBe(200);
  endless.closeAllConnections();
  endless.close();
});

test.each<[string, string, string, RegExp]>([
  ['a page', 'text/html; charset=utf-8', '<p>Welcome!</p>', /is not a model's server. Check the/],
  ['JSON', 'application/json', '{"ok":true}', /is not a model's server. Check the address/],
  ['an error in JSON', 'application/json', '{"error":"no credit"}', /request \(200\): no credit/],
])(
  'where a server answers a call for a stream with %s, the next model is asked',
  async (_name, type, body, why) => {
    const other = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': type });
      response.end(body);
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await using second = await started(HELLO);
    const next = [testModel({ baseUrl: second.url })];
    await using proxy = await openProxy(`http://127.0.0.1:${port}`, { next });
    expect((await proxy.post('/v1/messages', BODY)).status).toBe(200);
    expect(proxy.passedOver).toEqual([expect.stringMatching(why)]);
    other.closeAllConnections();
    other.close();
  },
);

test('if no server listens, the next model is asked', async () => {
  const gone = await started(HELLO);
  await gone.close();
  await using second = await started(HELLO);
  const next = [testModel({ baseUrl: second.url })];
  await using proxy = await openProxy(gone.url, { next });
  expect((await proxy.post('/v1/messages', BODY)).status).toBe(200);
  expect(proxy.passedOver).toEqual([expect.stringMatching(/nothing listens there/)]);
});

test('after the first byte no other model is asked: its answer would begin again', async () => {
  await using first = await started(() => ({
    kind: 'drop',
    blocks: [{ type: 'text', text: 'half of it, and then nothing more' }],
  }));
  await using second = await started(HELLO);
  await using proxy = await openProxy(first.url, { next: [testModel({ baseUrl: second.url })] });
  await expect(proxy.post('/v1/messages', BODY)).rejects.toThrow('aborted');
  expect(second.requests).toEqual([]);
  expect(proxy.passedOver).toEqual([]);
  expect(proxy.failures).toEqual([
    null,
    expect.objectContaining({ message: expect.stringMatching(/broke off/) }),
  ]);
});

test.each<[string, string, number, RegExp]>([
  ['drips a line that never ends', 'x', 1, /began a line and did not end it within 60 s, and was/],
  ['sends lines without end', 'x\n'.repeat(32_768), 0, /sent more than 64 MB, and was cut off/],
  ['sends a line without end', 'x'.repeat(65_536), 0, /sent a line of more than 8 MB, and was cut/],
  ['only says that it works', ':\n', 1, /answered for more than an hour, and was cut off/],
])('an answer is cut off whose server %s', async (_name, piece, stepMs, why) => {
  let sentBytes = 0;
  const endless = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"type":"content_block_delta"}\n\ndata: ');
    const goOn = () => {
      if (response.destroyed) return;
      sentBytes += piece.length;
      if (response.write(piece)) setTimeout(goOn, stepMs);
      else response.once('drain', goOn);
    };
    goOn();
  }).listen(0, '127.0.0.1');
  await once(endless, 'listening');
  const { port } = endless.address() as AddressInfo;
  let at = 0;
  // A server that waits between its pieces takes a second for each of them, or a minute for one that is a whole line.
  const now = () => (at += stepMs * (piece.length === 1 ? 1_000 : 60_000));
  await using proxy = await openProxy(`http://127.0.0.1:${port}`, { now });
  await expect(proxy.post('/v1/messages', BODY)).rejects.toThrow('aborted');
  endless.closeAllConnections();
  endless.close();
  expect(proxy.failures.at(-1)?.message).toMatch(why);
  expect(proxy.failures.at(-1)?.message).toMatch(
    /Try again, or choose another model with `\/model`/,
  );
  expect(sentBytes).toBeLessThan(100_000_000);
});

test('if no model answers, the agent gets the last one’s error', async () => {
  await using first = await started(() => ({ kind: 'error', status: 529 }));
  await using second = await started(() => ({ kind: 'error', status: 429 }));
  await using proxy = await openProxy(first.url, { next: [testModel({ baseUrl: second.url })] });
  const answer = await proxy.post('/v1/messages', BODY);
  expect(answer.status).toBe(429);
  expect(proxy.failures).toEqual([
    expect.objectContaining({ message: expect.stringMatching(/429, rate limit/) }),
  ]);
  expect(proxy.charged).toEqual([]);
});

test('each model is admitted by itself, and only the one that answers is paid', async () => {
  await using first = await started(() => ({ kind: 'error', status: 500 }));
  await using second = await started(HELLO);
  const calls: [string, boolean][] = [];
  await using proxy = await openProxy(first.url, {
    next: [testModel({ name: 'second', baseUrl: second.url })],
    admit: async ({ model }) => ({
      kind: 'admitted',
      charge: (counts) => void calls.push([model.id, counts !== null]),
    }),
  });
  await proxy.post('/v1/messages', BODY);
  expect(calls).toEqual([
    ['anthropic/claude-test', false],
    ['anthropic/second', true],
  ]);
});

test('a call that nobody waits for is not passed on', async () => {
  const asked = Promise.withResolvers<void>();
  await using first = await started(() => {
    asked.resolve();
    return { kind: 'stall' };
  });
  await using second = await started(HELLO);
  await using proxy = await openProxy(first.url, { next: [testModel({ baseUrl: second.url })] });
  await proxy.abandon('/v1/messages', BODY, asked.promise);
  proxy.endTurn();
  await expect.poll(() => proxy.charges).toHaveLength(1);
  expect(second.requests).toEqual([]);
  expect(proxy.passedOver).toEqual([]);
});

async function started(script: AnthropicScript) {
  const server = await startAnthropicServer(script);
  return { ...server, [Symbol.asyncDispose]: server.close };
}

test('a refusal that leaves out one tool after the other ends, and names the tool that it is about', async () => {
  await using server = await started(({ sent }) => ({
    kind: 'error',
    status: 400,
    message: `tools.${(sent.tools?.length ?? 1) - 1}.custom.input_schema: not for us`,
  }));
  await using proxy = await openProxy(server.url);
  const tools = Array.from({ length: 20 }, (_, at) => ({
    name: `notion__tool-${at}`,
    input_schema: { type: 'object' },
  }));
  const answer = await proxy.post('/v1/messages', JSON.stringify({ ...JSON.parse(BODY), tools }));
  expect(answer.status).toBe(400);
  expect(server.requests).toHaveLength(9);
  expect(proxy.failures.at(-1)?.message).toMatch(
    /refused the request \(400\).* It is about the tool `notion__tool-11`: `\/tools off notion__tool-11` leaves it out here\.$/,
  );
});
