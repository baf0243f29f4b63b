import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MESSAGES_SHOWN, openStore, type Store } from '../store.ts';

const JID = 'test:main';
const ME = { owner: 'me', until: 0 };
let folder: string;
let store: Store;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'claw-follow-'));
  store = openStore({ path: join(folder, 'claw.db'), now: 1 });
  for (const jid of [JID, 'test:phone']) {
    store.chats.see({ jid, channel: 'test', name: jid, isDirect: true }, 1);
    const trigger = { needsTrigger: false, triggerWord: null };
    store.groups.register({ jid, folder: 'main', name: jid, ...trigger, isMain: true }, 1);
  }
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

function say(id: string, jid = JID): number {
  const said = { sender: 'ada', senderName: null, isOwner: true, text: id, sentAt: 0 };
  return store.messages.add({ jid, id, ...said }, 1) ?? 0;
}

function ask(id: string, jid = JID): number {
  const seq = say(id, jid);
  store.turns.queueAgent({ id, jid, seq }, 1);
  return seq;
}

test('a question during a turn waits, and is part of the turn once it was taken', () => {
  ask('one');
  store.turns.claimNext('agent', ME);
  expect(store.followUps.waiting('one')).toBeNull();
  const context = say('by the way');
  const two = ask('two');
  expect(store.followUps.waiting('one')).toEqual({ jid: JID, from: context, upto: two });
  expect(store.turns.counts()).toMatchObject({ queued: 1, running: 1 });
  expect(store.followUps.take('one', 'me', two)).toBe(true);
  expect(store.turns.counts()).toMatchObject({ queued: 0, running: 1 });
  expect(store.followUps.waiting('one')).toBeNull();
  // Given back, it is asked again with all of it.
  store.turns.release('one', 'me');
  expect(store.turns.claimNext('agent', ME)).toMatchObject({ id: 'one', uptoSeq: two });
});

test('a question that arrives after an offer still waits when the offer is taken', () => {
  ask('one');
  store.turns.claimNext('agent', ME);
  const two = ask('two');
  const three = ask('three');
  store.followUps.take('one', 'me', two);
  expect(store.followUps.waiting('one')).toEqual({ jid: JID, from: three, upto: three });
  const end = { id: 'one', jid: JID, owner: 'me', state: 'answered' as const, error: null };
  store.finishTurn({ ...end, messages: [], session: null, question: null, run: null }, 1);
  expect(store.turns.claimNext('agent', ME)).toMatchObject({ fromSeq: three, uptoSeq: three });
});

test('neither a command, a task nor another chat of the owner follows up', () => {
  ask('one');
  store.turns.claimNext('agent', ME);
  store.turns.queueCommand({ id: 'command', jid: JID, seq: say('/status') }, { kind: 'run' }, 1);
  store.turns.queueTask({ id: 'task', jid: JID, taskId: 1, seesChat: true }, 1);
  ask('elsewhere', 'test:phone');
  expect(store.followUps.waiting('one')).toBeNull();
});

test('a process that has lost the turn takes nothing', () => {
  ask('one');
  store.turns.claimNext('agent', ME);
  const two = ask('two');
  expect(store.followUps.take('one', 'another', two)).toBe(false);
  expect(store.turns.counts()).toMatchObject({ queued: 1 });
});

test('more messages than an agent is shown at once arrive as several follow-ups', () => {
  ask('one');
  store.turns.claimNext('agent', ME);
  const asked = Array.from({ length: MESSAGES_SHOWN + 1 }, (_, index) => ask(`more ${index}`));
  const shown = asked.at(MESSAGES_SHOWN - 1);
  expect(store.followUps.waiting('one')?.upto).toBe(shown);
  store.followUps.take('one', 'me', shown ?? 0);
  expect(store.followUps.waiting('one')).toEqual({
    jid: JID,
    from: asked.at(-1),
    upto: asked.at(-1),
  });
});
