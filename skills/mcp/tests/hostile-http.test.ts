import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { fetchFor } from '../../../src/services/mcp/limited-fetch.ts';
import type { Network } from '../../../src/services/mcp/server-network.ts';
import { openServers, Timers } from './fixtures.ts';

/** The internet, of which this machine is all there is. */
const INTERNET: Network = { lookup: async () => ['127.0.0.1'], isInner: () => false };
const EVENTS = { 'content-type': 'text/event-stream' };

type Asked = { readonly id: number; readonly method: string };
/** Answers one request; those that it leaves alone are answered as a good server does. */
type Answer = (method: string, response: ServerResponse, asked: Asked) => boolean;

/** Serves MCP over HTTP, with one tool, and badly where the test says so. */
async function serve(answer: Answer) {
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const asked = JSON.parse(Buffer.concat(chunks).toString() || '{}');
    const method = asked.method ?? request.method;
    const result = (value: object) =>
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: value }));
    if (answer(method, response, asked)) return;
    if (method === 'initialize') {
      const { protocolVersion } = asked.params;
      const serverInfo = { name: 'hostile', version: '1' };
      result({ protocolVersion, serverInfo, capabilities: { tools: {} } });
    } else if (method === 'tools/list') {
      result({ tools: [{ name: 'say', inputSchema: { type: 'object' } }] });
    } else response.writeHead(request.method === 'POST' ? 202 : 405).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}/mcp`,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const connect = (url: string, now = Date.now) =>
  openServers({ far: { url } }, { network: INTERNET, now });

/** Writes until the other side is gone. */
function flood(response: ServerResponse, part: string): void {
  const write = (): void => {
    while (!response.destroyed && response.write(part)) {}
  };
  response.on('drain', write);
  write();
}

test.each([
  ['in one body', 'application/json', '{"jsonrpc":"2.0","result":"'],
  ['in a stream', 'text/event-stream', 'data: '],
])('a message without end %s is cut off at 16 MB, with that reason', async (_how, type, begin) => {
  using server = await serve((method, response) => {
    if (method !== 'tools/call') return false;
    response.writeHead(200, { 'content-type': type }).write(begin);
    flood(response, 'x'.repeat(65_536));
    return true;
  });
  let at = 0;
  // A second passes with each part, so that none waits for its turn.
  await using opened = await connect(server.url, () => {
    at += 1_000;
    return at;
  });
  await vi.waitFor(() => expect(opened.servers.states()).toMatchObject([{ state: 'connected' }]));
  await expect(opened.call('far__say')).rejects.toThrow(
    'it sent a message longer than 16 MB, and was stopped',
  );
  expect(opened.servers.states()).toMatchObject([
    { detail: 'sent a message longer than 16 MB, and was stopped; tried again in 1 s' },
  ]);
});

test.each([
  ['in one body', 'application/json', ''],
  ['in a stream', 'text/event-stream', 'data: '],
])(
  'an answer of two million wrong parts %s ends the connection, before each of them is looked at',
  async (_how, type, begin) => {
    using server = await serve((method, response, { id }) => {
      if (method !== 'tools/call') return false;
      const parts = '1,'.repeat(2_000_000);
      response
        .writeHead(200, { 'content-type': type })
        .end(`${begin}{"jsonrpc":"2.0","id":${id},"result":{"content":[${parts}1]}}\n\n`);
      return true;
    });
    await using opened = await connect(server.url);
    await vi.waitFor(() => expect(opened.servers.states()).toMatchObject([{ state: 'connected' }]));
    await expect(opened.call('far__say')).rejects.toThrow(
      'it sent a message of more than 50,000 values, and was stopped',
    );
  },
);

test('a stream that talks without end is heard ten thousand lines a second, however many there are', async () => {
  using server = await serve((_method, response) => {
    response.writeHead(200, EVENTS);
    flood(response, ': hello\n\n'.repeat(1_000));
    return true;
  });
  const timers = new Timers();
  const clock = { now: () => 0, setTimer: timers.set };
  const ask = fetchFor(new URL(server.url), INTERNET, clock);
  const leave = new AbortController();
  let lines = 0;
  const hear = async () => {
    const { body } = await ask(server.url, { signal: leave.signal });
    for await (const chunk of body ?? [])
      lines += Buffer.from(chunk).filter((one) => one === 10).length;
  };
  const heard = Promise.allSettled([hear(), hear()]);
  await vi.waitFor(() => expect(timers.waiting.size).toBe(2));
  const before = lines;
  // What has come at once is whole parts of 64 KB.
  expect(before).toBeLessThan(50_000);
  expect(Math.max(...timers.pass())).toBeGreaterThan(500);
  await vi.waitFor(() => expect(lines).toBeGreaterThan(before));
  leave.abort();
  await vi.waitFor(() => {
    timers.pass();
    expect(timers.waiting.size).toBe(0);
  });
  await heard;
});

test('a stream that ends at once, and shall be opened again without a pause, is opened five times a second', async () => {
  let opened = 0;
  using server = await serve((method, response) => {
    if (method !== 'GET') return false;
    opened += 1;
    const event = '{"jsonrpc":"2.0","method":"notifications/nothing"}';
    response.writeHead(200, EVENTS).end(`retry: 0\nid: ${opened}\ndata: ${event}\n\n`);
    return true;
  });
  let at = 0;
  await using servers = await connect(server.url, () => at);
  await vi.waitFor(() => expect(servers.timers.waiting.size).toBe(1));
  const before = opened;
  expect(before).toBeLessThanOrEqual(5);
  at += 200;
  servers.timers.pass();
  await vi.waitFor(() => expect(opened).toBeGreaterThan(before));
});

test('a list of tools that never ends is read in part, and the owner is told', async () => {
  let at = 0;
  let pages = 0;
  using server = await serve((method, response, { id }) => {
    if (method !== 'tools/list') return false;
    pages += 1;
    at += 25_000;
    const tools = [{ name: `tool-${pages}`, inputSchema: { type: 'object' } }];
    const result = { tools, nextCursor: String(pages) };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    return true;
  });
  await using opened = await connect(server.url, () => at);
  await vi.waitFor(() => expect(opened.servers.states()).toMatchObject([{ state: 'connected' }]));
  expect(pages).toBe(3);
  expect(opened.servers.tools.map(({ name }) => name)).toEqual([
    'far__tool-1',
    'far__tool-2',
    'far__tool-3',
  ]);
  expect(opened.servers.states()[0]?.detail).toBe(
    'its list of tools goes on and on, and was read in part',
  );
});

test('pages of tools that cannot be used are not kept', async () => {
  let pages = 0;
  using server = await serve((method, response, { id }) => {
    if (method !== 'tools/list') return false;
    pages += 1;
    const tools = [{ name: '', text: 'x'.repeat(4_000_000) }];
    const result = { tools, ...(pages < 20 ? { nextCursor: String(pages) } : {}) };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    return true;
  });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  collect();
  const before = process.memoryUsage().heapUsed;
  await using opened = await connect(server.url, () => 0);
  await vi.waitFor(() => expect(opened.servers.states()).toMatchObject([{ state: 'connected' }]));
  expect(pages).toBe(20);
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(40_000_000);
});

test('a server that takes the hello and never answers is told of after half a minute', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    let asked = false;
    using server = await serve(() => {
      asked = true;
      return true;
    });
    await using opened = await connect(server.url);
    while (!asked) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(30_000);
    while (opened.servers.states()[0]?.state === 'starting')
      await new Promise((resolve) => setImmediate(resolve));
    expect(opened.servers.states()[0]?.detail).toBe(
      'cannot be reached: no answer came; tried again in 1 s',
    );
  } finally {
    vi.useRealTimers();
  }
});
