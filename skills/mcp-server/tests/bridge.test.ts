import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { bridge } from '../../../src/verbs/mcp/bridge.ts';
import { serve } from './fixtures.ts';

/** A client on a pair of streams, as a program that starts `claw mcp` has them. */
function startBridge(far: () => { url: string; token: string } | null) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const lines: string[] = [];
  createInterface({ input: stdout }).on('line', (line) => void lines.push(line));
  const over = bridge({ stdin, stdout, signal: new AbortController().signal, far });
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
        /^The assistant cannot be reached .* `claw start` starts it\.$/,
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
