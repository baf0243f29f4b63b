import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { DEFAULT_TIMEOUTS } from '../../../src/host/contracts/options.ts';
import { lazySandbox } from '../../../src/host/turns/agent/lazy-sandbox.ts';
import type { Sandbox, TurnRequest } from '../../../src/sandbox/sandbox.ts';
import { answers, TestProject, textsOf } from '../../../src/testing/assistant.ts';
import { openServers, runHere, SERVER } from './fixtures.ts';

const LATE = join(import.meta.dirname, 'late-server.ts');
const MISSING =
  'The tool server near is not connected, so its tools are missing here. `/mcp` shows why.';

/** An assistant whose only MCP server is started by this command, and what its agents were given. */
async function startWith(
  project: TestProject,
  args: readonly string[],
  toolsMs = DEFAULT_TIMEOUTS.toolsMs,
) {
  mkdirSync(join(project.dir, 'data/mcp'), { recursive: true });
  const mcpServers = { near: { command: 'node', args, groups: ['main'] } };
  writeFileSync(join(project.dir, 'data/mcp/mcp.json'), JSON.stringify({ mcpServers }));
  const turns: TurnRequest[] = [];
  const sandbox: Sandbox = {
    engine: 'bubblewrap',
    description: 'test',
    async runTurn(request, { onTool }) {
      turns.push(request);
      const { folder, tools } = request;
      if (!tools.some(({ name }) => name === 'near__greet')) return answers('done');
      return answers(String((await onTool({ folder, name: 'near__greet', input: {} })).value));
    },
    startProgram: runHere,
    stop: async () => {},
    warm: () => 0,
    close: async () => {},
  };
  const opened = lazySandbox(async () => ({ kind: 'ready', sandbox }));
  const timeouts = { ...DEFAULT_TIMEOUTS, toolsMs };
  return { turns, assistant: await project.start({ over: { sandbox: opened, timeouts } }) };
}

test('a turn waits for a server that starts slowly, and then has its tools', async () => {
  using project = new TestProject();
  const file = join(project.dir, 'ready');
  const { turns, assistant } = await startWith(project, [LATE, file], 600_000);
  const { terminal, store } = assistant;
  await terminal.say('hello');
  await vi.waitFor(() => expect(store.turns.counts().running).toBe(1));
  await terminal.say('/mcp');
  await vi.waitFor(() => expect(textsOf(terminal).join()).toContain('**near**: starting'));
  expect(turns).toEqual([]);
  writeFileSync(file, '');
  await vi.waitFor(() => expect(textsOf(terminal)).toContain('Good morning.'));
  expect(textsOf(terminal).join()).not.toContain('missing');
  await assistant.stop();
});

test('a turn begins without a server that does not come, says so once, and uses it when it is there', async () => {
  using project = new TestProject();
  const file = join(project.dir, 'ready');
  const { turns, assistant } = await startWith(project, [LATE, file], 100);
  const { terminal } = assistant;
  await terminal.say('hello');
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual([`${MISSING}\n\ndone`]));
  expect(turns[0]?.prompt).toContain(`(${MISSING})`);
  await terminal.say('once more');
  await vi.waitFor(() => expect(textsOf(terminal).slice(1)).toEqual(['done']));
  expect(turns[1]?.prompt).toContain(`(${MISSING})`);
  writeFileSync(file, '');
  await vi.waitFor(async () => {
    await terminal.say('and now?');
    expect(textsOf(terminal).at(-1)).toBe('Good morning.');
  });
  await assistant.stop();
});

test('a turn does not wait for a server that cannot be started, nor for one of another group', async () => {
  using project = new TestProject();
  const { assistant } = await startWith(project, [SERVER, 'dead'], 600_000);
  const { terminal, chat } = assistant;
  await terminal.say('hello');
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual([`${MISSING}\n\ndone`]));
  await chat.meet('chat:f', 'Family');
  await terminal.say('/register Family always');
  await vi.waitFor(() => expect(textsOf(terminal)).toHaveLength(2));
  await chat.say('hello', { jid: 'chat:f', isDirect: false, chatName: 'Family' });
  await vi.waitFor(() => expect(textsOf(chat)).toEqual(['done']));
  await assistant.stop();
});

test('turns wait for the first attempt alone: a server that hangs afterwards delays no turn', async () => {
  const program = `
    const { existsSync, writeFileSync } = require('node:fs');
    const tried = process.env.HOME + '/tried';
    if (existsSync(tried)) setInterval(() => {}, 1_000);
    else {
      writeFileSync(tried, '');
      process.exit(9);
    }`;
  await using given = await openServers({ near: { command: 'node', args: ['-e', program] } });
  const { servers, timers } = given;
  const never = new AbortController().signal;
  const stateOf = () => servers.find('near')?.state().state;
  expect(await servers.ready('family', never)).toEqual([]);
  expect(await servers.ready('main', never)).toEqual([MISSING]);
  expect(stateOf()).toBe('waiting');
  timers.pass();
  await vi.waitFor(() => expect(stateOf()).toBe('starting'));
  expect(await servers.ready('main', never)).toEqual([MISSING]);
});
