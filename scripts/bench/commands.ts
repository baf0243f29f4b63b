/**
 * Measures commands on a codebase of 2,000 files, process start included, beside a bare `node -e 0` in the
 * same run.
 *
 *     node scripts/bench/commands.ts
 */
import { spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import {
  addSkill,
  CLAW,
  type Codebase,
  temporaryCodebase,
} from '../../src/testing/claw/codebase.ts';

export type CommandBench = {
  readonly files: number;
  readonly runs: number;
  /** Medians in milliseconds. */
  readonly bareMs: number;
  readonly initMs: number;
  readonly statusMs: number;
  readonly applyMs: number;
  readonly removeMs: number;
};

const FILES = 2_000;
const TEXT = Array.from({ length: 60 }, (_, line) => `const line${line} = ${line};\n`).join('');

if (import.meta.main) printCommands(await benchCommands(10));

/** Prints a measurement with its goals and ratios. */
export function printCommands(found: CommandBench): void {
  const { files, runs, bareMs, initMs, statusMs, applyMs, removeMs } = found;
  console.log(`commands on ${files} files, medians of ${runs}; bare node ${bareMs.toFixed(0)} ms`);
  const rows = [
    ['init', initMs, null],
    ['status', statusMs, 200],
    ['apply', applyMs, 400],
    ['remove', removeMs, null],
  ] as const;
  for (const [verb, ms, goal] of rows) {
    const aim = goal === null ? '' : `, goal ${goal} ms`;
    console.log(`  ${verb}: ${ms.toFixed(0)} ms, ${(ms / bareMs).toFixed(1)} x bare node${aim}`);
  }
}

export async function benchCommands(runs: number): Promise<CommandBench> {
  await using codebase = largeCodebase();
  const initMs = timeClaw(codebase, 'init');
  timeClaw(codebase, 'status'); // The first one fills the caches that every later one finds.
  const times = { bare: [], status: [], apply: [], remove: [] } as Record<string, number[]>;
  for (let run = 0; run < runs; run += 1) {
    times['bare']?.push(timeRun(['-e', '0'], codebase.root));
    times['status']?.push(timeClaw(codebase, 'status'));
    times['apply']?.push(timeClaw(codebase, 'apply', 'demo'));
    times['remove']?.push(timeClaw(codebase, 'remove', 'demo'));
  }
  return {
    files: FILES,
    runs,
    bareMs: median(times['bare']),
    initMs,
    statusMs: median(times['status']),
    applyMs: median(times['apply']),
    removeMs: median(times['remove']),
  };
}

function largeCodebase(): Codebase {
  const paths = Array.from({ length: FILES }, (_, n) => `src/m${n % 40}/f${n}.ts`);
  const codebase = temporaryCodebase(Object.fromEntries(paths.map((path) => [path, TEXT])), {
    git: true,
  });
  addSkill(codebase, 'demo', {
    add: { 'src/demo.ts': TEXT },
    modify: Object.fromEntries(
      paths.slice(0, 4).map((path) => [path, [TEXT, TEXT.replace('= 30', '= 31')] as const]),
    ),
  });
  return codebase;
}

function timeClaw(codebase: Codebase, ...args: string[]): number {
  return timeRun([CLAW, ...args, '--json'], codebase.root);
}

function timeRun(args: readonly string[], cwd: string): number {
  const started = performance.now();
  const run = spawnSync(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  if (run.status !== 0) throw new Error(`${args.join(' ')} failed: ${run.stdout}`);
  return performance.now() - started;
}

function median(times: readonly number[] = []): number {
  return [...times].sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;
}
