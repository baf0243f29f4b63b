import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ClawError } from '../errors.ts';
import { commitSteps } from './commit.ts';
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
