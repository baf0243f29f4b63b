import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../database.ts';
import { createBatch } from '../store.ts';

const SCHEMA = [{ name: 'core/1', sql: 'CREATE TABLE said (text TEXT NOT NULL) STRICT' }];

let dir: string;
let database: Database;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-batch-'));
  database = openDatabase(join(dir, 'claw.db'), SCHEMA, 0);
});
afterEach(() => {
  database.close();
  rmSync(dir, { recursive: true, force: true });
});

const say = (text: string | null) => () =>
  database.prepare('INSERT INTO said VALUES (?)').run(text).lastInsertRowid;
const said = () => database.prepare('SELECT text FROM said ORDER BY rowid').pluck().all();

test('works are done in order, and each has its result', () => {
  const results = createBatch(database)([say('one'), say('two')]);
  expect(results).toEqual([
    { kind: 'done', value: 1 },
    { kind: 'done', value: 2 },
  ]);
  expect(said()).toEqual(['one', 'two']);
});

test('a work that fails is undone as a whole, and takes no other along', () => {
  const half = () => {
    say('half')();
    throw new Error('no more');
  };
  const results = createBatch(database)([say('one'), half, say(null), say('two')]);
  expect(results.map(({ kind }) => kind)).toEqual(['done', 'failed', 'failed', 'done']);
  expect(said()).toEqual(['one', 'two']);
});

test('when the disk is full, what passes for done is there and nothing else', () => {
  database.pragma('max_page_count = 12');
  const works = Array.from({ length: 40 }, (_, at) => say(`${at} ${'x'.repeat(2_000)}`));
  let done = 0;
  expect(() => {
    done = createBatch(database)(works).filter(({ kind }) => kind === 'done').length;
    // If SQLite keeps the transaction, the works that found room are stored and the others refused.
    if (done < works.length) throw new Error('full');
  }).toThrow(/full/);
  expect(said()).toHaveLength(done);
});
