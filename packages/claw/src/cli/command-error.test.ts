import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { asCommandError } from './command-error.ts';

/** Runs something that the machine refuses. */
function refusal(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new TypeError('it was not refused');
}

function fullDatabase(): void {
  const database = new Database(':memory:');
  database.exec('CREATE TABLE t (x); PRAGMA max_page_count = 2');
  database.exec('INSERT INTO t VALUES (zeroblob(100000))');
}

function readOnlyDatabase(): void {
  const folder = mkdtempSync(join(tmpdir(), 'command-error-'));
  try {
    new Database(join(folder, 'a.db')).exec('CREATE TABLE t (x)').close();
    new Database(join(folder, 'a.db'), { readonly: true }).exec('INSERT INTO t VALUES (1)');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test.each([
  ['SQLITE_FULL', fullDatabase],
  ['SQLITE_READONLY', readOnlyDatabase],
  ['SQLITE_CANTOPEN', () => new Database('/dev/null/a.db', { fileMustExist: true })],
  ['EISDIR', () => writeFileSync(tmpdir(), '')],
] as const)('%s of the machine is no fault of claw', (code, work) => {
  const error = asCommandError(refusal(work));
  expect(error.code).toBe('IO_FAILED');
  expect(error.message).toContain(code);
  expect(error.message).not.toContain('report');
});

test('what is no refusal of the machine is a fault to report', () => {
  for (const work of [() => execFileSync('false'), () => Object(null).x.y]) {
    expect(asCommandError(refusal(work)).code).toBe('INTERNAL');
  }
  expect(asCommandError(null).code).toBe('INTERNAL');
});
