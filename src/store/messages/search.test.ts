import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '../database.ts';
import { discoverMigrations } from '../migrations.ts';
import { openStore, type Store } from '../store.ts';

let dir = '';
let store: Store;
let clock = 1_000;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-search-'));
  store = openStore({ path: join(dir, 'claw.db'), now: clock });
  for (const name of ['family', 'club']) {
    const jid = `${name}@g.us`;
    store.chats.see({ jid, channel: 'test', name, isDirect: false }, clock);
    const group = { jid, folder: name, name, needsTrigger: true, triggerWord: null, isMain: false };
    store.groups.register(group, clock);
  }
});
afterEach(() => {
  store.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Returns the message's cursor. */
function say(text: string, jid = 'family@g.us'): number | null {
  clock += 1_000;
  const id = `m${clock}`;
  const message = { jid, id, sender: 'ada', senderName: 'Ada', isOwner: false, text };
  return store.messages.add({ ...message, sentAt: clock }, clock);
}

function answer(text: string, jid = 'family@g.us'): number {
  clock += 1_000;
  store.outbox.add({ messageId: `a${clock}`, jid, text }, clock);
  return clock;
}

function found(text: string, over: object = {}): readonly string[] {
  const all = { jids: ['family@g.us'], from: 0, until: Number.MAX_SAFE_INTEGER, limit: 10 };
  return store.search.find({ ...all, text, ...over }).map((hit) => hit.text);
}

test('messages and answers of a chat are found by their words, the newest first', () => {
  say('We eat pizza on Friday');
  const at = answer('Noted: PIZZA, on Friday.');
  say('The club eats pizza', 'club@g.us');
  say('No pasta, then');
  expect(found('pizza friday')).toEqual(['Noted: PIZZA, on Friday.', 'We eat pizza on Friday']);
  expect(found('pizza', { jids: ['club@g.us'] })).toEqual(['The club eats pizza']);
  expect(found('"no pasta"')).toEqual(['No pasta, then']);
  expect(found('"pasta no"')).toEqual([]);
  expect(found('pizza', { limit: 1 })).toEqual(['Noted: PIZZA, on Friday.']);
  expect(found('pizza', { until: at - 1 })).toEqual(['We eat pizza on Friday']);
  expect(found('pizza', { from: at })).toEqual(['Noted: PIZZA, on Friday.']);
  expect(found('', { from: at })).toEqual(['No pasta, then', 'Noted: PIZZA, on Friday.']);
});

test('accents and scripts without spaces do not hide anything, nor do pictures', () => {
  say('Crème brûlée für Zoë');
  say('明日は東京でピザを食べます');
  say('The cake 🎂 is ready');
  expect(found('creme fur zoe')).toHaveLength(1);
  expect(found('東京')).toHaveLength(1);
  expect(found('ピザ 明日')).toHaveLength(1);
  expect(found('大阪')).toHaveLength(0);
  expect(found('🎂')).toHaveLength(1);
  expect(found('cake 🎂')).toHaveLength(1);
  expect(found('cake 🎉')).toHaveLength(0);
});

test('the part of a long message that has the words is shown', () => {
  say(`${'before '.repeat(200)}the needle is here ${'after '.repeat(200)}`);
  const [text = ''] = found('needle');
  expect(text).toContain('the needle is here');
  expect(text.length).toBeLessThan(600);
});

test('whatever is typed is a query', () => {
  say('hello world');
  const pieces = [
    '"',
    "'",
    '*',
    'NOT',
    'AND',
    'NEAR(',
    ')',
    'chat:',
    '^',
    '-',
    '\0',
    '%',
    '\\',
    'hello',
  ];
  const typed = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom(...pieces)).map((all) => all.join(' ')),
  );
  fc.assert(
    fc.property(typed, (text) => {
      expect(found(text).length).toBeLessThanOrEqual(1);
    }),
    { numRuns: 150 },
  );
  expect(found('hello AND')).toEqual([]);
  expect(found('?!')).toEqual([]);
  expect(found('hello "')).toEqual(['hello world']);
  expect(found('chat : "x" OR hello')).toEqual([]);
});

test('no query reaches another chat', () => {
  say('the secret of the club', 'club@g.us');
  for (const text of ['secret', '', 'secret OR secret', '" OR text : "secret', 'chat:c* secret']) {
    expect(found(text)).toEqual([]);
  }
});

test('many messages are indexed on the way, the last ones when somebody searches', () => {
  // Indexing in between must not be taken for the number of a message.
  store.transaction(() => {
    for (let count = 1; count <= 1_100; count += 1) expect(say(`number${count}`)).toBe(count);
  });
  const index = () => {
    const database = new Database(join(dir, 'claw.db'), { readonly: true });
    const { upto } = database.prepare('SELECT upto_seq AS upto FROM indexed_messages').get() as {
      upto: number;
    };
    database.close();
    return upto;
  };
  expect(index()).toBe(1_024);
  expect(found('number1')).toEqual(['number1']);
  expect(found('number1100')).toEqual(['number1100']);
  expect(index()).toBe(1_100);
});

test('answers stay when a chat is unregistered, and go with all else when it is deleted', () => {
  say('a pizza for the family');
  answer('A pizza it is');
  store.groups.unregister('family@g.us');
  expect(found('pizza')).toHaveLength(2);
  say('more pizza');
  store.removeGroup('family@g.us');
  expect(found('pizza')).toEqual([]);
  expect(found('')).toEqual([]);
  // An index that lost its texts would complain.
  const database = new Database(join(dir, 'claw.db'));
  for (const words of ['message_words', 'answer_words']) {
    database.prepare(`INSERT INTO ${words} (${words}) VALUES ('integrity-check')`).run();
  }
  database.close();
});

test('no byte of thousands of deleted messages is left in any file', () => {
  store.transaction(() => {
    for (let count = 0; count < 3_000; count += 1) {
      say(`quince${count} ${'medlar '.repeat(count % 40)}`);
      say(`apple${count} and a pear`, 'club@g.us');
    }
  });
  answer('Noted: medlar and quince');
  const trace = () =>
    readdirSync(dir).filter((name) =>
      /quince|medlar/.test(readFileSync(join(dir, name), 'latin1')),
    );
  expect(trace()).not.toEqual([]);
  store.removeGroup('family@g.us');
  expect(trace()).toEqual([]);
  expect(found('apple2999 pear', { jids: ['club@g.us'] })).toHaveLength(1);
});

test('a message that moves to another chat is found there', () => {
  say('a pizza for the family');
  found('');
  const database = new Database(join(dir, 'claw.db'));
  database.exec("UPDATE messages SET jid = 'club@g.us'");
  database.close();
  expect(found('pizza')).toEqual([]);
  expect(found('pizza', { jids: ['club@g.us'] })).toHaveLength(1);
});

test('messages of an earlier version are indexed when the database is opened', () => {
  const migrations = join(import.meta.dirname, '../migrations');
  const earlier = join(dir, 'earlier');
  cpSync(migrations, earlier, { recursive: true });
  for (const file of readdirSync(join(earlier, 'core'))) {
    if (Number.parseInt(file, 10) >= 4) rmSync(join(earlier, 'core', file));
  }
  const path = join(dir, 'old.db');
  const old = openDatabase(path, discoverMigrations(earlier), 1);
  old.exec(`
    INSERT INTO chats VALUES ('family@g.us', 'test', 'Family', 0, 1, 0);
    INSERT INTO groups (jid, folder, name, needs_trigger, is_main, registered_at)
      VALUES ('family@g.us', 'family', 'Family', 1, 0, 1);
    INSERT INTO messages (jid, id, sender, is_owner, text, sent_at, stored_at)
      VALUES ('family@g.us', 'm', 'ada', 0, 'a pizza long ago', 5, 5);
    INSERT INTO outbox (message_id, jid, text, state, created_at)
      VALUES ('a', 'family@g.us', 'A pizza it was', 'sent', 6)`);
  old.close();
  store.close();
  store = openStore({ path, now: 10 });
  expect(found('pizza')).toEqual(['A pizza it was', 'a pizza long ago']);
});
