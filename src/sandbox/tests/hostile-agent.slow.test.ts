import { expect, test } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';

const LOOK = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' } };

/** An agent that says frames of its own making, as any command in the container can. */
const hostileAgent = (onTurn: string) => `
  import { connect } from 'node:net';
  import { connectToHost } from './host/connection.ts';
  export async function runAgent() {
    const stream = await connectToHost('/run/claw/host.sock');
    const say = (frame) => stream.write(JSON.stringify(frame) + '\\n');
    say({ type: 'ready', protocol: 1 });
    stream.once('data', (data) => {
      const turn = JSON.parse(String(data)).id;
      const call = (id) => say({ type: 'tool_call', id: String(id), turn, name: 'look', input: {} });
      const done = (text) => say({
        type: 'done', turn, text, session: 's',
      });
      ${onTurn}
    });
    setInterval(() => {}, 1000);
  }`;

function projectOf(onTurn: string) {
  return sandboxProject({
    engine: 'bubblewrap',
    tools: [LOOK],
    settings: { turnTimeoutMs: 120_000 },
    files: { 'container/agent/main.ts': hostileAgent(onTurn) },
  });
}

await describeWithEngine('bubblewrap', 'an agent that means harm', () => {
  test('does not fill the memory of the host with results that it never reads', async () => {
    await using project = await projectOf(`
      stream.pause();
      for (let id = 0; id < 2000; id += 1) call(id);`);
    let called = 0;
    const value = 'x'.repeat(100_000);
    const onTool = async () => {
      called += 1;
      return { ok: true, value };
    };
    expect(await project.turn('hello', { onTool })).toMatchObject({
      kind: 'failed',
      code: 'AGENT_GARBAGE',
    });
    // 2,000 of them would be 200 MB.
    expect(called).toBeLessThan(500);
  });

  test('does not keep the host busy with more tools than a model calls at once', async () => {
    await using project = await projectOf(`
      let refused = 0;
      stream.on('data', (data) => {
        refused += String(data).split('too many').length - 1;
        if (refused === 968) done('refused ' + refused);
      });
      for (let id = 0; id < 1000; id += 1) call(id);`);
    let running = 0;
    const ended = Promise.withResolvers<{ ok: boolean; value: unknown }>();
    const onTool = () => {
      running += 1;
      return ended.promise;
    };
    const outcome = project.turn('hello', { onTool });
    expect(await outcome).toMatchObject({ kind: 'answered', text: 'refused 968' });
    expect(running).toBe(32);
    ended.resolve({ ok: true, value: null });
  });

  test('floods no tool: what it calls beyond the limit never reaches one, and it is stopped', async () => {
    await using project = await projectOf('for (let id = 0; id < 20_000; id += 1) call(id);');
    let called = 0;
    const onTool = async () => {
      called += 1;
      return { ok: true, value: null };
    };
    expect(await project.turn('hello', { onTool })).toMatchObject({
      kind: 'failed',
      code: 'AGENT_GARBAGE',
      message: expect.stringContaining('a flood of tool calls'),
    });
    // The burst, and what a machine under load earns while it reads the frames.
    expect(called).toBeLessThan(1_000);
  });

  test('is refused more connections than an agent needs', async () => {
    // One is that of the frames; the others are requests that never end.
    await using project = await projectOf(`
      let refused = 0;
      for (let count = 0; count < 200; count += 1) {
        const line = connect('/run/claw/host.sock');
        line.on('error', () => {});
        line.on('connect', () => line.write('POST / HTTP/1.1\\r\\n'));
        line.on('close', () => { refused += 1; if (refused === 169) done('refused'); });
      }`);
    expect(await project.turn('hello')).toMatchObject({ kind: 'answered', text: 'refused' });
  });
});
