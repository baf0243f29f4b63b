import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { commands } from '../../../src/testing/turn/tasks.ts';
import { bridge } from '../../../src/verbs/mcp/bridge.ts';
import { serve } from './fixtures.ts';

/** A client on a pair of streams, as a program that starts `claw mcp` has them. */
function startBridge(far: () => { url: string; token: string } | null) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const lines: string[] = [];
  const told: string[] = [];
  const tell = (text: string): void => void told.push(text);
  createInterface({ input: stdout }).on('line', (line) => void lines.push(line));
  const over = bridge({ stdin, stdout, signal: new AbortController().signal, far, tell });
  const answerTo = async (id: number) =>
    await vi.waitFor(() => {
      const found = lines.map((line) => JSON.parse(line)).find((message) => message.id === id);
      if (found === undefined) throw new Error(`no answer to ${id} yet: ${lines.join()}`);
      return found;
    });
  let id = 0;
  const say = (message: object) =>
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    lines,
    told,
    stdin,
    over,
    say,
    async ask(method: string, params: object = {}) {
      id += 1;
      say({ id, method, params });
      return await answerTo(id);
    },
    async end() {
      stdin.end();
      await over;
    },
  };
}

const HELLO = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

test('lines of the protocol go to the running assistant and back, and nothing else is written', async () => {
  await using served = await serve();
  const client = startBridge(() => served);
  expect(await client.ask('initialize', HELLO)).toMatchObject({
    result: { protocolVersion: '2025-06-18', serverInfo: { name: 'patchclaw' } },
  });
  client.say({ method: 'notifications/initialized' });
  const { result } = await client.ask('tools/list');
  expect(result.tools.map(({ name }: { name: string }) => name)).toContain('search_history');
  const found = await client.ask('tools/call', {
    name: 'search_history',
    arguments: { query: 'plumber', chat: 'family' },
  });
  expect(found.result.content[0].text).toContain('Tuesday');
  expect(await client.ask('no/such')).toMatchObject({ error: { code: -32601 } });
  await client.end();
  for (const line of client.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});

test('after a restart of the assistant the client goes on as if nothing was', async () => {
  const first = await serve();
  let far: { url: string; token: string } | null = first;
  const client = startBridge(() => far);
  await client.ask('initialize', HELLO);
  client.say({ method: 'notifications/initialized' });
  await client.ask('tools/list');
  await first.assistant.stop();
  far = null;
  expect(await client.ask('tools/list')).toMatchObject({
    error: {
      message: expect.stringMatching(
        /^The assistant cannot be reached .* `npx claw start` starts it\.$/,
      ),
    },
  });
  await using second = await serve(first.project);
  far = second;
  const { result } = await client.ask('resources/list');
  expect(result.resources[0].uri).toBe('patchclaw://groups');
  expect(client.lines.filter((line) => line.includes('serverInfo'))).toHaveLength(1);
  await client.end();
});

test('garbage on stdin is passed over and told once, and what the assistant refuses is told as that', async () => {
  await using served = await serve();
  const client = startBridge(() => served);
  expect(await client.ask('tools/list')).toMatchObject({
    error: { code: -32600, message: expect.stringContaining('The first one must be initialize.') },
  });
  await client.ask('initialize', HELLO);
  client.say({ method: 'notifications/initialized' });
  await client.ask('resources/subscribe', { uri: 'patchclaw://groups' });
  client.stdin.write('garbage\n{"jsonrpc":"2.0"}\n\0\0\n[[[[\n{"id":\n');
  expect(await client.ask('ping')).toMatchObject({ result: {} });
  expect(client.told).toEqual([
    expect.stringMatching(/^What the client sent is not a message of MCP/),
  ]);
  const large = { name: 'search_history', arguments: { query: 'x'.repeat(2_000_000) } };
  expect(await client.ask('tools/call', large)).toMatchObject({
    error: {
      code: -32600,
      message: 'This message is larger than 1 MB, the most that the assistant reads.',
    },
  });
  // The session is the one from before, with what it watches.
  expect(await commands(served.assistant, '/status')).toMatch(/service mcp-server: .*, 1 client\b/);
  await client.end();
  for (const line of client.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});

test('a line without end closes the connection at 10 MB, and says so', async () => {
  const client = startBridge(() => null);
  for (let at = 0; at < 200; at += 1) client.stdin.write(Buffer.alloc(65_536, 'x'));
  await client.over;
  expect(client.told.at(-1)).toBe(
    'The client sent more than 10 MB without the end of a line. The connection ends.',
  );
  expect(client.lines).toEqual([]);
});
