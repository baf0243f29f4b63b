import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../database.ts';
import { discoverMigrations } from '../migrations.ts';
import { createClaimer } from './claim.ts';

const NORMAL = 1;
const FULL = 2;

test('an agent’s claim does not wait for the disk, a command’s does, and so does all that is stored later', () => {
  const folder = mkdtempSync(join(tmpdir(), 'claw-claim-'));
  const migrations = discoverMigrations(join(import.meta.dirname, '../migrations'));
  const database = openDatabase(join(folder, 'claw.db'), migrations, 1);
  database.exec(`
    INSERT INTO chats (jid, channel, is_direct, seen_at) VALUES ('a:1', 'a', 1, 1);
    INSERT INTO groups (jid, name, folder, needs_trigger, is_main, registered_at)
      VALUES ('a:1', 'A', 'a', 0, 0, 1);
    INSERT INTO turns (id, jid, kind, state, from_seq, upto_seq, payload, created_at) VALUES
      ('t1', 'a:1', 'agent', 'queued', 1, 1, NULL, 1),
      ('t2', 'a:1', 'command', 'queued', 1, 1, '{}', 1),
      ('t3', 'a:1', 'agent', 'queued', 1, 1, '{"isBeside":true}', 1);
    CREATE TEMP TABLE seen (id TEXT, mode INT);
    CREATE TEMP TRIGGER note AFTER UPDATE ON turns BEGIN
      INSERT INTO seen SELECT new.id, synchronous FROM pragma_synchronous;
    END`);
  const { claimNext, claimBeside } = createClaimer(database);
  const lease = { owner: 'me', until: 2 };
  const claimed = [claimNext('agent', lease), claimNext('command', lease), claimBeside(lease)];
  expect(claimed.map((turn) => turn?.id)).toEqual(['t1', 't2', 't3']);
  expect(database.prepare('SELECT id, mode FROM seen').all()).toEqual([
    { id: 't1', mode: NORMAL },
    { id: 't2', mode: FULL },
    { id: 't3', mode: NORMAL },
  ]);
  expect(database.pragma('synchronous', { simple: true })).toBe(FULL);
  // Within a transaction it is the whole one's to wait.
  expect(database.transaction(() => claimNext('agent', lease))()).toBeNull();
  expect(database.pragma('synchronous', { simple: true })).toBe(FULL);
  database.close();
  rmSync(folder, { recursive: true, force: true });
});
