import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase } from './database.ts';
import { discoverMigrations } from './migrations.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'claw-migrations-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function migration(name: string, sql: string): void {
  const path = join(folder, 'migrations', `${name}.sql`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, sql);
}

function open() {
  return openDatabase(join(folder, 'a.db'), discoverMigrations(join(folder, 'migrations')), 1);
}

function tables(): readonly unknown[] {
  const database = open();
  const names = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .pluck()
    .all();
  database.close();
  return names;
}

test("the core's migrations come first, each owner's in numeric order", () => {
  for (const name of ['alarms/1', 'core/10', 'core/2', 'core/1']) migration(name, 'SELECT 1;');
  migration('core/notes', 'not a migration');
  const names = discoverMigrations(join(folder, 'migrations')).map(({ name }) => name);
  expect(names).toEqual(['core/1', 'core/2', 'core/10', 'alarms/1']);
});

test('a skill adds a table, and the tree without that skill still runs on the database', () => {
  migration('core/1', 'CREATE TABLE a (x);');
  migration('alarms/1', 'CREATE TABLE alarms (x);');
  expect(tables()).toEqual(['a', 'alarms', 'migrations']);
  rmSync(join(folder, 'migrations/alarms'), { recursive: true });
  migration('core/2', 'CREATE TABLE b (x);');
  expect(tables()).toEqual(['a', 'alarms', 'b', 'migrations']);
});

test('each migration runs once', () => {
  migration('core/1', 'CREATE TABLE a (x); INSERT INTO a VALUES (1);');
  open().close();
  const database = open();
  expect(database.prepare('SELECT count(*) FROM a').pluck().get()).toBe(1);
  database.close();
});

test('a migration that fails in the middle leaves nothing of itself', () => {
  migration('core/1', 'CREATE TABLE a (x); CREATE TABLE a (x);');
  expect(open).toThrow(/already exists/);
  migration('core/1', 'CREATE TABLE b (x);');
  expect(tables()).toEqual(['b', 'migrations']);
});

test('a migration that takes something away is refused', () => {
  migration('core/1', '-- does not drop\nCREATE TABLE a (x);');
  migration('alarms/1', 'DROP TABLE a;');
  expect(open).toThrow(/alarms\/1 contains "DROP"/);
});

test('a migration whose file was changed after it was applied is refused, and nothing else is applied', () => {
  migration('core/1', 'CREATE TABLE a (x);\n');
  open().close();
  migration('core/1', 'CREATE TABLE a (x);\r\n');
  open().close();
  migration('core/1', 'CREATE TABLE a (x, y);\n');
  migration('core/2', 'CREATE TABLE b (x);\n');
  expect(open).toThrow(
    expect.objectContaining({
      code: 'MIGRATION_CHANGED',
      message: expect.stringMatching(/migrations\/core\/1\.sql was changed .* new number/),
    }),
  );
  migration('core/1', 'CREATE TABLE a (x);\n');
  rmSync(join(folder, 'migrations/core/2.sql'));
  expect(tables()).toEqual(['a', 'migrations']);
});

test('a database from before the digests takes those of the files it is first opened with', () => {
  migration('core/1', 'CREATE TABLE a (x);');
  const older = new Database(join(folder, 'a.db'));
  older.exec(`
    CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT;
    CREATE TABLE a (x);
    INSERT INTO migrations (name, applied_at) VALUES ('core/1', 1);`);
  older.close();
  expect(tables()).toEqual(['a', 'migrations']);
  migration('core/1', 'CREATE TABLE a (y);');
  expect(open).toThrow(/core\/1\.sql was changed/);
});

test('a file that is not a database is left alone, and said so', () => {
  migration('core/1', 'CREATE TABLE a (x);');
  const path = join(folder, 'a.db');
  writeFileSync(path, 'a photograph, perhaps, or half of a copy\n'.repeat(100));
  const before = readFileSync(path);
  expect(open).toThrow(
    expect.objectContaining({
      code: 'DATABASE_DAMAGED',
      message: expect.stringMatching(
        /a\.db is damaged: file is not a database\. .*`npx claw repair`/,
      ),
    }),
  );
  expect(readFileSync(path).equals(before)).toBe(true);
});
