import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore, type Store } from '../store.ts';

const JID = 'chat:family';
let folder: string;
let store: Store;
let said = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'claw-index-'));
  said = 0;
  open();
  store.chats.see({ jid: JID, channel: 'chat', name: 'Family', isDirect: false }, 1);
  const group = { jid: JID, folder: 'family', name: 'Family', triggerWord: null };
  store.groups.register({ ...group, needsTrigger: false, isMain: false }, 1);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const path = () => join(folder, 'a.db');

function open(): void {
  store = openStore({ path: path(), now: 1 });
}

function say(text: string): number | null {
  said += 1;
  const message = { jid: JID, id: `m${said}`, sender: 'ada', senderName: null, isOwner: false };
  return store.messages.add({ ...message, text, sentAt: said }, said);
}

function answer(text: string): void {
  store.outbox.add({ messageId: `o${said}`, jid: JID, text }, said);
}

function find(text: string): readonly string[] {
  const hits = store.search.find({ jids: [JID], text, from: 0, until: 9e12, limit: 9 });
  return hits.map((hit) => hit.text).sort();
}

function damage(sql: string): void {
  store.close();
  const database = new Database(path());
  database.unsafeMode(true);
  database.exec(sql);
  database.close();
  open();
}

const DAMAGES = ['message_words', 'answer_words'].flatMap((words) => [
  `DELETE FROM ${words}_data`,
  `UPDATE ${words}_data SET block = x'0102'`,
  `UPDATE ${words}_data SET block = zeroblob(length(block)) WHERE id > 10`,
]);

test.each(DAMAGES)('texts are stored and found, and can be deleted, after %s', (sql) => {
  store.transaction(() => {
    for (let count = 0; count < 1_020; count += 1) say(`word ${count}`);
  });
  answer('an early answer');
  expect(find('early')).toEqual(['an early answer']);
  damage(sql);
  const works = Array.from({ length: 8 }, (_, count) => () => say(`later ${count}`));
  expect(store.batch(works).map(({ kind }) => kind)).toEqual(Array(8).fill('done'));
  store.transaction(() => answer('a late answer'));
  expect(find('late')).toEqual(['a late answer']);
  expect(find('early')).toEqual(['an early answer']);
  expect(find('later')).toHaveLength(8);
  damage(sql);
  store.removeGroup(JID);
  expect(find('later')).toEqual([]);
});
