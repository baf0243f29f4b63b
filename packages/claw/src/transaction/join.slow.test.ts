import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { digestBytes } from '../digest.ts';
import { commitSteps } from './commit.ts';
import { joinTransactions } from './join.ts';
import { dropTransaction, listTransactions, readTransaction } from './records.ts';
import { fingerprint, rollBack } from './recover.js';
import { temporaryFolder } from './testing/folder.ts';
import { layOut } from './testing/scenario.ts';
import { inject } from './testing/strace.ts';

const STATE = '.claw/state.yaml';
const JOIN = join(import.meta.dirname, 'testing/join-child.ts');

/** Commits one file and, where a text is given, a new state. */
function commit(root: string, path: string, text: string, state: string | null) {
  const write = (at: string, bytes: string) =>
    ({
      kind: 'write',
      path: at,
      bytes: Buffer.from(bytes),
      isExecutable: false,
      before: fingerprint(join(root, at)),
    }) as const;
  const stateBefore = digestBytes(fs.readFileSync(join(root, STATE)));
  commitSteps(root, {
    verb: 'pack',
    summary: `write ${text}`,
    stateBefore,
    stateAfter: state === null ? stateBefore : digestBytes(state),
    steps: [write(path, text), ...(state === null ? [] : [write(STATE, state)])],
  });
  const [made] = listTransactions(root);
  if (!made) throw new Error('nothing was kept');
  return made;
}

function twoRounds(root: string) {
  layOut(root, { [STATE]: 'state: 0\n', 'a.txt': 'zero' });
  return [
    commit(root, 'a.txt', 'one', 'state: 1\n'),
    commit(root, 'a.txt', 'two', 'state: 2\n'),
  ] as const;
}

const backups = (root: string) => fs.readdirSync(join(root, '.claw/backup')).sort();
const ids = (root: string) => listTransactions(root).map(({ id }) => id);

test('two that follow each other become one, with what was there before both', () => {
  using folder = temporaryFolder();
  const [older, newer] = twoRounds(folder.path);
  const id = joinTransactions(folder.path, older, newer) ?? '';
  expect(backups(folder.path)).toEqual([id]);
  const { files, stateBefore } = readTransaction(folder.path, id);
  expect(stateBefore).toBe(older.stateBefore);
  const file = files.find(({ path }) => path === 'a.txt');
  expect([file?.before?.bytes.toString(), file?.after?.bytes.toString()]).toEqual(['zero', 'two']);
});

test('two transactions are not joined if another command ran in between, even if it left the state as it was', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOut(root, { [STATE]: 'state: 0\n', 'a.txt': 'zero' });
  const older = commit(root, 'a.txt', 'one', 'state: 1\n');
  const between = commit(root, 'extra.txt', 'extra', null);
  const newer = commit(root, 'a.txt', 'two', 'state: 2\n');
  expect(joinTransactions(root, older, newer)).toBeNull();
  expect(ids(root)).toEqual([newer.id, between.id, older.id]);
});

test('an operation that reuses the number of an undone one is not joined', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  const [older, newer] = twoRounds(root);
  const former = { ...older, committedAt: '2020-01-01T00:00:00.000Z' };
  expect(joinTransactions(root, former, newer)).toBeNull();
  expect(ids(root)).toEqual([newer.id, older.id]);
});

test.each(['rename', 'link', 'unlink', 'rmdir', 'mkdir', 'fsync'] as const)(
  'a join that is killed at any %s leaves the two or the one, and all of it goes by undo',
  async (call) => {
    let joined = 0;
    for (let nth = 1; ; nth += 1) {
      using folder = temporaryFolder();
      using logs = temporaryFolder();
      const root = folder.path;
      const [older, newer] = twoRounds(root);
      const program = [process.execPath, JOIN, root];
      const { isHit } = await inject(program, join(logs.path, 'log'), {
        call,
        nth,
        effect: 'SIGKILL',
      });
      const [newest, ...others] = listTransactions(root);
      if (newest?.id === newer.id) expect(others.map(({ id }) => id)).toEqual([older.id]);
      else {
        joined += 1;
        expect(others).toEqual([]);
        expect(newest).toMatchObject({ stateBefore: older.stateBefore });
      }
      // Each way back leaves only what can be taken back as well.
      if (nth % 2 === 0) while (ids(root)[0]) dropTransaction(root, ids(root)[0] ?? '');
      else {
        while (ids(root)[0]) expect(rollBack(root, ids(root)[0] ?? '').outcome).toBe('rolled-back');
        expect(fs.readFileSync(join(root, 'a.txt'), 'utf8')).toBe('zero');
      }
      const records = backups(root).filter((id) =>
        fs.existsSync(join(root, '.claw/backup', id, 'record.json')),
      );
      expect(records).toEqual([]);
      if (!isHit) break;
    }
    expect(joined).toBeGreaterThan(0);
  },
);

test('the next command clears away what a killed join left', async () => {
  using folder = temporaryFolder();
  using logs = temporaryFolder();
  const root = folder.path;
  twoRounds(root);
  const kill = { call: 'unlink', nth: 1, effect: 'SIGKILL' } as const;
  await inject([process.execPath, JOIN, root], join(logs.path, 'log'), kill);
  expect(backups(root)).toHaveLength(3);
  const [joined] = ids(root);
  const { id } = commit(root, 'a.txt', 'three', 'state: 3\n');
  expect(backups(root)).toEqual([joined, id]);
});

test.each(['link', 'rename', 'fsync'] as const)(
  'a disk that refuses every %s leaves the two, and no half of a joined one',
  async (call) => {
    using folder = temporaryFolder();
    using logs = temporaryFolder();
    const root = folder.path;
    const [older, newer] = twoRounds(root);
    const full = { call, nth: 1, effect: 'ENOSPC', isPersistent: true } as const;
    const run = await inject([process.execPath, JOIN, root], join(logs.path, 'log'), full);
    expect(run).toMatchObject({ isHit: true, stdout: 'ENOSPC' });
    expect(backups(root)).toEqual([older.id, newer.id]);
  },
);
