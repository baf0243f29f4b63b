import { fork } from 'node:child_process';
import { writeSync } from 'node:fs';
import { type Contributions, discoverContributions } from '../../contributions.ts';
import type { Contribution } from '../../lib/contribution.ts';
import { fileOf, noteFile } from '../../lib/tree-fault.ts';
import { type Finding, problem, type Subject } from '../examination.ts';

/** Far more than a start takes to make all of them. */
const LONGEST_MS = 60_000;
const PROGRESS = 3;

type Examine = (contributions: Contributions, subject: Subject) => readonly Finding[];
type ExaminationReport = { readonly findings: readonly Finding[] } | { readonly broke: string };

export type ApartOptions = {
  readonly area: string;
  readonly advice: string;
  /** Given up then; after a minute by default. */
  readonly signal?: AbortSignal;
};

/**
 * Lets a child process examine the discovered parts. A skill's code may end the process that loads it, keep it busy
 * forever, write to its output or leave a timer behind.
 *
 * @param child the program of that process, which calls `examineForParent`
 */
export async function examineApart(
  child: string,
  subject: Subject,
  { area, advice, signal = AbortSignal.timeout(LONGEST_MS) }: ApartOptions,
): Promise<readonly Finding[]> {
  const { now: _, ...told } = subject;
  const { promise, resolve } = Promise.withResolvers<readonly Finding[]>();
  const work = fork(child, [], {
    env: { ...subject.environment },
    execArgv: [],
    killSignal: 'SIGKILL',
    serialization: 'json',
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'ipc'],
  });
  let made = '';
  work.stdio[PROGRESS]?.on('data', (lines) => {
    made = `${made}${lines}`.split('\n').slice(-2).join('\n');
  });
  const broken = (how: string) =>
    resolve([problem(area, `${made.split('\n')[0] || 'What plugs in'} ${how}`, advice)]);
  work.on('message', (message: ExaminationReport) =>
    resolve(
      'findings' in message
        ? message.findings
        : [problem(area, `What was made broke afterwards: ${message.broke}`, advice)],
    ),
  );
  work.on('error', ({ message }) => broken(`cannot be made apart: ${message}`));
  // By then all that it has said is here.
  work.on('close', (code) => broken(`cannot be made: it ended the process, with ${code}`));
  const giveUp = (): void => broken('cannot be made: it does not come to an end');
  signal.addEventListener('abort', giveUp);
  // One that is busy for ever would outlive this process.
  const kill = (): void => void work.kill('SIGKILL');
  process.once('exit', kill);
  work.send(told);
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', giveUp);
    process.off('exit', kill);
    kill();
  }
}

/** Examines, in a process that `examineApart` has started, what plugs in, and tells its parent. */
export async function examineForParent(
  examine: Examine,
  discover: () => Promise<Contributions> = discoverContributions,
): Promise<void> {
  const tell = (told: ExaminationReport): void => void process.send?.(told);
  process.on('uncaughtException', ({ message, stack = '' }) => {
    const [, place] = /(?:file:\/\/)?(\/[^\s():]+:\d+)/.exec(stack) ?? [];
    tell({ broke: `${message} (${place ?? 'no place known'})` });
  });
  const { promise: isAsked, resolve } = Promise.withResolvers<Omit<Subject, 'now'>>();
  process.once('message', (message) => resolve(message as Omit<Subject, 'now'>));
  const subject = { ...(await isAsked), now: Date.now };
  const contributions = await discover().catch(() => null);
  // What cannot be loaded is told with the settings, which are read of the same files.
  const findings = contributions === null ? [] : examine(named(contributions), subject);
  // What was thrown in a promise comes first.
  setImmediate(() => tell({ findings }));
}

/** Has each contribution's file told before it is made, at once: it may be the last thing that is. */
function named(contributions: Contributions): Contributions {
  const withName = <C extends Contribution<never, unknown>>(definition: C): C => {
    const file = fileOf(definition) ?? definition.name;
    const told: C = {
      ...definition,
      open(environment, context) {
        writeSync(PROGRESS, `${file}\n`);
        return definition.open(environment, context);
      },
    };
    noteFile(told, file);
    return told;
  };
  const entries = Object.entries(contributions).map(([kind, all]) => [kind, all.map(withName)]);
  return Object.fromEntries(entries) as Contributions;
}
