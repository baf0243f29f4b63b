import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '../database.ts';
import { discoverMigrations } from '../migrations.ts';
import { openStore, type Store } from '../store.ts';

const TERMINAL = 'terminal:main';
const PHONE = '4917@s.whatsapp.net';
let folder: string;
let store: Store;
let clock = 1_000;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'claw-groups-'));
  store = openStore({ path: join(folder, 'claw.db'), now: clock });
  see(TERMINAL, 'terminal');
  store.groups.registerMain({ jid: TERMINAL, name: 'Terminal' }, clock);
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

function see(jid: string, channel = 'whatsapp'): void {
  clock += 1;
  store.chats.see({ jid, channel, name: jid, isDirect: true }, clock);
}

function register(jid: string, name: string): void {
  see(jid);
  const group = { jid, folder: name, name, needsTrigger: true, triggerWord: null, isMain: false };
  store.groups.register(group, clock);
}

function say(jid: string, text: string, over = {}): number {
  clock += 1;
  const message = { jid, id: text, sender: 'ada', senderName: 'Ada', isOwner: true, text };
  return store.messages.add({ ...message, sentAt: 0, ...over }, clock) ?? 0;
}

function ask(jid: string, text: string): void {
  store.turns.queueAgent({ id: `turn ${text}`, jid, seq: say(jid, text) }, clock);
}

const lease = () => ({ owner: 'p1', until: clock + 1_000 });

test('the owner has a chat on each channel, both with the folder main', () => {
  see(PHONE);
  store.groups.registerMain({ jid: PHONE, name: 'You' }, clock);
  expect(store.groups.all()).toMatchObject([
    { jid: TERMINAL, folder: 'main', isMain: true },
    { jid: PHONE, folder: 'main', isMain: true },
  ]);
  say(PHONE, 'a');
  expect(store.groups.main()?.jid).toBe(PHONE);
  expect(store.groups.byFolder('main')?.jid).toBe(PHONE);
  say(TERMINAL, 'b');
  say(PHONE, 'c', { isOwner: false });
  expect(store.groups.mains().map(({ jid }) => jid)).toEqual([TERMINAL, PHONE]);
});

test('after a new pairing the chat of the old number is nobody of the owner any more', () => {
  see(PHONE);
  store.groups.registerMain({ jid: PHONE, name: 'You' }, clock);
  see('4918@s.whatsapp.net');
  store.groups.registerMain({ jid: '4918@s.whatsapp.net', name: 'You' }, clock);
  expect(store.groups.byJid(PHONE)).toBeNull();
  expect(store.groups.mains().map(({ jid }) => jid)).toEqual([TERMINAL, '4918@s.whatsapp.net']);
});

test('a database of the first version keeps its groups, and whose folders they are', () => {
  const core = join(import.meta.dirname, '../migrations/core');
  const migrationsDir = join(folder, 'migrations');
  cpSync(join(core, '1.sql'), join(migrationsDir, 'core/1.sql'), { recursive: true });
  const path = join(folder, 'old.db');
  const database = openDatabase(path, discoverMigrations(migrationsDir), clock);
  database.exec(`
    INSERT INTO chats VALUES ('terminal:main', 'terminal', 'T', 1, 1), ('a@g.us', 'x', 'A', 0, 1);
    INSERT INTO groups VALUES ('terminal:main', 'main', 'T', 0, NULL, 1, 1),
      ('a@g.us', 'family', 'A', 1, '@a', 0, 2);`);
  database.close();
  const newer = openStore({ path, now: clock });
  expect(newer.groups.all()).toMatchObject([
    { folder: 'main', isMain: true },
    { folder: 'family', triggerWord: '@a' },
  ]);
  expect(newer.folders.of('a@g.us')).toBe('family');
  newer.close();
});

test('a chat that was registered before it became the owner’s own is main from then on', () => {
  register(PHONE, 'whatsapp-4917');
  store.groups.registerMain({ jid: PHONE, name: 'You' }, clock);
  expect(store.groups.byJid(PHONE)).toMatchObject({ folder: 'main', needsTrigger: false });
});

test('groups that were registered in the same millisecond stand in the order in which they came', () => {
  const inOrder = ['c@g.us', 'a@g.us', 'b@g.us'];
  for (const jid of inOrder) see(jid);
  for (const jid of inOrder) {
    const folder = jid.slice(0, 1);
    const group = { jid, folder, name: jid, needsTrigger: true, triggerWord: null, isMain: false };
    store.groups.register(group, clock);
  }
  const jids = store.groups.all().map(({ jid }) => jid);
  expect(jids).toEqual([TERMINAL, ...inOrder]);
});

test('the database itself keeps folders apart, and main for the owner', () => {
  register('a@g.us', 'family');
  see('b@g.us');
  const database = new Database(join(folder, 'claw.db'));
  const insert = (name: string, isMain: number) =>
    database
      .prepare(`INSERT INTO groups (jid, folder, name, needs_trigger, is_main, registered_at)
                VALUES ('b@g.us', ?, 'b', 1, ?, 0)`)
      .run(name, isMain);
  expect(() => insert('Family', 0)).toThrow(/UNIQUE/);
  expect(() => insert('Main', 0)).toThrow(/for the chats of the owner/);
  expect(() => insert('b', 1)).toThrow(/for the chats of the owner/);
  expect(() => database.exec("UPDATE groups SET is_main = 1 WHERE jid = 'a@g.us'")).toThrow(
    /for the chats of the owner/,
  );
  database.close();
});

test('an unregistered chat leaves nothing to send or to answer, and its folder stays its own', () => {
  register('a@g.us', 'family');
  ask('a@g.us', 'hello');
  store.outbox.add({ messageId: 'm', jid: 'a@g.us', text: 'x' }, clock);
  store.groups.unregister('a@g.us');
  expect(store.outbox.heads()).toEqual([]);
  expect(store.turns.claimNext('agent', lease())).toBeNull();
  expect(() => store.outbox.add({ messageId: 'n', jid: 'a@g.us', text: 'x' }, clock)).toThrow(
    /FOREIGN KEY/,
  );
  expect(store.folders.holder('FAMILY')).toBe('a@g.us');
  expect(store.folders.of('a@g.us')).toBe('family');
});

test('messages from before a chat was registered again are no context of its turns', () => {
  register('a@g.us', 'family');
  say('a@g.us', 'old');
  store.groups.unregister('a@g.us');
  register('a@g.us', 'family');
  const first = say('a@g.us', 'new');
  ask('a@g.us', '@Andy hi');
  expect(store.turns.claimNext('agent', lease())).toMatchObject({ fromSeq: first });
});

test('the owner’s chats share one conversation, so one of them waits for the other', () => {
  see(PHONE);
  store.groups.registerMain({ jid: PHONE, name: 'You' }, clock);
  register('a@g.us', 'family');
  for (const jid of [TERMINAL, PHONE, 'a@g.us']) ask(jid, jid);
  const claimed = [1, 2, 3].map(() => store.turns.claimNext('agent', lease())?.jid);
  expect(claimed).toEqual([TERMINAL, 'a@g.us', undefined]);
});

test('removing a group removes all but the name of its chat', () => {
  register('a@g.us', 'family');
  ask('a@g.us', 'hello');
  store.sessions.set('family', 's1', clock);
  store.senders.limitGroup('a@g.us', ['ada']);
  store.removeGroup('a@g.us');
  expect(store.messages.countBetween({ jid: 'a@g.us', from: 0, upto: 99 })).toBe(0);
  expect(store.sessions.get('family')).toBeNull();
  expect(store.folders.of('a@g.us')).toBeNull();
  expect(store.senders.ofGroup('a@g.us')).toEqual([]);
  expect(store.chats.byJid('a@g.us')?.name).toBe('a@g.us');
});

test('a group listens to everybody until the owner names somebody', () => {
  register('a@g.us', 'family');
  expect(store.senders.mayCall('a@g.us', 'bob')).toBe(true);
  store.senders.limitGroup('a@g.us', ['ada']);
  expect(['ada', 'bob'].map((sender) => store.senders.mayCall('a@g.us', sender))).toEqual([
    true,
    false,
  ]);
  store.senders.limitGroup('a@g.us', []);
  expect(store.senders.mayCall('a@g.us', 'bob')).toBe(true);
});

test('nobody may write directly on a channel until the owner names them', () => {
  expect(store.senders.mayWrite('whatsapp', PHONE)).toBe(false);
  store.senders.setChannel('whatsapp', [PHONE]);
  expect(store.senders.mayWrite('whatsapp', PHONE)).toBe(true);
  expect(store.senders.mayWrite('telegram', PHONE)).toBe(false);
});

test('strangers are counted, a flood of them in bounded space', () => {
  expect(store.strangers.counted()).toBeNull();
  store.strangers.count('whatsapp', 'x', 5);
  store.strangers.count('whatsapp', 'x', 7);
  store.strangers.count('whatsapp', 'y', 9);
  expect(store.strangers.counted()).toEqual({ senders: 2, messages: 3, since: 5 });
  store.transaction(() => {
    for (let number = 0; number < 1_050; number++) {
      store.strangers.count('whatsapp', `flood ${number}`, 10);
    }
  });
  expect(store.strangers.counted()).toEqual({ senders: 1_001, messages: 1_053, since: 5 });
  store.strangers.clear();
  expect(store.strangers.counted()).toBeNull();
});

test('senders of a chat are known by id, with their last name', () => {
  see('a@g.us');
  say('a@g.us', '1', { sender: 'b', senderName: 'Bob' });
  say('a@g.us', '2', { sender: 'b', senderName: 'Bobby' });
  say('a@g.us', '3');
  expect(store.messages.sendersOf('a@g.us')).toEqual([
    { sender: 'ada', name: 'Ada' },
    { sender: 'b', name: 'Bobby' },
  ]);
});
