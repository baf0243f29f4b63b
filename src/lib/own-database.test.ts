import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openOwnDatabases } from '../store/own-databases.ts';
import { withoutWaiting } from './own-database.ts';

const NORMAL = 1;
const FULL = 2;

test('work in passing does not wait for the disk, also when it fails; what is written later does', () => {
  const folder = mkdtempSync(join(tmpdir(), 'claw-own-'));
  const databases = openOwnDatabases({ dataDir: folder, now: () => 1 });
  const database = databases.of('service', 'feed')(['CREATE TABLE place (at INT) STRICT;']);
  const mode = () => database.pragma('synchronous', { simple: true });
  const write = () => void database.prepare('INSERT INTO place VALUES (1)').run();
  const fail = () => {
    throw new Error('refused');
  };
  expect(withoutWaiting(database, () => [mode(), write()])).toEqual([NORMAL, undefined]);
  expect(mode()).toBe(FULL);
  expect(() => withoutWaiting(database, fail)).toThrow('refused');
  expect(mode()).toBe(FULL);
  // Within a transaction it is the whole one's to wait.
  expect(database.transaction(() => withoutWaiting(database, mode))()).toBe(FULL);
  databases.close();
  rmSync(folder, { recursive: true, force: true });
});
