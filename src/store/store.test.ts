import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MESSAGES_SHOWN, openStore, type Store } from './store.ts';

const JID = 'terminal:main';
let folder: string;
let store: Store;
let clock = 1_000;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'claw-store-'));
  store = openStore({ path: join(folder, 'claw.db'), now: clock });
  register(JID, 'main');
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

function register(jid: string, name: string): void {
  store.chats.see({ jid, channel: 'test', name, isDirect: true }, clock);
  const isMain = name === 'main';
  const group = { jid, folder: name, name, needsTrigger: false, triggerWord: null, isMain };
  store.groups.register(group, clock);
}

function say(id: string, jid = JID): number | null {
  clock += 1;
  const message = { jid, id, sender: 'ada', senderName: 'Ada', isOwner: true, text: id, sentAt: 0 };
  return store.messages.add(message, clock);
}

function ask(id: string, jid = JID): void {
  store.turns.queueAgent({ id: `turn-${id}`, jid, seq: say(id, jid) ?? 0 }, clock);
}

const lease = (owner: string) => ({ owner, until: clock + 1_000 });
const end = (id: string, owner: string) => ({
  id,
  owner,
  jid: JID,
  state: 'answered' as const,
  error: null,
  messages: [{ messageId: `answer-${id}`, text: 'yes' }],
  session: { folder: 'main', session: 's1', before: null },
  question: null,
  run: null,
});

test('a message that a channel delivers twice is stored once', () => {
  expect(say('a')).toBe(1);
  expect(say('a')).toBeNull();
  expect(say('b')).toBeGreaterThan(1);
});

test('the message that asks is among those that its turn shows, however many come while it waits', () => {
  ask('first');
  for (let index = 2; index < MESSAGES_SHOWN; index += 1) say(`between ${index}`);
  ask('still in sight');
  ask('the next turn');
  const first = store.turns.claimNext('agent', lease('one'));
  expect([first?.fromSeq, first?.uptoSeq]).toEqual([1, MESSAGES_SHOWN]);
  store.finishTurn(end('turn-first', 'one'), clock);
  const second = store.turns.claimNext('agent', lease('one'));
  expect([second?.fromSeq, second?.uptoSeq]).toEqual([MESSAGES_SHOWN + 1, MESSAGES_SHOWN + 1]);
});

test('messages that wait for a turn are one turn, up to the moment it is claimed', () => {
  ask('a');
  ask('b');
  const turn = store.turns.claimNext('agent', lease('p1'));
  expect(turn).toMatchObject({ id: 'turn-a', fromSeq: 1, uptoSeq: 2, attempts: 1 });
  ask('c');
  expect(store.turns.claimNext('agent', lease('p1'))).toBeNull();
});

test('a turn begins after the last answered one, so what failed is asked again with the next', () => {
  ask('a');
  store.turns.claimNext('agent', lease('p1'));
  store.finishTurn(end('turn-a', 'p1'), clock);
  ask('b');
  store.turns.claimNext('agent', lease('p1'));
  store.finishTurn({ ...end('turn-b', 'p1'), state: 'failed', error: 'MODEL_FAILED' }, clock);
  ask('c');
  const turn = store.turns.claimNext('agent', lease('p1'));
  expect(turn).toMatchObject({ id: 'turn-c', fromSeq: 2, uptoSeq: 3 });
});

test('turns of other chats are claimed while one chat is busy, oldest first', () => {
  register('test:b', 'b');
  register('test:c', 'c');
  ask('a');
  ask('c', 'test:c');
  ask('b', 'test:b');
  const claimed = [1, 2, 3, 4].map(() => store.turns.claimNext('agent', lease('p1'))?.id);
  expect(claimed).toEqual(['turn-a', 'turn-c', 'turn-b', undefined]);
});

test('the end of a turn is its state, its answer and its session, or nothing of them', () => {
  ask('a');
  store.turns.claimNext('agent', lease('p1'));
  store.outbox.add({ messageId: 'taken', jid: JID, text: 'x' }, clock);
  const twice = { ...end('turn-a', 'p1'), messages: [{ messageId: 'taken', text: 'y' }] };
  expect(() => store.finishTurn(twice, clock)).toThrow(/UNIQUE/);
  expect(store.turns.isOpen(JID)).toBe(true);
  expect(store.sessions.get('main')).toBeNull();
  expect(store.finishTurn(end('turn-a', 'p1'), clock)).toBe(true);
  expect(store.turns.isOpen(JID)).toBe(false);
  expect(store.sessions.get('main')).toBe('s1');
});

test('a process that lost the lease writes nothing', () => {
  ask('a');
  store.turns.claimNext('agent', lease('p1'));
  store.turns.requeue('turn-a');
  store.turns.claimNext('agent', lease('p2'));
  expect(store.finishTurn(end('turn-a', 'p1'), clock)).toBe(false);
  expect(store.turns.renew('turn-a', lease('p1'))).toBe(false);
  expect(store.outbox.heads()).toEqual([]);
});

test('nothing can be queued for a chat that is not registered', () => {
  store.chats.see({ jid: 'test:stranger', channel: 'test', name: 'S', isDirect: false }, clock);
  const message = { messageId: 'm', jid: 'test:stranger', text: 'hello' };
  expect(() => store.outbox.add(message, clock)).toThrow(/FOREIGN KEY/);
});

test('a folder has one holder, whatever the case of its name', () => {
  expect(() => register('test:other', 'MAIN')).toThrow(/belongs to main already/);
});

test('a send of unknown outcome is repeated once and then left', () => {
  store.outbox.add({ messageId: 'm', jid: JID, text: 'x' }, clock);
  store.outbox.markSending('m');
  expect(store.outbox.heads()).toEqual([]);
  expect(store.outbox.recover(clock)).toEqual([]);
  expect(store.outbox.heads()).toMatchObject([{ messageId: 'm', repeats: 1 }]);
  store.outbox.markSending('m');
  const error = 'the assistant ended while this was being sent';
  expect(store.outbox.recover(clock)).toEqual([{ messageId: 'm', jid: JID, error }]);
  expect(store.outbox.heads()).toEqual([]);
  expect(store.outbox.hasUnsent(JID)).toBe(false);
});

test('a later message of a chat waits for the one before it', () => {
  store.outbox.add({ messageId: 'm1', jid: JID, text: '1' }, clock);
  store.outbox.add({ messageId: 'm2', jid: JID, text: '2' }, clock);
  store.outbox.postpone('m1', clock + 500, 'refused');
  expect(store.outbox.heads().map(({ messageId }) => messageId)).toEqual(['m1']);
  store.outbox.markSent('m1');
  expect(store.outbox.heads().map(({ messageId }) => messageId)).toEqual(['m2']);
});

test('open questions survive a restart if no running work waits for them', () => {
  const asked = { jid: JID, sender: null, payload: { text: 'Sure?' } };
  store.asks.open({ ...asked, id: 'a', number: 1, isClosing: false }, clock);
  store.asks.open({ ...asked, id: 'b', number: 2, isClosing: true }, clock);
  expect(store.asks.freeNumber(JID)).toBe(3);
  store.asks.answer('a', { word: 'yes' });
  expect(store.asks.byId('a')?.reply).toEqual({ word: 'yes' });
  store.asks.closeOrphans();
  expect(store.asks.inChat(JID)).toMatchObject([{ id: 'b', payload: { text: 'Sure?' } }]);
  expect(store.asks.freeNumber(JID)).toBe(1);
});
