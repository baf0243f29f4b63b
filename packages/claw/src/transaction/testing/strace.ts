import { readFileSync } from 'node:fs';
import { execa } from 'execa';

/** The calls that change a folder, and the one that makes a change last. */
export const CALLS = [
  'rename',
  'link',
  'unlink',
  'unlinkat',
  'mkdir',
  'rmdir',
  'chmod',
  'fchmod',
  'fsync',
] as const;

/** A fault for the n-th call of one kind; with `isPersistent`, for every later one too. */
export type Injection = {
  readonly call: string;
  readonly nth: number;
  readonly effect: 'SIGKILL' | 'ENOSPC' | 'EACCES' | 'EIO';
  readonly isPersistent?: boolean;
};

export type Run = {
  readonly stdout: string;
  readonly exitCode: number | undefined;
  /** True if the trace shows that the injection took place; a run without is no evidence. */
  readonly isHit: boolean;
};

/** Returns so many numbers from 1 to a count, spread evenly, the first and the last among them: calls to try. */
export function spread(count: number, most: number): readonly number[] {
  if (count <= most) return Array.from({ length: count }, (_, at) => at + 1);
  return Array.from({ length: most }, (_, at) => Math.round(1 + (at * (count - 1)) / (most - 1)));
}

/** Counts each of the calls that a program makes when nothing is injected. */
export async function census(
  program: readonly string[],
  log: string,
  calls: readonly string[] = CALLS,
): Promise<Readonly<Record<string, number>>> {
  await trace(program, log, [], calls);
  const counts: Record<string, number> = {};
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const call = /^\d+ +(\w+)\(/.exec(line)?.[1];
    if (call !== undefined) counts[call] = (counts[call] ?? 0) + 1;
  }
  return counts;
}

/** Runs a program and lets one of its calls kill it, or fail. */
export async function inject(
  program: readonly string[],
  log: string,
  { call, nth, effect, isPersistent = false }: Injection,
  calls: readonly string[] = CALLS,
): Promise<Run> {
  const what = effect === 'SIGKILL' ? 'signal=SIGKILL' : `error=${effect}`;
  const when = `${nth}${isPersistent ? '+' : ''}`;
  const run = await trace(program, log, ['-e', `inject=${call}:${what}:when=${when}`], calls);
  const text = readFileSync(log, 'utf8');
  const isHit = text.includes(effect === 'SIGKILL' ? 'killed by SIGKILL' : '(INJECTED)');
  return { stdout: run.stdout, exitCode: run.exitCode, isHit };
}

function trace(
  program: readonly string[],
  log: string,
  extra: readonly string[],
  calls: readonly string[],
) {
  const filter = ['-f', '-e', `trace=${calls.join(',')}`];
  // Spares a stop at every other call, which costs half of the time; strace 6.1 loses signals with it.
  if (!extra.some((option) => option.includes(':signal='))) filter.push('--seccomp-bpf');
  // Node writes its cache of compiled modules with the same calls, in one run and not in the next.
  // Calls are counted in each thread: asynchronous ones are all in one.
  const env = { NODE_DISABLE_COMPILE_CACHE: '1', UV_THREADPOOL_SIZE: '1' };
  return execa('strace', [...filter, ...extra, '-o', log, ...program], { reject: false, env });
}
