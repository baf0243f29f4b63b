import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyDatabase } from './database-copy.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'copy-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const SQLITE = import.meta.resolve('better-sqlite3');

/** Writes to two tables in each transaction, for ever: any moment has as many rows in both, with the same sum. */
async function startWriter(path: string, pragmas: readonly string[]) {
  const code = `
    import Database from ${JSON.stringify(SQLITE)};
    const database = new Database(${JSON.stringify(path)});
    for (const pragma of ${JSON.stringify(pragmas)}) database.pragma(pragma);
    database.exec('CREATE TABLE one (n, pad); CREATE TABLE other (n, pad)');
    const insert = ['one', 'other'].map((name) => database.prepare('INSERT INTO ' + name + " VALUES (?, hex(randomblob(400)))"));
    let n = 0;
    const write = database.transaction(() => { n += 1; for (const one of insert) one.run(n); });
    for (let i = 0; i < 2000; i += 1) write();
    process.stdout.write('ready');
    const go = () => { for (let i = 0; i < 20; i += 1) write(); setTimeout(go, 5); };
    go();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return {
    async stop() {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}

test.each([
  ['the assistant’s database', ['journal_mode = WAL', 'wal_autocheckpoint = 50']],
  [
    'one that its process has locked',
    ['locking_mode = EXCLUSIVE', 'journal_mode = WAL', 'wal_autocheckpoint = 4000'],
  ],
  [
    'a locked one whose log begins anew all the time',
    [
      'locking_mode = EXCLUSIVE',
      'journal_mode = WAL',
      'wal_autocheckpoint = 200',
      'synchronous = OFF',
    ],
  ],
])('%s is copied as it is at one moment, while it is written to', async (_, pragmas) => {
  const path = join(root, 'live.db');
  const writer = await startWriter(path, pragmas);
  try {
    let last = 0;
    for (let n = 0; n < 4; n += 1) {
      const copy = join(root, `copy-${n}.db`);
      let rows: Readonly<Record<string, number>>;
      try {
        rows = await copyDatabase(path, copy);
      } catch (error) {
        // Told in words, and never a copy that is not whole.
        expect(String(error)).toContain('is written to so often');
        continue;
      }
      const database = new Database(copy, { readonly: true });
      const sums = ['one', 'other'].map((name) =>
        database.prepare(`SELECT count(*) AS rows, sum(n) AS sum FROM ${name}`).get(),
      );
      expect(sums[0]).toEqual(sums[1]);
      expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
      database.close();
      expect(rows['one']).toBe(rows['other']);
      expect(rows['one']).toBeGreaterThanOrEqual(Math.max(2000, last));
      last = rows['one'] ?? 0;
    }
    if (!pragmas.includes('synchronous = OFF')) expect(last).toBeGreaterThan(2000);
  } finally {
    await writer.stop();
  }
});
