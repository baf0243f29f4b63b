/**
 * Measures commands on 2,000 files under 100 skills that change five files each among the same 250, started
 * by the Node of the system as a user does. Goals are ratios of one run: to a Node that does nothing
 * (bare), or to plain Node that reads, hashes and durably writes the same files (floor).
 *
 *     npx node scripts/bench/large.ts
 */

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { listFolder } from '../../packages/claw/src/installed/claw-folder.ts';
import type { Codebase } from '../../src/testing/claw/codebase.ts';
import { largeCodebase, type Size, skillNames } from './large-codebase.ts';
import { type Phases, phasesOf } from './phases.ts';
import {
  median,
  peakOf,
  SYSTEM_NODE,
  timeBare,
  timeClaw,
  timeFloor,
  type Work,
} from './timed-run.ts';

/** Medians of one command, of its floor, and of a bare Node between their runs. */
export type Row = {
  readonly name: string;
  readonly by: 'bare' | 'floor';
  readonly goal: number | null;
  readonly ms: number;
  readonly bareMs: number;
  readonly floorMs: number | null;
  readonly peakMb: number;
  readonly phases: Phases;
};

/** The time with eight times as many skills, by eight times the time. */
export type Growth = { readonly name: string; readonly ratio: number };

export type LargeBench = {
  readonly size: Size;
  readonly runs: number;
  readonly rows: readonly Row[];
  readonly growth: readonly Growth[];
};

type Command = {
  readonly name: string;
  readonly by: Row['by'];
  readonly goal: number | null;
  readonly args: readonly string[];
  /** Puts the codebase into the state that the command is measured in. */
  readonly prepare?: () => void;
  readonly work?: () => Work;
};

const SIZE = { files: 2000, skills: 100 };
const MANY_FILES = { files: 20_000, skills: 100 };
const TIMES_AS_MANY = 8;
const GOAL_GROWTH = 1.1;
const GOAL_MB = 150;

/** Measures all of it; of a size of one's own, only what needs no other size. */
export async function benchLarge(runs: number, size: Size | null = null): Promise<LargeBench> {
  const rows = await rowsOf(size ?? SIZE, runs);
  if (size !== null) return { size, runs, rows, growth: [] };
  rows.push(await manyFilesRow(runs));
  return { size: SIZE, runs, rows, growth: await growthOf(SIZE, rows) };
}

/** Prints a measurement with its goals: `over` marks the ones that were missed. */
export function printLarge({ size, runs, rows, growth }: LargeBench): void {
  const { files, skills } = size;
  console.log(`${files} files, ${skills} skills, medians of ${runs}, started by ${SYSTEM_NODE}`);
  for (const row of rows) {
    const ratio = ratioOf(row);
    const aim = row.goal === null ? '' : `, goal ${row.goal}${ratio > row.goal ? ', over' : ''}`;
    const floor = row.floorMs === null ? '' : `, floor ${row.floorMs.toFixed(0)}`;
    console.log(
      `  ${row.name.padEnd(36)} ${ratio.toFixed(1).padStart(5)} x ${row.by}${aim}` +
        `  (${row.ms.toFixed(0)} ms${floor}, bare ${row.bareMs.toFixed(0)}; ${row.peakMb.toFixed(0)} MB)`,
    );
    const most = row.phases.slice(0, 7).map(([name, ms]) => `${name} ${ms.toFixed(0)}`);
    console.log(`      after two starts, in ms: ${most.join(', ')}`);
  }
  for (const { name, ratio } of growth) {
    const over = ratio > GOAL_GROWTH ? ', over' : '';
    console.log(
      `  ${name.padEnd(36)} ${ratio.toFixed(2).padStart(5)} x linear, goal ${GOAL_GROWTH}${over}`,
    );
  }
  const peak = Math.max(...rows.map(({ peakMb }) => peakMb));
  console.log(
    `  ${'peak memory'.padEnd(36)} ${peak.toFixed(0).padStart(5)} MB, goal ${GOAL_MB}${peak > GOAL_MB ? ', over' : ''}`,
  );
}

async function rowsOf(size: Size, runs: number): Promise<Row[]> {
  await using codebase = largeCodebase(size);
  return commandsOf(codebase, size).map((command) => measure(codebase, command, runs));
}

async function manyFilesRow(runs: number): Promise<Row> {
  await using codebase = largeCodebase(MANY_FILES);
  timeClaw(codebase.root, ['apply', ...skillNames(MANY_FILES.skills)]);
  for (let turn = 0; turn < 2; turn += 1) timeClaw(codebase.root, ['status']);
  const name = `status on ${MANY_FILES.files} files`;
  return measure(codebase, { name, by: 'bare', goal: 8, args: ['status'] }, runs);
}

/** Returns the commands in the order in which one leaves what the next one needs. */
function commandsOf(codebase: Codebase, { skills }: Size): readonly Command[] {
  const names = skillNames(skills);
  const one = names[Math.floor(skills / 2)] ?? '';
  const run = (...args: string[]) => timeClaw(codebase.root, args);
  const start = () => {
    makeBare(codebase);
    run('init');
  };
  const apply = { args: ['apply', one], by: 'bare' } as const;
  const replay = { args: ['replay'], by: 'floor' } as const;
  const readsAll = () => replayWork(codebase, true);
  return [
    { name: 'apply one', goal: 5, ...apply, prepare: start },
    {
      name: `apply all ${skills} at once`,
      by: 'floor',
      goal: 5,
      args: ['apply', ...names],
      prepare: start,
      work: () => applyWork(codebase),
    },
    {
      name: 'replay with state.yaml and skills/',
      goal: 5,
      ...replay,
      prepare: () => {
        if (!codebase.has('.git/bench-claw')) keepClaw(codebase);
        makeClone(codebase, ['state.yaml']);
      },
      work: () => applyWork(codebase),
    },
    {
      name: 'replay on a bare core, cold',
      goal: 4,
      ...replay,
      prepare: () => makeClone(codebase, keptNames(codebase)),
      work: readsAll,
    },
    {
      name: 'replay on a composed tree, cold',
      goal: null,
      ...replay,
      prepare: () => dropCache(codebase),
      work: () => replayWork(codebase, false),
    },
    { name: 'replay, warm', goal: 2.5, ...replay, work: () => replayWork(codebase, false) },
    { name: 'status', by: 'bare', goal: 3.5, args: ['status'] },
    {
      name: `remove one of ${skills}`,
      by: 'floor',
      goal: 5,
      args: ['remove', one],
      prepare: () => run('apply', one),
      work: () => removeWork(codebase, one),
    },
    {
      name: `apply one of ${skills}`,
      goal: null,
      ...apply,
      prepare: () => {
        run('apply', one);
        run('remove', one);
      },
      work: () => removeWork(codebase, one),
    },
  ];
}

/** Packages are read from `skills/`, and of the project the files that they change, which are written. */
function applyWork(codebase: Codebase): Work {
  return {
    read: [...filesIn(codebase, 'skills'), ...composedPaths(codebase)],
    write: copies(codebase, composedPaths(codebase)),
  };
}

/** All that `.claw/` commits is read, and the files that it concerns; on a bare core these are written. */
function replayWork(codebase: Codebase, isBare: boolean): Work {
  const touched = composedPaths(codebase);
  const kept = ['base', 'packages', 'composed'].flatMap((name) =>
    filesIn(codebase, `.claw/${name}`),
  );
  return {
    read: [codebase.path('.claw/state.yaml'), ...kept, ...touched],
    write: isBare ? copies(codebase, touched) : [],
  };
}

/** One package and the files that it changes, as they are kept and on disk, and the state. */
function removeWork(codebase: Codebase, skill: string): Work {
  const own = codebase.path(`.claw/packages/${skill}.package`);
  const changed = listFolder(codebase.path(`skills/${skill}/modify`));
  const kept = changed.map((path) => codebase.path(`.claw/composed/${path}`));
  const touched = changed.map(codebase.path);
  return {
    // A package that is not applied yet has none.
    read: [codebase.path('.claw/state.yaml'), own, ...kept, ...touched].filter((path) =>
      existsSync(path),
    ),
    write: copies(codebase, touched),
  };
}

function filesIn({ path }: Codebase, folder: string): readonly string[] {
  return listFolder(path(folder)).map((below) => path(`${folder}/${below}`));
}

function composedPaths({ path }: Codebase): readonly string[] {
  const paths = listFolder(path('.claw/composed')).map(path);
  return paths.filter((each) => existsSync(each));
}

function copies({ path }: Codebase, files: readonly string[]): Work['write'] {
  const folder = path('.git/bench');
  mkdirSync(folder, { recursive: true });
  return files.map((file, index) => [file, join(folder, String(index))] as const);
}

/**
 * Back to the core as it was released, with nothing of claw's. That is moved away, since for a minute ext4 looks
 * in vain for free inodes among those just deleted: creating files then takes up to ten times as long.
 */
function makeBare(codebase: Codebase): void {
  const away = codebase.path('.git/bench-away');
  mkdirSync(away, { recursive: true });
  if (codebase.has('.claw'))
    renameSync(codebase.path('.claw'), join(mkdtempSync(`${away}/`), 'claw'));
  codebase.git('checkout', '--quiet', '--', '.');
  codebase.git('clean', '--quiet', '-fdx', '--', '.');
}

/** Back to the core, with that of `.claw/` which was kept aside; what was computed for later is gone. */
function makeClone(codebase: Codebase, names: readonly string[]): void {
  makeBare(codebase);
  for (const name of names) {
    cpSync(keptIn(codebase, name), codebase.path(`.claw/${name}`), { recursive: true });
  }
}

/** Keeps aside what `.claw/` commits. */
function keepClaw(codebase: Codebase): void {
  for (const name of readdirSync(codebase.path('.claw'))) {
    if (/^(cache|tx|backup|pending|lock\.db.*)$/.test(name)) continue;
    cpSync(codebase.path(`.claw/${name}`), keptIn(codebase, name), { recursive: true });
  }
}

/** Returns the names that are kept aside. */
function keptNames(codebase: Codebase): readonly string[] {
  return readdirSync(keptIn(codebase, ''));
}

function dropCache(codebase: Codebase): void {
  rmSync(codebase.path('.claw/cache'), { recursive: true, force: true });
}

function keptIn(codebase: Codebase, name: string): string {
  return join(codebase.path('.git/bench-claw'), name);
}

function measure(codebase: Codebase, command: Command, runs: number): Row {
  const { name, by, goal, args, prepare = () => {}, work } = command;
  const { root } = codebase;
  const times: number[] = [];
  const bare: number[] = [];
  const floor: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    prepare();
    // What the preparation and other programs left for the disk is not part of either.
    spawnSync('sync');
    bare.push(timeBare(root));
    times.push(timeClaw(root, args));
    // What was written is on disk now, so that the same files can be copied.
    if (work !== undefined) floor.push(timeFloor(root, work()));
  }
  prepare();
  const peakMb = peakOf(root, args);
  prepare();
  const phases = phasesOf(root, args);
  const floorMs = work === undefined ? null : median(floor);
  return { name, by, goal, ms: median(times), bareMs: median(bare), floorMs, peakMb, phases };
}

/** Measures the same with eight times as many skills, once each. */
async function growthOf(size: Size, rows: readonly Row[]): Promise<readonly Growth[]> {
  const many = { files: size.files, skills: size.skills * TIMES_AS_MANY };
  await using codebase = largeCodebase(many);
  const commands = commandsOf(codebase, many);
  return [1, 2, 3].map((at) => {
    const command = commands[at];
    const before = rows[at];
    if (command === undefined || before === undefined) throw new RangeError(`no command ${at}`);
    command.prepare?.();
    const ms = timeClaw(codebase.root, command.args);
    const name = `${before.name}, ${many.skills}`;
    return { name, ratio: ms / (before.ms * TIMES_AS_MANY) };
  });
}

function ratioOf({ by, ms, bareMs, floorMs }: Row): number {
  return ms / ((by === 'floor' ? floorMs : bareMs) ?? bareMs);
}

if (import.meta.main) printLarge(await benchLarge(5));
