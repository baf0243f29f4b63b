import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { ChooseModels } from '../../model/routing.ts';
import type { TurnOutcome, TurnRequest } from '../../sandbox/sandbox.ts';
import {
  type AgentScript,
  answers,
  borrowed,
  TestProject,
  testSandbox,
  textsOf,
} from '../../testing/assistant.ts';
import {
  isSideWork,
  PLAIN,
  reset,
  seen,
  serviceFile,
  servicesOf,
} from '../../testing/claw/service-files.ts';
import { TestClock } from '../../testing/clock.ts';
import { testModel } from '../../testing/model/test-model.ts';
import { isIdle } from '../../testing/turn/tasks.ts';
import { defineCommand, openCommands } from '../contracts/command.ts';
import { definePromptSection } from '../contracts/prompt-section.ts';
import { defineTool } from '../contracts/tool.ts';
import { openSystemPrompt } from '../turns/agent/system-prompt.ts';
import { openTools } from '../turns/tool-calls/toolbox.ts';

/** Fails as often as told, then runs, and crashes where its timer throws. */
const SHAKY = serviceFile(
  'shaky',
  `start: (context) => {
    const seen = globalThis.serviceTest;
    seen.contexts.push(context);
    seen.starts += 1;
    if (seen.starts <= 2) throw new Error('no luck ' + seen.starts);
    context.setTimer(60_000, async () => { throw new Error('in its timer'); });
    return { stop: () => { seen.stops += 1; }, status: () => 'start ' + seen.starts };
  }`,
);

test('a service holds its own settings and what its contract names, and nothing else', async () => {
  reset();
  using project = new TestProject();
  const { services } = await servicesOf({ 'plain.ts': PLAIN }, { PLAIN_WORD: 'yes', OTHER: 'no' });
  const assistant = await project.start({ over: { services } });
  const [context] = seen.contexts;
  expect(Object.keys(context ?? {}).toSorted()).toEqual([
    'ask',
    'assistantName',
    'budgets',
    'channels',
    'crash',
    'dataDir',
    'devices',
    'dueTasks',
    'embed',
    'groupsDir',
    'log',
    'memory',
    'modelProblem',
    'models',
    'newId',
    'newestRelease',
    'now',
    'openDatabase',
    'owner',
    'queueMessage',
    'queueTurn',
    'readClaw',
    'readGroupFile',
    'route',
    'sendFrame',
    'setTimer',
    'settings',
    'signal',
    'startProgram',
    'stopTurn',
    'store',
    'timeZone',
    'tools',
    'watch',
  ]);
  expect(context?.settings).toEqual({ PLAIN_WORD: 'yes' });
  const reads = Object.values(context?.store ?? {}).flatMap((part) => Object.keys(part));
  expect(reads.toSorted()).toEqual(
    `after all between byFolder byFolder byId byJid byModel costs counts countBetween extent failed find isOpen last main newest of offIn ofGroup ofTurn open page sendersOf since stepsOf total whole`
      .split(' ')
      .toSorted(),
  );
  expect(Object.keys(context?.dueTasks ?? {}).toSorted()).toEqual([
    'fire',
    'next',
    'onChanged',
    'realign',
  ]);
  await assistant.stop();
  expect(context?.signal.aborted).toBe(true);
});

test('a service whose settings are missing or wrong is off, and the others run', async () => {
  const missing = await servicesOf({ 'plain.ts': PLAIN });
  expect(missing.services.map(({ name }) => name)).toEqual(['scheduler']);
  expect(missing.silent).toEqual([{ name: 'plain', needs: ['PLAIN_WORD'], wrong: [] }]);
  const wrong = await servicesOf({ 'plain.ts': PLAIN }, { PLAIN_WORD: 'long' });
  expect(wrong.silent).toEqual([
    {
      name: 'plain',
      needs: ['PLAIN_WORD'],
      wrong: [{ name: 'PLAIN_WORD', problem: 'must be short' }],
    },
  ]);
});

test('a service that fails to start or crashes later is started again after a growing pause, and shown', async () => {
  reset();
  using project = new TestProject();
  const clock = new TestClock('2026-11-21T12:00:00Z');
  const { services } = await servicesOf({ 'shaky.ts': SHAKY });
  const over = { services, now: clock.now, setTimer: clock.setTimer };
  const assistant = await project.start({ over });
  const { terminal, store } = assistant;
  const status = async () => {
    const before = terminal.sent.length;
    await terminal.say('/status');
    await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before));
    return textsOf(terminal).at(-1) ?? '';
  };
  expect(await status()).toMatch(
    /- service scheduler: running\n- service shaky: failed \(no luck 1\), is started again Sat 21 Nov/,
  );
  expect(store.services.all()).toContainEqual({
    name: 'shaky',
    state: 'failed',
    reason: 'no luck 1',
    since: clock.now(),
  });
  const after = async (ms: number, starts: number) => {
    clock.pass(ms);
    await setImmediate();
    expect(seen.starts).toBe(starts);
  };
  await after(999, 1);
  await after(1, 2);
  await after(1_999, 2);
  await after(1, 3);
  expect(await status()).toContain('- service shaky: running (start 3)');
  // It crashes in its timer, is stopped, and its third pause is four seconds.
  await after(60_000, 3);
  expect(seen.stops).toBe(1);
  expect(seen.contexts[2]?.signal.aborted).toBe(true);
  expect(store.services.all()).toMatchObject([{}, { state: 'failed', reason: 'in its timer' }]);
  await after(3_999, 3);
  await after(1, 4);
  // What an earlier run still says of itself counts no more.
  seen.contexts[0]?.crash(new Error('late'));
  expect(store.services.all()).toMatchObject([{}, { state: 'running', reason: null }]);
  await assistant.stop();
  expect(seen.stops).toBe(2);
  await after(600_000, 4);
});

test('a service that never ends its start is given up after 30 seconds, and stopped when it does', async () => {
  using project = new TestProject();
  const clock = new TestClock('2026-11-21T12:00:00Z');
  const started = Promise.withResolvers<{ stop(): void; status(): null }>();
  const stop = vi.fn();
  const services = [{ name: 'slow', value: () => started.promise }];
  const over = { services, now: clock.now, setTimer: clock.setTimer };
  const assistant = await project.start({ over });
  clock.pass(30_000);
  await vi.waitFor(() =>
    expect(assistant.store.services.all()).toMatchObject([
      { state: 'failed', reason: 'it did not start within 30 seconds' },
    ]),
  );
  started.resolve({ stop, status: () => null });
  await setImmediate();
  expect(stop).toHaveBeenCalledOnce();
  await assistant.stop();
});

const CREW = serviceFile(
  'crew',
  `start: (context) => {
    const seen = globalThis.serviceTest;
    seen.contexts.push(context);
    const onTurnEnd = (turn) => {
      seen.ended.push(turn);
      return { kind: 'send' };
    };
    const onCall = (request, { folder, turn }) => folder + ' ' + (turn === null) + ' ' + request;
    return { stop() {}, status: () => null, onTurnEnd, onCall };
  }`,
);

test('a turn beside those of its chat waits for none of them, and has its own prompt and tools', async () => {
  reset();
  using project = new TestProject();
  const { services } = await servicesOf({ 'crew.ts': CREW });
  const long = Promise.withResolvers<void>();
  const requests: TurnRequest[] = [];
  const pools: (string | undefined)[] = [];
  const agent: AgentScript = async (request) => {
    requests.push(request);
    if (request.prompt === 'a long story') await long.promise;
    return answers(`done: ${request.prompt.slice(0, 20)}`);
  };
  const chooseModels: ChooseModels = async ({ taskType, pool }) => {
    if (!isSideWork(taskType)) pools.push(pool);
    return { kind: 'models', models: [testModel()] };
  };
  const warnings: unknown[] = [];
  const log = { info() {}, error() {}, warn: (...line: unknown[]) => void warnings.push(line) };
  const over = { services, chooseModels, ownTools: ['shell', 'read_file'], log };
  // One agent at a time: turns beside have a limit of their own.
  const assistant = await project.start({ agent, over, environment: { CLAW_MAX_AGENTS: '1' } });
  const { terminal } = assistant;
  await terminal.say('a long story');
  await vi.waitFor(() => expect(requests).toHaveLength(1));
  const [context] = seen.contexts;
  context?.queueTurn({
    folder: 'main',
    prompt: 'look it up',
    system: 'You look things up.',
    pool: 'cheap',
    tools: {
      only: ['read_file', 'search_history', 'send_message', 'serch_history'],
      without: ['send_message'],
    },
    isBeside: true,
  });
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual(['done: look it up']));
  expect(requests[1]).toMatchObject({
    prompt: 'look it up',
    system: 'You look things up.',
    isBeside: true,
    session: null,
    ownToolsOff: ['shell'],
  });
  expect(requests[1]?.tools.map(({ name }) => name)).toEqual(['search_history']);
  expect(warnings).toContainEqual([
    'a turn is to have tools that are not there',
    expect.objectContaining({ tools: ['serch_history'] }),
  ]);
  expect(pools).toEqual([undefined, 'cheap']);
  long.resolve();
  await isIdle(assistant);
  expect(textsOf(terminal)).toEqual(['done: look it up', 'done: a long story']);
  await assistant.stop();
});

test('a service ends its turn, at work or not begun; `/stop` in the chat ends none that runs beside', async () => {
  reset();
  using project = new TestProject();
  const { services } = await servicesOf({ 'crew.ts': CREW });
  const atWork = new Map<string, (outcome: TurnOutcome) => void>();
  const stopped: (string | undefined)[] = [];
  const died: TurnOutcome = { kind: 'failed', code: 'AGENT_DIED', message: 'It was stopped.' };
  const sandbox = {
    ...testSandbox(
      ({ id }) =>
        new Promise((resolve) => {
          atWork.set(id, resolve);
        }),
    ),
    stop: async (_folder: string, turn?: string) => {
      stopped.push(turn);
      atWork.get(turn ?? '')?.(died);
    },
  };
  const over = { services, sandbox: borrowed(sandbox) };
  const assistant = await project.start({ over, environment: { CLAW_MAX_AGENTS: '1' } });
  const [context] = seen.contexts;
  const beside = () =>
    context?.queueTurn({ folder: 'main', prompt: 'x', system: 'y', isBeside: true }) ?? '';
  const first = beside();
  await vi.waitFor(() => expect([...atWork.keys()]).toEqual([first]));
  const second = beside();
  await assistant.terminal.say('/stop');
  await vi.waitFor(() =>
    expect(textsOf(assistant.terminal)).toEqual(['The agent is not at work here.']),
  );
  expect(stopped).toEqual([]);
  expect(context?.stopTurn(second)).toBe(true);
  expect(context?.stopTurn('another')).toBe(false);
  expect(context?.stopTurn(first)).toBe(true);
  await isIdle(assistant);
  expect(stopped).toEqual([first]);
  expect(seen.ended).toMatchObject([
    { id: first, outcome: 'gave_up', error: 'CANCELLED' },
    { id: second, outcome: 'skipped' },
  ]);
  expect(context?.stopTurn(first)).toBe(false);
  await assistant.stop();
});

test('a tool, a command, a section and a router call a service by its name, and are told where there is none', async () => {
  reset();
  using project = new TestProject();
  const { services } = await servicesOf({ 'crew.ts': CREW });
  const tool = defineTool({
    name: 'ask_crew',
    create: () => ({
      description: 'Asks.',
      isMainOnly: false,
      input: z.object({ whom: z.string() }),
      run: ({ callService }, { whom }) => callService(whom, 'from a tool'),
    }),
  });
  const command = defineCommand({
    scope: 'owner',
    name: 'crew',
    help: 'asks the crew',
    run: async ({ callService }) => ({
      kind: 'answer',
      text: String(await callService('crew', 'from a command')),
    }),
  });
  const results: unknown[] = [];
  const systems: (string | undefined)[] = [];
  const agent: AgentScript = async ({ folder, system }, { onTool }) => {
    systems.push(system);
    for (const whom of ['crew', 'scheduler', 'nobody']) {
      results.push(await onTool({ folder, name: 'ask_crew', input: { whom } }));
    }
    return answers('asked');
  };
  const none = () => {};
  const log = { info: none, warn: none, error: none };
  const parts = {
    assistantName: 'Andy',
    dataDir: project.dir,
    groupsDir: '/nowhere',
    timeZone: 'UTC',
    log,
  };
  const { tools } = openTools([tool], {}, { ...parts, now: Date.now, newId: () => 'x' });
  const { commands } = openCommands([command], {});
  const section = definePromptSection({
    name: 'crew',
    order: 150,
    create:
      () =>
      (_turn, { callService }) =>
        callService('crew', 'a section').then(String),
  });
  const { systemPrompt } = openSystemPrompt([section], {}, parts);
  const routed: unknown[] = [];
  const chooseModels: ChooseModels = async ({ id, jid, taskType }, callService) => {
    if (!isSideWork(taskType)) routed.push(typeof id, jid, await callService?.('crew', 'a router'));
    return { kind: 'models', models: [testModel()] };
  };
  const over = { services, tools, commands, chooseModels, systemPrompt };
  const assistant = await project.start({ agent, over });
  await assistant.terminal.say('ask');
  await isIdle(assistant);
  await assistant.terminal.say('/crew');
  await isIdle(assistant);
  expect(results).toEqual([
    { ok: true, value: 'main false from a tool' },
    { ok: false, value: 'The service scheduler does not run now.' },
    { ok: false, value: 'There is no service nobody that is switched on.' },
  ]);
  expect(textsOf(assistant.terminal)).toEqual(['asked', 'main true from a command']);
  expect(routed).toEqual(['string', 'terminal:main', 'main false a router']);
  expect(systems).toEqual(['main false a section']);
  await assistant.stop();
});

const PAGE = serviceFile(
  'page',
  `start: async (context) => {
    const seen = globalThis.serviceTest;
    seen.contexts.push(context);
    const route = { method: 'GET', path: '/', access: 'own', handle: () => ({ body: 'hello' }) };
    const { url } = await context.route(route);
    return { stop() {}, status: () => url };
  }`,
);

test('a service answers at an address of its own, as long as it runs', async () => {
  reset();
  using project = new TestProject();
  const clock = new TestClock('2026-11-21T12:00:00Z');
  const { services } = await servicesOf({ 'page.ts': PAGE });
  const over = { services, now: clock.now, setTimer: clock.setTimer };
  const { terminal, store, stop } = await project.start({ over });
  const isRunning = (state: string) =>
    vi.waitFor(() => expect(store.services.all()).toMatchObject([{}, { name: 'page', state }]));
  await isRunning('running');
  await terminal.say('/status');
  await vi.waitFor(() => expect(terminal.sent).toHaveLength(1));
  const [status = ''] = textsOf(terminal);
  const [, url = ''] = /- service page: running \((\S+)\)/.exec(status) ?? [];
  expect(status).toContain(`- pages: ${new URL(url).origin} (`);
  expect(await (await fetch(url)).text()).toBe('hello');
  seen.contexts[0]?.crash(new Error('over'));
  expect((await fetch(url)).status).toBe(401);
  await isRunning('failed');
  clock.pass(1_000);
  await isRunning('running');
  expect(await (await fetch(url)).text()).toBe('hello');
  await stop();
  await expect(fetch(url)).rejects.toThrow();
});
