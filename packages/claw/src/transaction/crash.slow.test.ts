import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { ClawError } from '../errors.ts';
import { commitSteps } from './commit.ts';
import { recover } from './recover.js';
import { temporaryFolder } from './testing/folder.ts';
import { type Case, CrashMatrix, type Verdict } from './testing/matrix.ts';
import { everyKind, layOut, layOutBefore, snapshot } from './testing/scenario.ts';
import { CALLS, type Injection } from './testing/strace.ts';

// The short form; scripts/crash-matrix.ts breaks every commit at every point.
const hasStrace = spawnSync('strace', ['--version']).status === 0;
const OLDER_NODE = '/usr/bin/node';

type Points = readonly Pick<Injection, 'call' | 'nth'>[];

/** Picks the first, middle and last occurrence of each call, so that every phase has all of them. */
function sample(points: Points): Points {
  return CALLS.flatMap((call) => {
    const all = points.filter((point) => point.call === call);
    return [...new Set([all[0], all[all.length >> 1], all.at(-1)])].filter((one) => one);
  }).filter((one) => one !== undefined);
}

async function tryAll(matrix: CrashMatrix, cases: readonly Case[], recoverWith?: string) {
  const verdicts: Verdict[] = [];
  for (let at = 0; at < cases.length; at += 2) {
    const pair = cases.slice(at, at + 2).map((tried) => matrix.try(tried, recoverWith));
    verdicts.push(...(await Promise.all(pair)));
  }
  return verdicts.filter((verdict) => !verdict.isRight);
}

test.skipIf(!hasStrace)(
  'a kill leaves a tree that is before or after, once recovered',
  async () => {
    using folder = temporaryFolder();
    const matrix = new CrashMatrix(folder.path);
    const points = sample(await matrix.points());
    expect(points.length).toBeGreaterThan(15);
    const cases = points.map((point): Case => ({ commit: { ...point, effect: 'SIGKILL' } }));
    expect(await tryAll(matrix, cases)).toEqual([]);
  },
);

test.skipIf(!hasStrace)('a kill in the middle of publishing, and in its recovery', async () => {
  using folder = temporaryFolder();
  const matrix = new CrashMatrix(folder.path);
  const renames = (await matrix.points()).filter(({ call }) => call === 'rename');
  const cases = renames.slice(1, -1).map(
    (point, index): Case => ({
      commit: { ...point, effect: 'SIGKILL' },
      recover: { call: index % 2 === 0 ? 'rename' : 'unlink', nth: 1, effect: 'SIGKILL' },
    }),
  );
  expect(await tryAll(matrix, cases)).toEqual([]);
});

test.skipIf(!hasStrace || !fs.existsSync(OLDER_NODE))(
  'an older Node can recover as well',
  async () => {
    using folder = temporaryFolder();
    const matrix = new CrashMatrix(folder.path);
    const renames = (await matrix.points()).filter(({ call }) => call === 'rename');
    const cases = renames
      .slice(-5)
      .map((point): Case => ({ commit: { ...point, effect: 'SIGKILL' } }));
    expect(await tryAll(matrix, cases, OLDER_NODE)).toEqual([]);
  },
);

test.skipIf(!hasStrace)('an error of the disk means before, success means after', async () => {
  using folder = temporaryFolder();
  const matrix = new CrashMatrix(folder.path);
  const effects = ['ENOSPC', 'EACCES', 'EIO'] as const;
  const cases = sample(await matrix.points()).map(
    (point, index): Case => ({
      commit: { ...point, effect: effects[index % 3] ?? 'EIO', isPersistent: index % 2 === 1 },
    }),
  );
  expect(await tryAll(matrix, cases)).toEqual([]);
});

const MANY = join(import.meta.dirname, 'testing/slow-commit-child.ts');

/** Kills one of both processes when the other process of the syncs is at the n-th of them. */
async function killAtSync(root: string, victim: 'ppid' | 'pid', nth: number) {
  const killer = `${root}.cjs`;
  const node = `${root}.sh`;
  fs.writeFileSync(
    killer,
    `const fs = require('node:fs');
     const { fsync } = fs;
     let count = 0;
     fs.fsync = (...call) => {
       count += 1;
       if (count === ${nth}) {
         fs.writeFileSync(${JSON.stringify(`${root}.hit`)}, '');
         process.kill(process.${victim}, 'SIGKILL');
       }
       return fsync(...call);
     };`,
  );
  fs.writeFileSync(node, `#!/bin/sh\nexec "${process.execPath}" --require "${killer}" "$@"\n`, {
    mode: 0o755,
  });
  const run = await execa(process.execPath, [MANY, root, node], { reject: false });
  expect(fs.existsSync(`${root}.hit`)).toBe(true);
  return run;
}

test('a kill while another process syncs what is staged leaves the tree as it was', async () => {
  using folder = temporaryFolder();
  for (const nth of [1, 100, 200]) {
    const root = join(folder.path, String(nth));
    layOutBefore(root);
    const before = snapshot(root);
    expect((await killAtSync(root, 'ppid', nth)).signal).toBe('SIGKILL');
    recover(root);
    expect(snapshot(root)).toEqual(before);
    expect(fs.readdirSync(join(root, '.claw/tx')).filter((name) => name !== 'view-1')).toEqual([]);
  }
});

test('a kill of the process that syncs what is staged stops no commit', async () => {
  using folder = temporaryFolder();
  for (const nth of [1, 100, 200]) {
    const root = join(folder.path, String(nth));
    layOutBefore(root);
    const run = await killAtSync(root, 'pid', nth);
    expect(run.exitCode).toBe(0);
    // Each file is synced as it is published and as it is kept for undo, whatever the other process did.
    expect(Number(run.stdout)).toBeGreaterThanOrEqual(2 * 130);
    expect(recover(root).outcome).toBe('nothing');
    for (let n = 0; n < 130; n += 1) {
      expect(fs.readFileSync(join(root, `src/${n}.txt`), 'utf8')).toBe(`file ${n}\n`);
    }
  }
});

function canMount(folder: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', folder]).status === 0;
}

test('a disk that really is full leaves the tree as it was', (context) => {
  using folder = temporaryFolder();
  const disk = join(folder.path, 'disk');
  fs.mkdirSync(disk);
  if (!canMount(disk)) return context.skip('no right to mount a small disk');
  try {
    layOut(disk, { 'big.txt': 'x'.repeat(24_000), '.claw/state.yaml': 's\n' });
    const before = snapshot(disk);
    const error = attempt(() =>
      commitSteps(disk, {
        verb: 'apply',
        summary: 'too big',
        stateBefore: null,
        stateAfter: null,
        steps: [
          {
            kind: 'write',
            path: 'other.txt',
            bytes: Buffer.alloc(40_000),
            isExecutable: false,
            before: null,
          },
        ],
      }),
    );
    expect(error).toMatchObject({ code: 'IO_FAILED', data: { code: 'ENOSPC' } });
    expect(snapshot(disk)).toEqual(before);
    expect(fs.readdirSync(join(disk, '.claw/tx'))).toEqual([]);
  } finally {
    execFileSync('umount', [disk]);
  }
});

test('a disk that runs out of room at any moment of a commit is before or after', (context) => {
  using folder = temporaryFolder();
  const disk = join(folder.path, 'disk');
  fs.mkdirSync(disk);
  if (!canMount(disk)) return context.skip('no right to mount a small disk');
  execFileSync('umount', [disk]);
  const outcomes = new Set<string>();
  // On a tmpfs every name takes one of a fixed number of entries, a hard link included.
  for (let entries = 60; entries <= 150; entries += 2) {
    const options = `size=1m,nr_inodes=${entries}`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', disk]);
    try {
      layOutBefore(disk);
      const before = snapshot(disk);
      const error = attempt(() => commitSteps(disk, everyKind(disk)));
      if (error !== null) expect([entries, snapshot(disk)]).toEqual([entries, before]);
      outcomes.add(error === null ? 'done' : error.message.includes('as it was') ? 'back' : 'none');
    } finally {
      execFileSync('umount', [disk]);
    }
  }
  // Refused while staging, rolled back while publishing, and done: all three have been met.
  expect([...outcomes].sort()).toEqual(['back', 'done', 'none']);
});

function attempt(work: () => void): ClawError | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof ClawError) return error;
    throw error;
  }
}
