import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import type { AnthropicReply } from '../../testing/model/anthropic.ts';
import { testModel } from '../../testing/model/test-model.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';

const MODEL_FAILURES: readonly (readonly [string, AnthropicReply, object])[] = [
  [
    'a refused key',
    { kind: 'error', status: 401 },
    { code: 'MODEL_FAILED', message: expect.stringMatching(/refused the API key \(401\)/) },
  ],
  [
    'a rate limit',
    { kind: 'error', status: 429 },
    { code: 'MODEL_FAILED', message: expect.stringMatching(/rate limit/) },
  ],
  [
    'an overloaded server',
    { kind: 'error', status: 529, message: 'Overloaded' },
    { code: 'MODEL_FAILED', message: expect.stringMatching(/overloaded \(529\): Overloaded/) },
  ],
  [
    'a server that says nothing',
    { kind: 'stall' },
    { code: 'MODEL_TIMEOUT', message: expect.stringMatching(/said nothing for 5 s/) },
  ],
  [
    'an answer that is not a stream of events',
    { kind: 'garbage' },
    { code: 'MODEL_FAILED', message: expect.stringMatching(/is not a model's server/) },
  ],
  [
    'a connection that breaks in the middle of the answer',
    { kind: 'drop', blocks: [{ type: 'text', text: 'a text that is never finished' }] },
    { code: 'MODEL_FAILED', message: expect.stringMatching(/broke off/) },
  ],
];

await describeWithEngine('bubblewrap', 'a turn whose model fails', () => {
  test.each(MODEL_FAILURES)('says in one sentence: %s', async (_name, reply, expected) => {
    let isBroken = true;
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      script: () => (isBroken ? reply : [{ type: 'text', text: 'well again' }]),
      options: { modelTimeoutMs: 5_000 },
    });
    const outcome = await project.turn('hello');
    expect(outcome).toMatchObject({ kind: 'failed', ...expected });
    isBroken = false;
    expect(await project.answer('hello again')).toBe('well again');
    // What failed was not kept: the retried turn is a conversation of its own.
    expect(project.server.requests.at(-1)?.body.messages).toHaveLength(1);
  });

  test('names the address where nothing listens', async () => {
    await using project = await sandboxProject({ engine: 'bubblewrap' });
    await project.server.close();
    expect(await project.turn('hello')).toMatchObject({
      kind: 'failed',
      code: 'MODEL_FAILED',
      message: expect.stringMatching(
        /127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED: nothing listens there/,
      ),
    });
  });

  test('is told of a text without end as that, and the agent lives on', async () => {
    const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
    const delta = { type: 'text_delta', text: 'a'.repeat(2_000) };
    const piece = event({ type: 'content_block_delta', index: 0, delta });
    const message = { id: 'm', role: 'assistant', model: 'x', content: [], stop_reason: null };
    const usage = { input_tokens: 1, output_tokens: 1 };
    const begin = [
      { type: 'message_start', message: { type: 'message', ...message, usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ];
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(begin.map(event).join(''));
      const goOn = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', goOn);
      goOn();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const model = testModel({ baseUrl: `http://127.0.0.1:${port}` });
    await using project = await sandboxProject({ engine: 'bubblewrap', model });
    for (const prompt of ['hello', 'hello again']) {
      expect(await project.turn(prompt)).toMatchObject({
        kind: 'failed',
        message: expect.stringMatching(/sent more than 64 MB, and was cut off/),
      });
    }
    server.closeAllConnections();
    server.close();
  });

  test('reads an answer that comes byte by byte, and streams it', async () => {
    const text = 'Grüße — 你好 🙂';
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      script: () => ({
        kind: 'slow',
        blocks: [{ type: 'text', text }],
        chunkBytes: 7,
        delayMs: 5,
      }),
    });
    const deltas: string[] = [];
    const onText = (delta: string) => void deltas.push(delta);
    expect(await project.answer('hello', { onText })).toBe(text);
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join('')).toBe(text);
    expect(project.charges).toMatchObject([{ counts: { inputTokens: 100, outputTokens: 20 } }]);
  });
});

for (const engine of ['docker', 'bubblewrap'] as const) {
  await describeWithEngine(engine, `a turn that goes wrong under ${engine}`, () => {
    test('with an answer of over a megabyte is cut there, and says so', async () => {
      await using project = await sandboxProject({
        engine,
        script: () => [{ type: 'text', text: 'ü'.repeat(700_000) }],
      });
      const outcome = await project.turn('talk');
      if (outcome.kind !== 'answered') throw new Error(outcome.message);
      expect(outcome.isTruncated).toBe(true);
      expect(outcome.text).toBe('ü'.repeat(524_288));
    });

    test('because its agent dies is told, and the next one gets a new agent', async () => {
      await using project = await sandboxProject({ engine });
      expect(await project.turn('shell: kill -9 $PPID; sleep 5')).toEqual({
        kind: 'failed',
        code: 'AGENT_DIED',
        message: expect.stringMatching(
          /^The agent ended in the middle of the turn \(.+\); the next/,
        ),
      });
      expect(await project.answer('hello')).toBe('You said: hello');
    });

    test('because it takes too long is ended, and its container with it', async () => {
      await using project = await sandboxProject({ engine, settings: { turnTimeoutMs: 10_000 } });
      expect(await project.turn('shell: sleep 600')).toEqual({
        kind: 'failed',
        code: 'TURN_TIMEOUT',
        message: 'The agent took longer than 10 s and was stopped.',
      });
      expect(await project.answer('hello')).toBe('You said: hello');
    });

    test.each([
      ['what is no frame', 'lorem ipsum'],
      ['a frame of another protocol', '{"type":"text","turn":"turn-1","delta":7}'],
      ['a frame about another turn', '{"type":"text","turn":"turn-0","delta":""}'],
      ['more than a megabyte in one line', 'x'.repeat(1_100_000)],
    ])('because the agent sends %s ends with the agent stopped', async (_name, line) => {
      await using project = await sandboxProject({
        engine,
        files: { 'container/agent/main.ts': agentThatSays(line) },
      });
      expect(await project.turn('hello')).toEqual({
        kind: 'failed',
        code: 'AGENT_GARBAGE',
        message: expect.stringMatching(/^The agent sent .+; it was stopped/),
      });
    });
  });
}

/** Another agent in the container's place: ready as it should be, then one line whatever it is asked. */
function agentThatSays(line: string): string {
  return `
    import { connectToHost } from './host/connection.ts';
    export async function runAgent() {
      const stream = await connectToHost('/run/claw/host.sock');
      stream.write('{"type":"ready","protocol":1}\\n');
      stream.once('data', () => stream.write(${JSON.stringify(line)} + '\\n'));
      stream.on('error', () => {});
      // Stays until it is stopped.
      setInterval(() => {}, 1000);
    }`;
}
