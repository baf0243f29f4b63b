import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, sep } from 'node:path';
import { performance } from 'node:perf_hooks';
import { CLAW } from '../../src/testing/claw/codebase.ts';

/** The least that a command has to read, and to write as copies. */
export type Work = {
  readonly read: readonly string[];
  readonly write: readonly (readonly [from: string, to: string])[];
};

/** The Node that a user's shell finds: the first on the path that no package brought. */
export const SYSTEM_NODE = systemNode();

const PEAK = join(import.meta.dirname, 'peak-memory.cjs');
const FLOOR = join(import.meta.dirname, 'floor.js');

/** Returns the milliseconds of the command line, started as a user does. Fails where it does. */
export function timeClaw(root: string, args: readonly string[]): number {
  return timeNode([CLAW, ...args, '--json'], root);
}

/** Returns the milliseconds of the same bytes read, hashed and written by plain Node. */
export function timeFloor(root: string, work: Work): number {
  return timeNode([FLOOR], root, { input: JSON.stringify(work) });
}

/** Returns the milliseconds of a Node that does nothing. */
export function timeBare(root: string, node = SYSTEM_NODE): number {
  return timeNode(['-e', '0'], root, { node });
}

/** Runs a command untimed. @returns the highest peak of its Node processes, in megabytes */
export function peakOf(root: string, args: readonly string[]): number {
  const peaks = join(tmpdir(), `claw-bench-peaks-${process.pid}`);
  const env = { NODE_OPTIONS: `--require ${PEAK}`, BENCH_PEAKS: peaks };
  timeNode([CLAW, ...args, '--json'], root, { env });
  const found = readFileSync(peaks, 'utf8').trim().split('\n').map(Number);
  rmSync(peaks);
  return Math.max(...found) / 1024;
}

/** Runs a command with Node's profiler, which writes a file for each process into a folder. */
export function profileClaw(root: string, args: readonly string[], dir: string): void {
  const options = `--cpu-prof --cpu-prof-interval=250 --cpu-prof-dir=${dir}`;
  // The older Node does not take these from the environment, and only hands over.
  timeNode([CLAW, ...args, '--json'], root, {
    node: process.execPath,
    env: { NODE_OPTIONS: options },
  });
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

type Way = {
  readonly node?: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
};

function timeNode(
  args: readonly string[],
  cwd: string,
  { node = SYSTEM_NODE, input = '', env = {} }: Way = {},
): number {
  const started = performance.now();
  const run = spawnSync(node, args, {
    cwd,
    input,
    env: { ...process.env, ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  const ms = performance.now() - started;
  if (run.status !== 0) throw new Error(`${args.join(' ')} failed: ${run.stdout}${run.stderr}`);
  return ms;
}

function systemNode(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const own = folders.filter((folder) => !folder.includes(`${sep}node_modules${sep}`));
  const found = own.map((folder) => join(folder, 'node')).find((path) => existsSync(path));
  return found ?? process.execPath;
}
