import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { HostLog } from '../../../src/host/contracts/log.ts';
import {
  discoverServices,
  type RunningService,
  type ServiceContext,
} from '../../../src/host/contracts/service.ts';
import { openServices } from '../../../src/host/services/services.ts';
import type { ChooseModels } from '../../../src/model/routing.ts';
import type { TurnOutcome } from '../../../src/sandbox/sandbox.ts';
import { openReadOnly } from '../../../src/store/open-read-only.ts';
import { type AgentScript, answers, TestProject, textsOf } from '../../../src/testing/assistant.ts';
import { TestClock } from '../../../src/testing/clock.ts';
import { testModel } from '../../../src/testing/model/test-model.ts';
import { isIdle } from '../../../src/testing/turn/tasks.ts';

const START = '2026-11-21T12:00:00Z';
const HALF_AN_HOUR = 30 * 60_000;

/** Writes the list of a folder, as the owner or the agent does. */
function list(project: TestProject, text: string, folder = 'main'): void {
  mkdirSync(join(project.dir, 'groups', folder), { recursive: true });
  writeFileSync(join(project.dir, 'groups', folder, 'HEARTBEAT.md'), text);
}

/** Starts an assistant whose clock is the test's. */
async function startOn(
  project: TestProject,
  agent: AgentScript,
  environment: Readonly<Record<string, string>> = {},
  clock = new TestClock(START),
  more: { readonly chooseModels?: ChooseModels; readonly log?: HostLog } = {},
) {
  const { services } = openServices(await discoverServices(), environment);
  const running = new Map<string, RunningService>();
  const known = services.map(({ name, value: start }) => ({
    name,
    async value(context: ServiceContext) {
      const service = await start(context);
      running.set(name, service);
      return service;
    },
  }));
  const over = { services: known, now: clock.now, setTimer: clock.setTimer, ...more };
  const assistant = await project.start({ agent, over });
  // The line that `/status` shows, which starts a program for the rest of its answer.
  const status = () => running.get('heartbeat')?.status();
  return { ...assistant, clock, project, status };
}

type Started = Awaited<ReturnType<typeof startOn>>;

/** Lets time pass to one beat after the other; each has ended before the next. */
async function beat(assistant: Started, times = 1): Promise<void> {
  for (let number = 0; number < times; number += 1) {
    const before = sumOf(countsOf(assistant));
    assistant.clock.pass(HALF_AN_HOUR);
    await vi.waitFor(() => expect(sumOf(countsOf(assistant))).toBe(before + 1));
    await isIdle(assistant);
  }
}

/** Returns how often each end of a beat was counted. */
function countsOf({ project }: Started): Readonly<Record<string, number>> {
  const database = openReadOnly(join(project.dir, 'data/databases/service-heartbeat.db'));
  try {
    const rows = database.prepare('SELECT outcome, sum(number) AS number FROM beats GROUP BY 1');
    const Row = z.object({ outcome: z.string(), number: z.int() });
    return Object.fromEntries(rows.all().map((row) => Object.values(Row.parse(row))));
  } finally {
    database.close();
  }
}

const sumOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, one) => sum + one, 0);

/** An agent that says what the test has put there, and keeps what it was asked. */
function speaker(...said: (string | TurnOutcome)[]) {
  const prompts: string[] = [];
  const agent: AgentScript = async ({ prompt }) => {
    prompts.push(prompt);
    const next = said.shift() ?? 'HEARTBEAT_OK';
    return typeof next === 'string' ? answers(next) : next;
  };
  return { agent, prompts };
}

const FAILED: TurnOutcome = { kind: 'failed', code: 'MODEL_FAILED', message: 'The model is gone.' };

test('S2-19: every 30 minutes the list is looked at; one without anything on it costs no call of a model', async () => {
  using project = new TestProject();
  list(project, '# Heartbeat\n\n<!-- - water\nthe plants -->\n- [ ]\n');
  const { agent, prompts } = speaker();
  const assistant = await startOn(project, agent);
  await beat(assistant, 2);
  expect(prompts).toEqual([]);
  list(project, '# Heartbeat\n- is the cellar dry?\n');
  await beat(assistant);
  expect(prompts).toEqual([
    expect.stringMatching(/This is your heartbeat.*answer HEARTBEAT_OK and nothing/s),
  ]);
  expect(prompts[0]).toMatch(/main\/HEARTBEAT\.md says:\n# Heartbeat\n- is the cellar dry\?$/);
  expect(assistant.status()).toBe(
    'every 30 minutes, all day (UTC); today 1 quiet, 2 skipped (HEARTBEAT.md lists nothing); next Sat 21 Nov 2026, 14:00',
  );
  await assistant.stop();
});

test('S2-20: HEARTBEAT_OK at either end is silent, anything else goes to the chat the owner last wrote in', async () => {
  using project = new TestProject();
  list(project, '- is the cellar dry?', 'global');
  const said = ['HEARTBEAT_OK', '**HEARTBEAT_OK**', 'All dry.\n\nHEARTBEAT_OK.', 'HEARTBEAT_OKAY'];
  const { agent, prompts } = speaker('hello', ...said, 'The cellar is wet.');
  const logged: string[] = [];
  const none = () => {};
  const log = { debug: (text: string) => logged.push(text), info: none, warn: none, error: none };
  const assistant = await startOn(project, agent, {}, undefined, { log });
  const { terminal, chat, store } = assistant;
  store.chats.see({ jid: 'chat:own', channel: 'chat', name: 'Ada', isDirect: true }, 1);
  store.groups.registerMain({ jid: 'chat:own', name: 'Ada' }, 1);
  await chat.say('hello', { jid: 'chat:own', isOwner: true });
  await isIdle(assistant);
  await beat(assistant, 3);
  expect(textsOf(chat)).toEqual(['hello']);
  expect(logged).toEqual(Array(3).fill('the heartbeat has nothing to say'));
  await beat(assistant, 2);
  expect(prompts.at(-1)).toContain('global/HEARTBEAT.md says:');
  expect(textsOf(chat)).toEqual(['hello', 'HEARTBEAT_OKAY', 'The cellar is wet.']);
  expect(textsOf(terminal)).toEqual([]);
  expect(countsOf(assistant)).toEqual({ quiet: 3, said: 2 });
  await assistant.stop();
});

test('outside its hours, and while a chat of the owner’s is busy, a beat is left out', async () => {
  using project = new TestProject();
  list(project, '- is the cellar dry?');
  const { promise, resolve } = Promise.withResolvers<void>();
  const prompts: string[] = [];
  const agent: AgentScript = async ({ prompt }) => {
    prompts.push(prompt);
    if (prompt === 'a long story') await promise;
    return answers('HEARTBEAT_OK');
  };
  // In Berlin it is 13:00: the hours begin at 14:00 and go over midnight.
  const assistant = await startOn(project, agent, {
    HEARTBEAT_HOURS: '14:00-01:00',
    HEARTBEAT_TIME_ZONE: 'Europe/Berlin',
  });
  await beat(assistant);
  expect(prompts).toEqual([]);
  expect(assistant.status()).toMatch(
    /^every 30 minutes, 14:00–01:00 \(Europe\/Berlin\); today 1 outside the hours; next .*, 14:00$/,
  );
  await beat(assistant);
  expect(prompts).toHaveLength(1);
  await assistant.terminal.say('a long story');
  await vi.waitFor(() => expect(prompts).toContain('a long story'));
  assistant.clock.pass(HALF_AN_HOUR);
  await vi.waitFor(() => expect(countsOf(assistant)).toMatchObject({ busy: 1 }));
  resolve();
  await isIdle(assistant);
  expect(prompts).toHaveLength(2);
  await assistant.stop();
});

test('beats that a stop has missed are made up for by one, and a beat that was under way is not doubled', async () => {
  using project = new TestProject();
  list(project, '- is the cellar dry?');
  const first = speaker('HEARTBEAT_OK');
  const clock = new TestClock(START);
  const before = await startOn(project, first.agent, {}, clock);
  await beat(before);
  await before.stop();
  clock.moveTo('2026-11-21T20:10:00Z');
  const second = speaker('HEARTBEAT_OK', 'HEARTBEAT_OK');
  const after = await startOn(project, second.agent, {}, clock);
  clock.pass(59_000);
  await isIdle(after);
  expect(second.prompts).toHaveLength(0);
  clock.pass(1_000);
  await vi.waitFor(() => expect(second.prompts).toHaveLength(1));
  await isIdle(after);
  clock.pass(HALF_AN_HOUR - 1_000);
  await isIdle(after);
  expect(second.prompts).toHaveLength(1);
  await after.stop();
  // Killed at once after a beat was due, the next process does not beat again before its time.
  const third = speaker('HEARTBEAT_OK');
  const again = await startOn(project, third.agent, {}, clock);
  clock.pass(59_000);
  await isIdle(again);
  expect(third.prompts).toHaveLength(0);
  clock.pass(1_000);
  await vi.waitFor(() => expect(third.prompts).toHaveLength(1));
  await isIdle(again);
  await again.stop();
});

test('after the clock was set back by a day, the next beat comes in its time', async () => {
  using project = new TestProject();
  list(project, '- is the cellar dry?');
  const { agent, prompts } = speaker();
  const clock = new TestClock(START);
  const before = await startOn(project, agent, {}, clock);
  await beat(before);
  clock.moveTo('2026-11-20T12:30:00Z');
  clock.pass(60_000);
  await beat(before);
  await before.stop();
  const after = await startOn(project, agent, {}, clock);
  await beat(after);
  expect(prompts).toHaveLength(3);
  await after.stop();
});

test('a failing heartbeat is told once, until it works again; one without a budget is only counted', async () => {
  using project = new TestProject();
  list(project, '- is the cellar dry?');
  const { agent } = speaker(FAILED, FAILED, 'HEARTBEAT_OK', FAILED);
  const assistant = await startOn(project, agent);
  await beat(assistant, 4);
  expect(textsOf(assistant.terminal)).toEqual([
    expect.stringMatching(/^The heartbeat failed: The model is gone\.\n\nIt goes on; while/),
    expect.stringMatching(/^The heartbeat failed/),
  ]);
  assistant.store.budgets.set('main', { microUsd: 0, tokens: 0 });
  await beat(assistant);
  expect(countsOf(assistant)).toEqual({ quiet: 1, failed: 3, unpaid: 1 });
  await assistant.stop();
});

test('it has a prompt, a conversation and a model of its own where they are set', async () => {
  using project = new TestProject();
  list(project, '- is the cellar dry?');
  const routed: string[] = [];
  const sessions: (string | null)[] = [];
  const agent: AgentScript = async ({ prompt, session }) => {
    sessions.push(session);
    return answers(prompt === 'hello' ? 'hi' : 'HEARTBEAT_OK');
  };
  const chooseModels: ChooseModels = async ({ taskType, prompt }) => {
    // Each turn asks for its work aside as well.
    if (!['summary', 'subagent'].includes(taskType)) routed.push(`${taskType}: ${prompt}`);
    return { kind: 'models', models: [testModel()] };
  };
  const own = { HEARTBEAT_PROMPT: 'Guard the house.' };
  const inGroup = await startOn(project, agent, own, new TestClock(START), { chooseModels });
  await inGroup.terminal.say('hello');
  await isIdle(inGroup);
  await beat(inGroup);
  expect(routed[1]).toMatch(/^heartbeat: .*Guard the house\.\n\nIf nothing needs/s);
  await inGroup.stop();
  const alone = await startOn(project, agent, { HEARTBEAT_CONTEXT: 'isolated' }, inGroup.clock);
  await beat(alone);
  expect(sessions).toEqual([null, 's1', null]);
  await alone.stop();
});

test('a link in place of the list is not followed', async () => {
  using project = new TestProject({ 'secret.txt': 'the key' });
  mkdirSync(join(project.dir, 'groups/main'), { recursive: true });
  symlinkSync(join(project.dir, 'secret.txt'), join(project.dir, 'groups/main/HEARTBEAT.md'));
  const { agent, prompts } = speaker();
  const assistant = await startOn(project, agent);
  await beat(assistant);
  expect(prompts).toEqual([]);
  expect(countsOf(assistant)).toEqual({ empty: 1 });
  rmSync(join(project.dir, 'groups/main/HEARTBEAT.md'));
  await assistant.stop();
});

test.for([
  ['HEARTBEAT_MINUTES', '0', 'must be a whole number from 5 to 1440, not "0"'],
  ['HEARTBEAT_HOURS', '25:00-26:00', expect.stringContaining('must be two times such as')],
  ['HEARTBEAT_HOURS', '08:00-08:00', expect.stringContaining('must be two times such as')],
  ['HEARTBEAT_TIME_ZONE', '+02:00', expect.stringContaining('must be the name of a time zone')],
] as const)('%s=%s is refused with what it should be', async ([name, value, problem]) => {
  const { silent } = openServices(await discoverServices(), { [name]: value });
  // Other skills may be in the tree, and off.
  const own = silent.filter((one) => one.name === 'heartbeat');
  expect(own).toMatchObject([{ wrong: [{ name, problem }] }]);
});
