import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { discoverServices } from '../../../src/host/contracts/service.ts';
import { openServices } from '../../../src/host/services/services.ts';
import type { ChooseModels } from '../../../src/model/routing.ts';
import type { TurnEvents, TurnOutcome, TurnRequest } from '../../../src/sandbox/sandbox.ts';
import {
  answers,
  borrowed,
  TestProject,
  testSandbox,
  textsOf,
} from '../../../src/testing/assistant.ts';
import { TestClock } from '../../../src/testing/clock.ts';
import { testModel } from '../../../src/testing/model/test-model.ts';
import { isIdle } from '../../../src/testing/turn/tasks.ts';

const ON = { SPAWN: 'on', CLAW_MAX_AGENTS: '2' };
const DIED: TurnOutcome = { kind: 'failed', code: 'AGENT_DIED', message: 'It was stopped.' };

type Work = (request: TurnRequest, tools: Tools) => Promise<string | TurnOutcome>;
type Tools = (name: string, input: object) => Promise<{ ok: boolean; value: unknown }>;

/**
 * Starts an assistant whose agents are the test's: `chat` works in the chat, `child` beside it. A turn that is
 * stopped ends, and its calls of tools are aborted, as in a real container.
 */
async function startOn(
  project: TestProject,
  { chat, child }: { readonly chat: Work; readonly child: Work },
  environment: Readonly<Record<string, string>> = ON,
  clock = new TestClock('2026-11-21T12:00:00Z'),
) {
  const running = new Map<string, { request: TurnRequest; stop: () => void }>();
  const requests: TurnRequest[] = [];
  const pools: [string, string | undefined][] = [];
  async function runTurn(request: TurnRequest, events: TurnEvents): Promise<TurnOutcome> {
    requests.push(request);
    const over = new AbortController();
    const died = Promise.withResolvers<TurnOutcome>();
    const stop = () => {
      died.resolve(DIED);
      over.abort();
    };
    running.set(request.id, { request, stop });
    const call: Tools = async (name, input) =>
      await events.onTool({ folder: request.folder, name, input }, over.signal);
    const work = (request.isBeside === true ? child : chat)(request, call).then((end) =>
      typeof end === 'string' ? answers(end) : end,
    );
    return await Promise.race([work, died.promise]).finally(() => running.delete(request.id));
  }
  const sandbox = {
    ...testSandbox(runTurn),
    async stop(folder: string, turn?: string) {
      for (const { request, stop } of running.values()) {
        if (request.folder === folder && (turn === undefined || turn === request.id)) stop();
      }
    },
  };
  const chooseModels: ChooseModels = async ({ taskType, pool, prompt }) => {
    if (!['summary'].includes(taskType) && pool !== undefined) pools.push([prompt, pool]);
    return { kind: 'models', models: [testModel()] };
  };
  const { services } = openServices(await discoverServices(), environment);
  const { now, setTimer } = clock;
  const over = { services, now, setTimer, chooseModels, sandbox: borrowed(sandbox) };
  const assistant = await project.start({ environment, over: { ...over, ownTools: ['shell'] } });
  return { ...assistant, requests, pools, clock };
}

type Started = Awaited<ReturnType<typeof startOn>>;

function write(project: TestProject, path: string, text: string): void {
  mkdirSync(dirname(join(project.dir, path)), { recursive: true });
  writeFileSync(join(project.dir, path), text);
}

/** Says a command and returns its answer, also while the agent is at work. */
async function command({ terminal }: Started, text: string): Promise<string> {
  const before = terminal.sent.length;
  await terminal.say(text);
  await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before));
  return textsOf(terminal)[before] ?? '';
}

const never = () => new Promise<never>(() => {});
const isChild = ({ isBeside }: TurnRequest) => isBeside === true;

test('it is off until it is switched on, and `/spawns` says how', async () => {
  using project = new TestProject();
  const chat: Work = async ({ tools }) =>
    tools
      .map(({ name }) => name)
      .filter((name) => name.startsWith('spawn'))
      .join() || 'none';
  const off = await startOn(project, { chat, child: never }, {});
  await off.terminal.say('which?');
  await isIdle(off);
  expect(textsOf(off.terminal)).toEqual(['none']);
  expect(await command(off, '/spawns')).toContain('npx claw setup spawn');
  await off.stop();
  const on = await startOn(project, { chat, child: never });
  await on.terminal.say('which?');
  await isIdle(on);
  expect(textsOf(on.terminal)).toEqual(['spawn,spawn_await']);
  expect(await command(on, '/spawns')).toContain('There were no sub-agents yet');
  await on.stop();
});

test('S2-23: sub-agents that are waited for work side by side, by their profiles, and the chat hears nothing of them', async () => {
  using project = new TestProject();
  write(
    project,
    'groups/global/spawn-profiles.yaml',
    `researcher:
  pool: cheap
  bootstrap_files: [HOUSE.md]
  system_prompt: You look things up.
  system_prompt_file: prompts/long.md
  tools: [search_history, spawn]
`,
  );
  write(project, 'groups/main/HOUSE.md', 'The house is red.');
  write(project, 'groups/global/prompts/long.md', 'Look twice.');
  write(project, 'groups/main/AGENTS.md', 'Be brief.');
  const both = Promise.withResolvers<void>();
  let atWork = 0;
  const child: Work = async ({ prompt }) => {
    atWork += 1;
    if (atWork === 2) both.resolve();
    await both.promise;
    return `found ${prompt}`;
  };
  const chat: Work = async (_, call) => {
    const results = await Promise.all([
      call('spawn_await', { task: 'one', profile: 'researcher' }),
      call('spawn_await', { task: 'two' }),
    ]);
    return JSON.stringify(results.map(({ value }) => value));
  };
  const assistant = await startOn(project, { chat, child });
  await assistant.terminal.say('look');
  await isIdle(assistant);
  expect(textsOf(assistant.terminal)).toEqual(['["found one","found two"]']);
  const [one, two] = ['one', 'two'].map((task) =>
    assistant.requests.find(({ prompt }) => prompt === task),
  );
  expect(one?.system).toMatch(
    /^You are a sub-agent of Andy.*\n\nYou look things up\.\n\nLook twice\.\n\nHOUSE\.md:\nThe house is red\.$/s,
  );
  expect(one?.tools.map(({ name }) => name)).toEqual(['search_history']);
  expect(one?.ownToolsOff).toEqual(['shell']);
  expect(two?.system).toMatch(/AGENTS\.md:\nBe brief\.$/);
  expect(two?.tools.map(({ name }) => name)).not.toContain('spawn_await');
  expect(two?.ownToolsOff).toEqual([]);
  expect(assistant.pools).toEqual([['one', 'cheap']]);
  await assistant.stop();
});

test('one that is not waited for leaves the chat free, and its result comes as a turn of the chat', async () => {
  using project = new TestProject();
  const done = Promise.withResolvers<string>();
  const chat: Work = async ({ prompt }, call) => {
    const work = { task: 'count the stars', context: 'The sky is clear.' };
    if (prompt === 'go') return String((await call('spawn', work)).value);
    return prompt.includes('sub-agent') ? 'There are nine stars.' : `you said ${prompt}`;
  };
  const assistant = await startOn(project, { chat, child: () => done.promise });
  const { terminal, requests } = assistant;
  await terminal.say('go');
  await vi.waitFor(() => expect(textsOf(terminal)).toHaveLength(1));
  expect(textsOf(terminal)[0]).toMatch(/^Sub-agent 1 is at work\. Its result comes later/);
  await terminal.say('and now?');
  await vi.waitFor(() => expect(textsOf(terminal)[1]).toBe('you said and now?'));
  expect(await command(assistant, '/spawns')).toBe(
    '- **1.** count the stars (main) · Sat 21 Nov 2026, 12:00 · at work, 0 min',
  );
  const child = requests.find(isChild);
  expect(child?.prompt).toContain('count the stars\n\n# Context\n\nThe sky is clear.');
  done.resolve('nine');
  await vi.waitFor(() => expect(textsOf(terminal)[3]).toBe('There are nine stars.'));
  const report = requests.at(-1);
  expect(report?.prompt).toMatch(/A sub-agent .*count the stars\n\nIts result:\nnine\n\nTell the/s);
  expect(report?.session).toBe('s1');
  await isIdle(assistant);
  expect(await command(assistant, '/spawns 1')).toMatch(
    /done, 0 min\n\ncount the stars\n\n# Context\n\nThe sky is clear.\n\nnine$/,
  );
  await assistant.stop();
});

test('number, depth and profiles are checked, in words for the agent', async () => {
  using project = new TestProject({ 'secret.txt': 'the key' });
  const profiles = 'groups/global/spawn-profiles.yaml';
  write(
    project,
    profiles,
    'lost: { system_prompt_file: nowhere.md }\nlink: { bootstrap_files: [link.md] }\n',
  );
  mkdirSync(join(project.dir, 'groups/main'), { recursive: true });
  symlinkSync(join(project.dir, 'secret.txt'), join(project.dir, 'groups/main/link.md'));
  const said: unknown[] = [];
  const chat: Work = async ({ prompt }, call) => {
    for (const input of JSON.parse(prompt)) said.push((await call('spawn', input)).value);
    return 'ok';
  };
  const child: Work = async (_, call) => {
    said.push((await call('spawn', { task: 'x' })).value);
    return await never();
  };
  const assistant = await startOn(project, { chat, child }, { ...ON, SPAWN_AT_ONCE: '1' });
  const ask = async (...inputs: object[]) => {
    said.length = 0;
    await assistant.terminal.say(JSON.stringify(inputs));
    await vi.waitFor(() =>
      expect(assistant.store.turns.counts()).toMatchObject({ queued: 0, unsent: 0 }),
    );
    await vi.waitFor(() => expect(said.length).toBeGreaterThanOrEqual(inputs.length));
    return [...said];
  };
  const missing = ['who', 'lost', 'link'].map((profile) => ({ task: 'x', profile }));
  expect(await ask(...missing)).toEqual([
    'There is no profile who. There are lost, link; without a name the usual one is taken.',
    'The profile names nowhere.md, which is not in the folder of the chat, nor in groups/global.',
    'The profile names link.md, which is not in the folder of the chat, nor in groups/global.',
  ]);
  write(project, profiles, 'a: [');
  expect(await ask({ task: 'x', profile: 'a' })).toEqual([
    expect.stringMatching(/^spawn-profiles\.yaml is no YAML: /),
  ]);
  write(project, profiles, 'a: { tool: [x] }');
  expect(await ask({ task: 'x', profile: 'a' })).toEqual([
    'spawn-profiles.yaml: a: Unrecognized key: "tool".',
  ]);
  expect(await ask({ task: '' })).toEqual([expect.stringContaining('The input does not fit')]);
  await ask({ task: 'x' });
  await vi.waitFor(() => expect(said).toContain('There is no host tool spawn.'));
  expect(await ask({ task: 'y' })).toEqual([
    'As many sub-agents are at work as may be (1). Try again later, or do it yourself.',
  ]);
  await assistant.stop(0);
});

test('`/stop` ends the one that is waited for; the others end by `/spawns stop`, or when their time is over', async () => {
  using project = new TestProject();
  const chat: Work = async ({ prompt }, call) => {
    // After a turn that was stopped, what it had done is told above the words.
    if (prompt === 'wait') return String((await call('spawn_await', { task: 'w' })).value);
    if (prompt.endsWith('go')) return String((await call('spawn', { task: 'g' })).value);
    return prompt.includes('too long') ? 'It took too long.' : 'what?';
  };
  const assistant = await startOn(project, { chat, child: never }, { ...ON, SPAWN_MINUTES: '5' });
  const { terminal, requests, clock } = assistant;
  await terminal.say('go');
  await vi.waitFor(() => expect(requests.filter(isChild)).toHaveLength(1));
  await terminal.say('wait');
  await vi.waitFor(() => expect(requests.filter(isChild)).toHaveLength(2));
  await terminal.say('/stop');
  await vi.waitFor(() => expect(textsOf(terminal)).toContain('Stopped.'));
  await vi.waitFor(async () =>
    expect(await command(assistant, '/spawns')).toMatch(
      /2\.\*\* w .*stopped.*\n.*1\.\*\* g .*at work/,
    ),
  );
  expect(await command(assistant, '/spawns stop 1')).toBe('Stopping sub-agent 1.');
  await isIdle(assistant);
  expect(await command(assistant, '/spawns stop 1')).toBe('Sub-agent 1 is not at work any more.');
  expect(await command(assistant, '/spawns stop 9')).toBe('There is no sub-agent 9.');
  expect(await command(assistant, '/spawns end 9')).toContain('Say `/spawns` for the list');
  await terminal.say('go');
  await vi.waitFor(() => expect(requests.filter(isChild)).toHaveLength(3));
  clock.pass(5 * 60_000);
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toBe('It took too long.'));
  expect(requests.at(-1)?.prompt).toContain('It took longer than 5 minutes.');
  await isIdle(assistant);
  await assistant.stop();
});

test('after a restart one goes on and tells, the one that was waited for is asked again, and results are still there', async () => {
  using project = new TestProject();
  const clock = new TestClock('2026-11-21T12:00:00Z');
  const chat: Work = async ({ prompt }, call) => {
    if (prompt === 'wait') return String((await call('spawn_await', { task: 'w' })).value);
    if (prompt === 'go') return String((await call('spawn', { task: 'g' })).value);
    return 'told';
  };
  const before = await startOn(project, { chat, child: never }, ON, clock);
  await before.terminal.say('go');
  await vi.waitFor(() => expect(before.requests.filter(isChild)).toHaveLength(1));
  await before.terminal.say('wait');
  await vi.waitFor(() => expect(before.requests.filter(isChild)).toHaveLength(2));
  await before.stop(0);
  const child: Work = async ({ prompt }) => `result of ${prompt}`;
  const after = await startOn(project, { chat, child }, ON, clock);
  await vi.waitFor(() =>
    expect(textsOf(after.terminal)).toEqual(expect.arrayContaining(['told', 'result of w'])),
  );
  await isIdle(after);
  expect(await command(after, '/spawns 1')).toContain('result of g');
  // The second was being stopped when it answered: nobody waited for it any more.
  expect(await command(after, '/spawns')).toMatch(
    /3\.\*\* w .*done.*\n.*2\.\*\* w .*(stopped|done)/,
  );
  await after.stop();
});

test('one that never ends is stopped in its time, although the clock was set back between', async () => {
  using project = new TestProject();
  const chat: Work = async ({ prompt }, call) =>
    prompt === 'go' ? String((await call('spawn', { task: 'g' })).value) : 'told';
  const limits = { ...ON, SPAWN_MINUTES: '5' };
  const before = await startOn(project, { chat, child: never }, limits);
  await before.terminal.say('go');
  await vi.waitFor(() => expect(before.requests.filter(isChild)).toHaveLength(1));
  await before.stop(0);
  const clock = new TestClock('2026-11-20T12:00:00Z');
  const after = await startOn(project, { chat, child: never }, limits, clock);
  await vi.waitFor(() => expect(after.requests.filter(isChild)).toHaveLength(1));
  expect(await command(after, '/spawns')).toMatch(/at work, 0 min$/);
  clock.pass(5 * 60_000);
  await vi.waitFor(() => expect(after.requests.at(-1)?.prompt).toContain('longer than 5 minutes'));
  await isIdle(after);
  expect(await command(after, '/spawns')).toMatch(/too long, 0 min$/);
  await after.stop();
});

test('a result that the agent cannot tell of is sent as it is', async () => {
  using project = new TestProject();
  const chat: Work = async ({ prompt }, call) => {
    if (prompt === 'go') return String((await call('spawn', { task: 'g' })).value);
    return { kind: 'failed', code: 'MODEL_FAILED', message: 'The model is gone.' };
  };
  const assistant = await startOn(project, { chat, child: async () => 'nine stars' });
  await assistant.terminal.say('go');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toHaveLength(2));
  expect(textsOf(assistant.terminal)[1]).toBe('Sub-agent 1 (“g”), done:\n\nnine stars');
  await isIdle(assistant);
  await assistant.stop();
});

test('it spends from the budget of its chat: where that is used up, none begins', async () => {
  using project = new TestProject();
  const chat: Work = async (_, call) => {
    assistant.store.budgets.set('main', { microUsd: 0, tokens: 0 });
    return String((await call('spawn_await', { task: 'g' })).value);
  };
  const assistant = await startOn(project, { chat, child: async () => 'nine stars' });
  await assistant.terminal.say('go');
  await vi.waitFor(() =>
    expect(textsOf(assistant.terminal)).toContainEqual(
      'The sub-agent gave no result (failed): It did not begin: the budget of the day is used up.',
    ),
  );
  expect(assistant.requests.filter(isChild)).toEqual([]);
  await isIdle(assistant);
  await assistant.stop();
});

test('a chat that starts another one at each result comes to an end, until somebody writes again', async () => {
  using project = new TestProject();
  const refused: unknown[] = [];
  const chat: Work = async (_, call) => {
    const { ok, value } = await call('spawn', { task: 'go on' });
    if (!ok) refused.push(value);
    return ok ? 'once more' : 'that is enough';
  };
  const assistant = await startOn(project, { chat, child: async () => 'Start another one.' });
  const { terminal, requests } = assistant;
  const children = () => requests.filter(isChild).length;
  await terminal.say('go');
  await vi.waitFor(() => expect(refused.length > 0 || children() > 20).toBe(true));
  await isIdle(assistant);
  expect(children()).toBe(4);
  expect(refused).toEqual([expect.stringContaining('Each was started at the result of another')]);
  await terminal.say('go');
  await vi.waitFor(() => expect(refused).toHaveLength(2));
  await isIdle(assistant);
  expect(children()).toBe(8);
  await assistant.stop();
});
