/**
 * Measures commands on a large tree: 2,000 files under 100 skills of five files each, process start
 * included. Beside each is a floor of the same run: a plain Node process that reads, hashes and writes the
 * same bytes. Then its growth with files that no skill touches, and with skills.
 *
 *     node scripts/bench/large.ts
 */
import type { Codebase } from '../../src/testing/claw/codebase.ts';
import { bareCloneOf, cloneOf, dropCache, makeBare } from './large-clone.ts';
import { largeCodebase, type Size, skillNames } from './large-codebase.ts';
import { applyWork, removeWork, replayWork, statusWork, verifyWork } from './large-work.ts';
import { median, type Timed, timeClaw, timeFloor, type Work } from './timed-run.ts';

/** Medians of one command and of its floor; the highest peak of any run. */
export type Row = {
  readonly name: string;
  readonly ms: number;
  readonly floorMs: number;
  readonly peakMb: number;
  readonly goalMs: number | null;
};

/** The times that matter at one size, in milliseconds. */
export type Growth = Size & {
  readonly statusMs: number;
  readonly replayMs: number;
  readonly removeMs: number;
};

export type LargeBench = {
  readonly size: Size;
  readonly runs: number;
  readonly rows: readonly Row[];
  readonly growth: readonly Growth[];
};

const SIZE = { files: 2000, skills: 100 };
const SIZES = [
  { files: 500, skills: 100 },
  { files: 1000, skills: 100 },
  { files: 4000, skills: 100 },
  { files: 2000, skills: 25 },
  { files: 2000, skills: 50 },
];
const GOAL_MB = 250;

export async function benchLarge(
  runs: number,
  sizes: readonly Size[] = SIZES,
): Promise<LargeBench> {
  const rows = await measureRows(SIZE, runs);
  const growth: Growth[] = [];
  for (const size of sizes) growth.push(await measureGrowth(size, Math.min(runs, 3)));
  return { size: SIZE, runs, rows, growth: [...growth, growthOf(SIZE, rows)] };
}

/** Prints a measurement with its goals: `over` marks the ones that were missed. */
export function printLarge({ size, runs, rows, growth }: LargeBench): void {
  console.log(`large: ${size.files} files, ${size.skills} skills of 5 files, medians of ${runs}`);
  for (const { name, ms, floorMs, peakMb, goalMs } of rows) {
    const aim = goalMs === null ? '' : `goal ${goalMs} ms${ms > goalMs ? ', over' : ', met'}`;
    const memory = `${peakMb.toFixed(0)} MB${peakMb > GOAL_MB ? ' (over)' : ''}`;
    console.log(
      `  ${name.padEnd(28)} ${whole(ms)} ms, floor ${whole(floorMs)} ms, ` +
        `${(ms / floorMs).toFixed(1).padStart(4)} x; peak ${memory.padEnd(7)} ${aim}`,
    );
  }
  console.log('  growth             status   replay, warm   remove');
  for (const { files, skills, statusMs, replayMs, removeMs } of growth) {
    const name = `${files} files, ${skills} skills`;
    console.log(
      `  ${name.padEnd(22)} ${whole(statusMs)} ${whole(replayMs)} ms ${whole(removeMs)} ms`,
    );
  }
}

async function measureRows(size: Size, runs: number): Promise<readonly Row[]> {
  await using codebase = largeCodebase(size);
  const { root } = codebase;
  const names = skillNames(size.skills);
  const one = names[Math.floor(names.length / 2)] ?? '';
  const apply = timeClaw(root, 'apply', ...names);
  const rows = [rowOf('apply all', [apply], floorOf(root, applyWork(codebase), 1), null)];
  await commit(codebase);
  await using bare = bareCloneOf(codebase);
  await using clone = cloneOf(codebase);
  const onBare = repeat(runs, () => {
    makeBare(bare);
    dropCache(bare);
    return timeClaw(bare.root, 'replay');
  });
  const onClone = repeat(runs, () => {
    dropCache(clone);
    return timeClaw(clone.root, 'replay');
  });
  const full = floorOf(root, replayWork(codebase, bare), runs);
  const read = floorOf(root, replayWork(codebase, null), runs);
  rows.push(rowOf('replay on the core, cold', onBare, full, 500));
  rows.push(rowOf('replay on a clone, cold', onClone, read, 500));
  rows.push(
    rowOf(
      'replay, warm',
      repeat(runs, () => timeClaw(clone.root, 'replay')),
      read,
      200,
    ),
  );
  const work = removeWork(codebase, one);
  const { removed, applied } = removeAndApply(codebase, one, runs);
  const few = floorOf(root, work, runs);
  rows.push(rowOf('remove one', removed, few, 300), rowOf('apply one', applied, few, null));
  const status = floorOf(root, statusWork(codebase), runs);
  const cold = repeat(runs, () => {
    dropCache(codebase);
    return timeClaw(root, 'status');
  });
  rows.push(rowOf('status, cold', cold, status, null));
  timeClaw(root, 'status');
  rows.push(
    rowOf(
      'status, warm',
      repeat(runs, () => timeClaw(root, 'status')),
      status,
      200,
    ),
  );
  const verify = repeat(runs, () => timeClaw(root, 'verify'));
  rows.push(rowOf('verify', verify, floorOf(root, verifyWork(codebase), runs), null));
  return rows;
}

async function measureGrowth(size: Size, runs: number): Promise<Growth> {
  await using codebase = largeCodebase(size);
  const { root } = codebase;
  const names = skillNames(size.skills);
  timeClaw(root, 'apply', ...names);
  for (const verb of ['replay', 'status', 'status']) timeClaw(root, verb);
  const { removed } = removeAndApply(codebase, names[Math.floor(names.length / 2)] ?? '', runs);
  return {
    ...size,
    statusMs: msOf(repeat(runs, () => timeClaw(root, 'status'))),
    replayMs: msOf(repeat(runs, () => timeClaw(root, 'replay'))),
    removeMs: msOf(removed),
  };
}

function removeAndApply({ root }: Codebase, name: string, runs: number) {
  const removed: Timed[] = [];
  const applied: Timed[] = [];
  for (let run = 0; run < runs; run += 1) {
    removed.push(timeClaw(root, 'remove', name));
    applied.push(timeClaw(root, 'apply', name));
  }
  return { removed, applied };
}

async function commit(codebase: Codebase): Promise<void> {
  codebase.git('add', '--all');
  codebase.git('commit', '--quiet', '-m', 'skills');
}

function growthOf(size: Size, rows: readonly Row[]): Growth {
  const ms = (name: string) => rows.find((row) => row.name === name)?.ms ?? Number.NaN;
  return {
    ...size,
    statusMs: ms('status, warm'),
    replayMs: ms('replay, warm'),
    removeMs: ms('remove one'),
  };
}

function rowOf(name: string, runs: readonly Timed[], floorMs: number, goalMs: number | null): Row {
  return {
    name,
    ms: msOf(runs),
    floorMs,
    peakMb: Math.max(...runs.map((run) => run.peakMb)),
    goalMs,
  };
}

function floorOf(root: string, work: Work, runs: number): number {
  return msOf(repeat(runs, () => timeFloor(root, work)));
}

function repeat(runs: number, once: () => Timed): readonly Timed[] {
  return Array.from({ length: runs }, once);
}

function msOf(runs: readonly Timed[]): number {
  return median(runs.map(({ ms }) => ms));
}

function whole(ms: number): string {
  return ms.toFixed(0).padStart(5);
}

if (import.meta.main) printLarge(await benchLarge(5));
