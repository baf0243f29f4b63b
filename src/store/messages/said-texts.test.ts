import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../store.ts';

const JID = 'chat:1';

test('texts are read on from a cursor, without commands; a deletion changes their extent', () => {
  const folder = mkdtempSync(join(tmpdir(), 'claw-said-'));
  const store = openStore({ path: join(folder, 'claw.db'), now: 1 });
  const register = () => {
    store.chats.see({ jid: JID, channel: 'chat', name: 'Family', isDirect: false }, 1);
    const group = { jid: JID, folder: 'family', name: 'Family', isMain: false };
    store.groups.register({ ...group, needsTrigger: false, triggerWord: null }, 1);
  };
  const say = (text: string) =>
    store.messages.add(
      { jid: JID, id: text, sender: 'b', senderName: 'Bob', isOwner: false, text, sentAt: 7 },
      8,
    ) ?? 0;
  register();
  const first = say('one');
  store.turns.queueCommand({ id: 't1', jid: JID, seq: say('/status') }, null, 9);
  const third = say('three');
  const message = { jid: JID, kind: 'message' } as const;
  expect(store.said.after({ ...message, seq: 0 }, 10)).toEqual([
    { seq: first, sender: 'Bob', saidAt: 7, text: 'one' },
    { seq: third, sender: 'Bob', saidAt: 7, text: 'three' },
  ]);
  expect(store.said.after({ ...message, seq: first }, 10)).toHaveLength(1);
  expect(store.said.extent({ ...message, seq: third })).toEqual({ first, count: 3 });
  expect(store.said.extent({ jid: JID, kind: 'answer', seq: 0 })).toEqual({
    first: null,
    count: 0,
  });
  store.removeGroup(JID);
  register();
  const again = say('one');
  expect(store.said.extent({ ...message, seq: third })).toEqual({ first: again, count: 0 });
  store.close();
  rmSync(folder, { recursive: true });
});

test('answers and progress of commands are the host’s words, and do not count as said', () => {
  const folder = mkdtempSync(join(tmpdir(), 'claw-said-'));
  const store = openStore({ path: join(folder, 'claw.db'), now: 1 });
  store.chats.see({ jid: JID, channel: 'chat', name: 'Family', isDirect: false }, 1);
  const group = { jid: JID, folder: 'family', name: 'Family', isMain: false };
  store.groups.register({ ...group, needsTrigger: false, triggerWord: null }, 1);
  const message = { jid: JID, id: 'm', sender: 'b', senderName: 'Bob', isOwner: true, sentAt: 7 };
  const seq = store.messages.add({ ...message, text: '/status' }, 8) ?? 0;
  store.turns.queueCommand({ id: 'command', jid: JID, seq }, null, 9);
  const say = (text: string, about: object) =>
    store.outbox.add({ messageId: text, jid: JID, text, ...about }, 10);
  say('All is well', { turnId: 'command' });
  say('Installing', { turnId: 'agent', isProgress: true });
  say('May it?', { turnId: 'agent', choices: { question: 'q', options: [] } });
  say('The answer', { turnId: 'agent' });
  const answers = store.said.after({ jid: JID, kind: 'answer', seq: 0 }, 10);
  expect(answers.map(({ text }) => text)).toEqual(['The answer']);
  expect(store.said.extent({ jid: JID, kind: 'answer', seq: 9 })).toMatchObject({ count: 4 });
  store.close();
  rmSync(folder, { recursive: true });
});
