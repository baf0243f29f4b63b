import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore, type Store } from '../store.ts';

const LID = '1000001@lid';
const PHONE = '4915111111111@s.whatsapp.net';
const FAMILY = '12036300@g.us';
let folder: string;
let store: Store;
let clock = 1_000;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'claw-merge-'));
  store = openStore({ path: join(folder, 'claw.db'), now: clock });
});

afterEach(() => {
  // Every reference still leads somewhere.
  const database = new Database(join(folder, 'claw.db'));
  expect(database.pragma('foreign_key_check')).toEqual([]);
  database.close();
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

function see(jid: string, name: string | null = null): void {
  clock += 1;
  store.chats.see({ jid, channel: 'whatsapp', name, isDirect: jid !== FAMILY }, clock);
}

function register(jid: string, folderName: string): void {
  see(jid);
  const trigger = { needsTrigger: false, triggerWord: null };
  store.groups.register(
    { jid, folder: folderName, name: folderName, ...trigger, isMain: false },
    clock,
  );
}

function say(jid: string, id: string, sender = jid): number {
  clock += 1;
  const message = { jid, id, sender, senderName: null, isOwner: false, text: id, sentAt: 0 };
  return store.messages.add(message, clock) ?? 0;
}

function ask(jid: string, id: string): void {
  store.turns.queueAgent({ id: `turn ${jid} ${id}`, jid, seq: say(jid, id) }, clock);
}

function claim() {
  const turn = store.turns.claimNext('agent', { owner: 'p', until: clock + 1_000 });
  if (turn === null) return null;
  const range = { jid: turn.jid, from: turn.fromSeq, upto: turn.uptoSeq };
  return { turn, asked: store.messages.between(range, 50).map(({ id }) => id) };
}

function answer(id: string, jid: string): void {
  const end = { state: 'answered', error: null, session: null, question: null, run: null } as const;
  const messages = [{ messageId: `out ${id}`, text: 'yes' }];
  store.finishTurn({ id, owner: 'p', jid, messages, ...end }, clock);
}

const textsOf = (jid: string) =>
  store.messages.between({ jid, from: 0, upto: clock * 1_000 }, 100).map(({ id }) => id);

function found(jid: string, text: string): readonly string[] {
  const ever = { from: 0, until: Number.MAX_SAFE_INTEGER, limit: 10 };
  return store.search.find({ jids: [jid], text, ...ever }).map((hit) => hit.text);
}

function addTask(folderName: string): number {
  const schedule = { kind: 'every', text: '1m', timeZone: 'UTC', anchor: 0 } as const;
  const how = { context: 'group', ifMissed: 'skip', nextRun: 5 } as const;
  const task = { folder: folderName, prompt: 'water the plants', createdBy: folderName };
  return store.tasks.add({ ...task, ...how, schedule }, clock);
}

test('every table that names chats or people is known to the merge', () => {
  const database = new Database(join(folder, 'claw.db'));
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .pluck()
    .all() as string[];
  const naming = tables.filter(
    (table) =>
      // The index of words follows `messages` and `answers` by itself.
      !table.includes('_words') &&
      (database.pragma(`table_info(${table})`) as { name: string }[]).some(({ name }) =>
        /^(jid|sender|.*_jid|chat)$/.test(name),
      ),
  );
  database.close();
  expect(naming.toSorted()).toEqual([
    'answers',
    'asks',
    'channel_senders',
    'chats',
    'folder_holders',
    'group_senders',
    'groups',
    'held_messages',
    'late_messages',
    'messages',
    'outbox',
    'questions',
    'reactions',
    'strangers',
    'turns',
  ]);
});

test('messages, turns, questions and settings of one address continue under the other', () => {
  register(LID, 'anna');
  see(PHONE, 'Anna');
  ask(LID, 'a');
  store.attachments.add(say(LID, 'photo'), [
    { kind: 'image', mimeType: null, sizeBytes: 1, name: null },
  ]);
  store.outbox.add({ messageId: 'm', jid: LID, text: 'hello' }, clock);
  const asked = { jid: LID, sender: LID, payload: {}, isClosing: false };
  store.asks.open({ ...asked, id: 'q', number: 1 }, clock);
  store.asks.open({ ...asked, id: 'r', number: 2, sender: null, isClosing: true }, clock);
  expect(found(LID, 'hello')).toEqual(['hello']);
  store.lateMessages.count(LID);
  store.heldMessages.add({ jid: LID, id: 'held', sender: LID, payload: { text: 'hm' } }, clock);
  store.senders.limitGroup(LID, [LID]);
  expect(store.mergeChats(LID, PHONE)).toMatchObject({
    group: { jid: PHONE, folder: 'anna' },
    leftFolder: null,
  });

  expect(store.groups.all().map(({ jid }) => jid)).toEqual([PHONE]);
  expect(store.chats.unregistered(10)).toEqual([]);
  expect(store.chats.byJid(PHONE)?.name).toBe('Anna');
  expect(textsOf(PHONE)).toEqual(['a', 'photo']);
  expect(store.messages.sendersOf(PHONE)).toMatchObject([{ sender: PHONE }]);
  expect(store.attachments.of(PHONE, 'photo')).toHaveLength(1);
  expect(store.outbox.heads()).toMatchObject([{ jid: PHONE, messageId: 'm' }]);
  expect(store.asks.inChat(PHONE)).toMatchObject([{ id: 'q', sender: PHONE }, { id: 'r' }]);
  expect(found(PHONE, 'hello')).toEqual(['hello']);
  expect(found(PHONE, 'photo')).toEqual(['photo']);
  expect(store.lateMessages.counted()).toEqual([{ name: 'anna', messages: 1 }]);
  const held = { jid: PHONE, sender: PHONE, id: 'held', payload: { text: 'hm' } };
  expect(store.heldMessages.next(PHONE)).toMatchObject(held);
  expect(store.heldMessages.next(LID)).toBeNull();
  expect(store.senders.ofGroup(PHONE)).toEqual([PHONE]);
  expect(store.folders.holder('anna')).toBe(PHONE);
  expect(claim()).toMatchObject({ turn: { jid: PHONE }, asked: ['a'] });
  store.removeGroup(PHONE);
  expect(found(PHONE, '')).toEqual([]);
  expect(store.heldMessages.counted()).toEqual([]);
});

test('a turn that runs meanwhile ends in the chat that there is now', () => {
  register(LID, 'anna');
  ask(LID, 'a');
  const id = claim()?.turn.id ?? '';
  store.mergeChats(LID, PHONE);
  answer(id, LID);
  expect(store.outbox.heads()).toMatchObject([{ jid: PHONE, text: 'yes' }]);
  expect(store.groups.byJid(LID)).toMatchObject({ jid: PHONE });
  expect(store.chats.current(LID)).toBe(PHONE);
});

test('the older of two registrations continues, with the tasks of both; the other folder stays', () => {
  register(LID, 'older');
  register(PHONE, 'newer');
  const task = addTask('newer');
  ask(LID, 'a');
  ask(PHONE, 'b');
  store.senders.limitGroup(PHONE, ['ben']);
  store.senders.limitGroup(LID, ['ada']);
  expect(store.mergeChats(LID, PHONE)).toMatchObject({
    group: { jid: PHONE, folder: 'older', name: 'older' },
    leftFolder: 'newer',
  });
  expect(store.groups.all()).toMatchObject([{ jid: PHONE, folder: 'older' }]);
  expect(store.tasks.open('older').map(({ id }) => id)).toEqual([task]);
  expect(store.folders.holder('newer')).toBe(PHONE);
  expect(store.senders.ofGroup(PHONE)).toEqual(['ada']);
  // One answer to all that waits, and none left over.
  const claimed = claim();
  expect(claimed?.asked).toEqual(['a', 'b']);
  answer(claimed?.turn.id ?? '', PHONE);
  expect(claim()).toBeNull();
});

test.each(['under the address that goes', 'under the address that stays'])(
  'the owner’s own chat stays theirs, %s',
  (where) => {
    const [own, other] = where.endsWith('goes') ? [LID, PHONE] : [PHONE, LID];
    register(other, 'me-too');
    see(own);
    store.groups.registerMain({ jid: own, name: 'Me' }, clock);
    expect(store.mergeChats(LID, PHONE)).toMatchObject({
      group: { jid: PHONE, folder: 'main', isMain: true },
      leftFolder: 'me-too',
    });
    expect(store.groups.mains().map(({ jid }) => jid)).toEqual([PHONE]);
  },
);

test('a message that was stored under both addresses is kept once, and asked once', () => {
  register(LID, 'anna');
  register(PHONE, 'anna-2');
  ask(LID, 'same');
  ask(PHONE, 'same');
  ask(PHONE, 'more');
  store.mergeChats(LID, PHONE);
  expect(textsOf(PHONE)).toEqual(['same', 'more']);
  expect(claim()?.asked).toEqual(['same', 'more']);
  expect(claim()).toBeNull();
});

test('a waiting message of one chat does not count as answered by a later answer in the other', () => {
  register(LID, 'anna');
  register(PHONE, 'anna-2');
  ask(LID, 'open');
  ask(PHONE, 'asked');
  const first = claim();
  store.turns.release(first?.turn.id ?? '', 'p');
  const lease = { owner: 'p', until: clock + 1_000 };
  const both = [store.turns.claimNext('agent', lease), store.turns.claimNext('agent', lease)];
  answer(both.find((turn) => turn?.jid === PHONE)?.id ?? '', PHONE);
  store.turns.release(first?.turn.id ?? '', 'p');
  store.mergeChats(LID, PHONE);
  expect(claim()?.asked).toContain('open');
});

test('a person’s words and rights in groups are theirs under the other address', () => {
  register(FAMILY, 'family');
  say(FAMILY, 'hello', LID);
  store.senders.limitGroup(FAMILY, [LID, PHONE]);
  store.senders.setChannel('whatsapp', [LID]);
  store.strangers.count('whatsapp', LID, clock);
  store.mergeChats(LID, PHONE);
  expect(store.messages.sendersOf(FAMILY)).toMatchObject([{ sender: PHONE }]);
  expect(store.senders.ofGroup(FAMILY)).toEqual([PHONE]);
  expect(store.senders.mayWrite('whatsapp', PHONE)).toBe(true);
  expect(store.strangers.counted()).toMatchObject({ senders: 1 });
  expect(store.chats.byJid(PHONE)).toBeNull();
});

test('merging again, back, and chats that nobody knows changes nothing that counts', () => {
  register(LID, 'anna');
  say(LID, 'a');
  store.mergeChats(LID, PHONE);
  store.mergeChats(LID, PHONE);
  expect(textsOf(PHONE)).toEqual(['a']);
  expect(store.mergeChats('x@lid', 'y@lid')).toEqual({ group: null, leftFolder: null });
  store.mergeChats(PHONE, LID);
  expect(textsOf(LID)).toEqual(['a']);
  expect(store.groups.byJid(PHONE)).toMatchObject({ jid: LID, folder: 'anna' });
});

test('a chat that was taken out stays out, unless the other one is registered', () => {
  see(LID);
  store.chats.dismiss(LID);
  store.mergeChats(LID, PHONE);
  expect(store.chats.isDismissed(PHONE)).toBe(true);
  register('2@lid', 'ben');
  see('3@lid');
  store.chats.dismiss('3@lid');
  store.mergeChats('3@lid', '2@lid');
  expect(store.chats.isDismissed('2@lid')).toBe(false);
});

test('a question that an older tree asked, and that went on in the new table, keeps no two chats apart', () => {
  register(LID, 'anna');
  see(PHONE);
  const database = new Database(join(folder, 'claw.db'));
  const insert = "INSERT INTO questions (jid, payload, asked_at) VALUES (?, '{}', 1)";
  database.prepare(insert).run(LID);
  const ask = { jid: LID, number: 1, sender: null, payload: {}, isClosing: true };
  store.asks.open({ ...ask, id: `question:${LID}` }, clock);
  expect(store.mergeChats(LID, PHONE)).toMatchObject({ group: { jid: PHONE } });
  expect(store.asks.inChat(PHONE)).toHaveLength(1);
  // After a way back it would be open under an address at which nobody closes it.
  expect(database.prepare('SELECT jid FROM questions').all()).toEqual([]);
  database.close();
});

test('if a chat restarts its message ids, no new message counts as an old one', () => {
  const [small, large] = ['telegram:-5', 'telegram:-1005'];
  const say = (jid: string, id: string, text: string) =>
    store.messages.add(
      { jid, id, sender: 'ada', senderName: 'Ada', isOwner: false, text, sentAt: 1 },
      1,
    );
  store.chats.see({ jid: small, channel: 'telegram', name: 'Family', isDirect: false }, 1);
  const group = { folder: 'family', name: 'Family', needsTrigger: false, triggerWord: null };
  store.groups.register({ ...group, jid: small, isMain: false }, 1);
  say(small, '1', 'before');
  for (const _ of ['told by the update', 'told by an error']) {
    store.mergeChats(small, large, { countsAnew: true });
  }
  expect(say(large, '1', 'after')).not.toBeNull();
  expect(store.messages.between({ jid: large, from: 0, upto: 99 }, 9)).toMatchObject([
    { id: 'telegram:-5/1', text: 'before' },
    { id: '1', text: 'after' },
  ]);
  expect(store.groups.byJid(small)).toMatchObject({ jid: large, folder: 'family' });
});
