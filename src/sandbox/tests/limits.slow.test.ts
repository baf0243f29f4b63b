import { expect, test, vi } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import { type AnthropicScript, lastUserText } from '../../testing/model/anthropic.ts';
import { sandboxProject, shellScript } from '../../testing/sandbox-project.ts';

// Of an agent that is up.
const IDLE_MS = 4_000;

/** An agent in the container's place that hangs, in one way or another, once it has its turn. */
const hungAgent = (hang: string) => `
  import { request } from 'node:http';
  import { connectToHost } from './host/connection.ts';
  export async function runAgent() {
    const stream = await connectToHost('/run/claw/host.sock');
    stream.write('{"type":"ready","protocol":1}\\n');
    stream.once('data', () => { ${hang} });
    setInterval(() => {}, 1000);
  }`;

const CALL = "socketPath: '/run/claw/host.sock', method: 'POST', path: '/v1/messages'";

await describeWithEngine('bubblewrap', 'a turn without a sign of life', () => {
  test.each([
    ['in a loop without end', 'for (;;);'],
    ['in a call of the model that it never finishes', `request({ ${CALL} }).flushHeaders();`],
  ])('is stopped after the idle time, and says so: %s', async (_how, hang) => {
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      settings: { idleMs: 500 },
      files: { 'container/agent/main.ts': hungAgent(hang) },
    });
    // It did not say that it takes follow-ups, so nobody is told that it could.
    const onReady = () => expect.unreachable();
    expect(await project.turn('hello', { onReady })).toEqual({
      kind: 'failed',
      code: 'AGENT_STUCK',
      message: 'The agent gave no sign of life for 0.5 s and was stopped.',
    });
    await vi.waitFor(() => expect(project.sandbox.warm()).toBe(0));
  });

  test('is none while a command, a tool of the host or the model takes its time', async () => {
    const script: AnthropicScript = async (request) => {
      if (lastUserText(request) === 'slow') await later(IDLE_MS + 500);
      if (lastUserText(request) !== 'host') return shellScript(request);
      return [{ type: 'tool_use', name: 'look', input: {} }];
    };
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
      script,
    });
    const onTool = async () => {
      await later(IDLE_MS + 500);
      return { ok: true, value: 'seen' };
    };
    const folders = ['one', 'two', 'three'];
    await Promise.all(folders.map(async (folder) => project.answer('hello', { folder })));
    project.settings.idleMs = IDLE_MS;
    const answers = await Promise.all([
      project.answer('shell: sleep 4.5; echo slept', { folder: 'one' }),
      project.answer('slow', { folder: 'two' }),
      project.answer('host', { folder: 'three', onTool }),
    ]);
    expect(answers[0]).toContain('slept');
    expect(answers.slice(1)).toEqual(['You said: slow', 'seen']);
  });
});

await describeWithEngine('bubblewrap', 'limits of a turn that the owner has set', () => {
  const settings = {
    shellTimeoutMs: 200,
    toolRounds: { all: 3, ofFolders: { family: 2 } },
  };
  const script: AnthropicScript = ({ body }) => [
    { type: 'text', text: JSON.stringify(body.messages.at(-1)?.content) },
    { type: 'tool_use', name: 'shell', input: { command: 'sleep 600' } },
  ];

  test('end a command, and a turn after the rounds of its chat', async () => {
    await using project = await sandboxProject({ engine: 'bubblewrap', settings, script });
    const [family, club] = await Promise.all([
      project.answer('go', { folder: 'family' }),
      project.answer('go', { folder: 'club' }),
    ]);
    expect(family).toContain('I stopped after 2 rounds of tool calls');
    expect(family).toContain('killed after 0.2 s');
    expect(club).toContain('I stopped after 3 rounds of tool calls');
  });
});

await describeWithEngine('bubblewrap', 'containers that wait for the next message', () => {
  test('are so many at most, and the one that idles longest goes first', async () => {
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      settings: { maxAgents: 1, maxContainers: 2 },
    });
    const start = async (folder: string) =>
      project.answer('shell: cat /tmp/x || touch /tmp/x', { folder });
    await start('one');
    await start('two');
    await start('one');
    expect(project.sandbox.warm()).toBe(2);
    await start('three');
    await vi.waitFor(() => expect(project.sandbox.warm()).toBe(2));
    // /tmp is gone with its container: that of `two` was the one to go.
    expect(await start('one')).not.toContain('No such file');
    expect(await start('two')).toContain('No such file');
  });
});

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
