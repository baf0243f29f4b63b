import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import {
  CALLS,
  census,
  inject,
  spread,
} from '../../../packages/claw/src/transaction/testing/strace.ts';
import { openStore } from '../../store/store.ts';
import { countedIds, digests, Installation, NOW } from './bench.ts';
import { FAMILY, makeNanoclaw, writeFiles } from './nanoclaw-store.ts';

/** Beside those that change a folder: the calls that bring bytes to the disk. */
const TRACED = [...CALLS, 'openat', 'pwrite64', 'write'] as const;
/** A few calls of each kind are tried in a run of this test; with a larger number, all. */
const TRIED = Number(process.env['CLAW_KILLS'] ?? 3);
const WORKER = join(import.meta.dirname, 'killed-import.ts');

/** Runs an import or an undo in a process of its own that is killed at a step; false where it has ended before. */
async function runUntil(args: readonly string[]): Promise<boolean> {
  const child = fork(WORKER, args, { stdio: 'inherit' });
  const [code, signal] = await once(child, 'exit');
  if (signal === 'SIGKILL') return true;
  expect(code).toBe(0);
  return false;
}

/** What is here; two link databases of the same keys differ in bytes, and files in their times. */
function comparable(here: Installation): string {
  const { rows, files } = here.state() as {
    rows: readonly (readonly [string, unknown])[];
    files: readonly (readonly unknown[])[];
  };
  const isLink = (path: unknown) => String(path).endsWith('link.db');
  const told = files.map(([path, digest]) => (isLink(path) ? [path] : [path, digest]));
  return JSON.stringify([rows.filter(([name]) => name !== 'import_files'), told]);
}

test('killed at any step, an import and an undo leave all as before or as after', async () => {
  const source = makeNanoclaw();
  const before = new Installation();
  const begin = { '.env': 'A=b\n', 'groups/main/CLAUDE.md': 'Mine.\n' };
  writeFiles(before.project, begin);
  const after = new Installation();
  writeFiles(after.project, begin);
  await after.import(source, { isTakeOver: true, newId: countedIds() });
  const states = [comparable(before), comparable(after)];
  const seen = new Set<number>();
  for (const action of ['import', 'undo']) {
    for (let step = 1; ; step += 1) {
      const here = new Installation();
      cpSync((action === 'import' ? before : after).project, here.project, { recursive: true });
      const args = [action, here.project, source.root, source.home, String(step)];
      if (!(await runUntil(args))) break;
      here.recover();
      const found = states.indexOf(comparable(here));
      expect({ action, step, found }).toEqual({ action, step, found: expect.toBeOneOf([0, 1]) });
      seen.add(found);
    }
  }
  expect([...seen].sort()).toEqual([0, 1]);
});

test('killed at any call of the file system, an import leaves all as before or as after', async () => {
  const source = makeNanoclaw();
  const begin = { '.env': 'A=b\n', 'groups/main/CLAUDE.md': 'Mine.\n' };
  const before = new Installation();
  writeFiles(before.project, begin);
  const after = new Installation();
  writeFiles(after.project, begin);
  await after.import(source, { isTakeOver: true, newId: countedIds() });
  const states = [comparable(before), comparable(after)];
  const counted = new Installation();
  writeFiles(counted.project, begin);
  const log = join(before.project, '../', `${basename(before.project)}.strace`);
  const program = (here: Installation) => [
    ...[process.execPath, '--conditions=patchclaw-source', WORKER, 'import', here.project],
    ...[source.root, source.home, '0'],
  ];
  const counts = await census(program(counted), log, TRACED);
  expect(comparable(counted)).toBe(states[1]);
  const seen = [0, 0];
  for (const call of TRACED) {
    for (const nth of spread(counts[call] ?? 0, TRIED)) {
      const here = new Installation();
      writeFiles(here.project, begin);
      const { isHit } = await inject(program(here), log, { call, nth, effect: 'SIGKILL' }, TRACED);
      here.recover();
      const found = states.indexOf(comparable(here));
      expect({ call, nth, found }).toEqual({ call, nth, found: expect.toBeOneOf([0, 1]) });
      if (isHit) seen[found] = (seen[found] ?? 0) + 1;
      rmSync(here.project, { recursive: true, force: true });
    }
  }
  rmSync(log, { force: true });
  console.info(`import: ${seen[0]} kills left all as before, ${seen[1]} as after`);
  expect(Math.min(...seen)).toBeGreaterThan(0);
});

test('a hundred thousand messages come, a word of two years ago is found, and the source is as before', async () => {
  const source = makeNanoclaw();
  const path = join(source.root, 'store/messages.db');
  const database = new Database(path);
  const insert = database.prepare('INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, 0, 0)');
  database.transaction(() => {
    for (let number = 0; number < 100_000; number += 1) {
      const at = new Date(Date.parse('2024-11-01T00:00:00Z') + number * 600_000).toISOString();
      const text =
        number === 4_321
          ? 'the password of the boat is pelican'
          : `message ${number} about the garden`;
      insert.run(`N${number}`, FAMILY, '49170111@s.whatsapp.net', 'Ben', text, at);
    }
  })();
  database.close();
  const before = digests(source.home);
  const here = new Installation();
  const { imported } = await here.import(source);
  expect(imported?.messages).toBe(100_006);
  const store = openStore({ path: join(here.data, 'claw.db'), now: NOW });
  expect(
    store.search.find({ jids: [FAMILY], text: 'pelican', from: 0, until: NOW, limit: 5 }),
  ).toMatchObject([{ sender: 'Ben', saidAt: Date.parse('2024-12-01T00:10:00Z') }]);
  store.close();
  expect(digests(source.home)).toEqual(before);
  here.undo();
  expect(here.all('SELECT count(*) AS count FROM messages')).toEqual([{ count: 0 }]);
});
