import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { CLAW } from '../../src/testing/claw/codebase.ts';

/** Time of a process from start to end, and its peak memory. */
export type Timed = { readonly ms: number; readonly peakMb: number };

/** The least that a command has to read, and to write as copies. */
export type Work = {
  readonly read: readonly string[];
  readonly write: readonly (readonly [from: string, to: string])[];
};

const PEAK = join(import.meta.dirname, 'peak-memory.cjs');

/** Runs the real command line. Fails where it does. */
export function timeClaw(root: string, ...args: readonly string[]): Timed {
  return timeNode([CLAW, ...args, '--json'], root);
}

/** Reads, hashes and writes the same bytes with plain Node. */
export function timeFloor(root: string, work: Work): Timed {
  return timeNode([join(import.meta.dirname, 'floor.js')], root, JSON.stringify(work));
}

function timeNode(args: readonly string[], cwd: string, input = ''): Timed {
  const watched = ['--require', PEAK, ...args];
  const started = performance.now();
  const run = spawnSync(process.execPath, watched, {
    cwd,
    input,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
  const ms = performance.now() - started;
  if (run.status !== 0) throw new Error(`${args.join(' ')} failed: ${run.stdout}${run.stderr}`);
  return { ms, peakMb: Number(run.output[3]) / 1024 };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
