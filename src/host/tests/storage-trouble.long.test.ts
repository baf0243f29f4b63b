import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { readSettings } from '../../config.ts';
import { type AgentScript, answers, TestProject, textsOf } from '../../testing/assistant.ts';
import { DEFAULT_TIMEOUTS } from '../contracts/options.ts';
import { openRunningTurns } from '../turns/running-turns.ts';
import { openTurnQueue } from '../turns/turn-queue.ts';
import { answered } from '../turns/turn-result.ts';

/** Longer than the assistant's own connection waits for another one. */
const HELD_MS = 2_100;
const TIMEOUTS = { ...DEFAULT_TIMEOUTS, retryMs: 400 };
const PING = {
  id: 'ping',
  sender: 'ada',
  senderName: null,
  isOwner: true,
  text: 'ping',
  sentAt: 1,
};

/** Takes the database for itself for a while, as a program that writes to it may. */
function hold(project: TestProject): void {
  const other = new Database(join(project.dir, 'data/claw.db'));
  other.exec('BEGIN IMMEDIATE');
  setTimeout(() => other.close(), HELD_MS);
}

test('an answer that was given is sent, once, whoever holds the database at that moment', async () => {
  using project = new TestProject();
  const agent = vi.fn<AgentScript>(async () => {
    hold(project);
    return answers('pong');
  });
  const assistant = await project.start({ agent, over: { timeouts: TIMEOUTS } });
  await assistant.terminal.say('ping');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toEqual(['pong']));
  expect(agent).toHaveBeenCalledTimes(1);
  await assistant.stop();
});

test('a message that was sent is not sent again because that could not be written down', async () => {
  using project = new TestProject();
  const assistant = await project.start({ over: { timeouts: TIMEOUTS } });
  const send = assistant.terminal.send.bind(assistant.terminal);
  assistant.terminal.send = async (message) => {
    await send(message);
    hold(project);
  };
  await assistant.terminal.say('ping');
  const isSent = () => !assistant.store.outbox.hasUnsent('terminal:main');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toEqual(['pong']));
  await vi.waitFor(() => expect(isSent()).toBe(true));
  expect(textsOf(assistant.terminal)).toEqual(['pong']);
  await assistant.stop();
});

test('a turn that cannot be claimed now is claimed later', async () => {
  using project = new TestProject();
  const { store, stop } = await project.start({ over: { timeouts: TIMEOUTS } });
  const seq = store.messages.add({ ...PING, jid: 'terminal:main' }, 1) ?? 0;
  store.turns.queueAgent({ id: 'turn', jid: 'terminal:main', seq }, 1);
  const turnQueue = openTurnQueue({
    store,
    timeouts: TIMEOUTS,
    settings: readSettings({}, project.dir),
    instance: 'other',
    now: () => 1,
    newId: () => 'answer',
    log: { info() {}, warn() {}, error() {} },
    runAgent: async () => answered('pong'),
    runCommand: async () => answered('done'),
    running: openRunningTurns(async () => {}),
    toTell: (_turn, result) => result,
    records: { store() {}, forget() {} },
    onEnded: () => {},
    onBegan: () => () => {},
    onGivenBack: () => {},
  });
  hold(project);
  turnQueue.wake();
  expect(store.turns.isOpen('terminal:main')).toBe(true);
  await vi.waitFor(() => expect(store.outbox.heads()).toMatchObject([{ text: 'pong' }]));
  await turnQueue.drain(0);
  await stop();
});
