import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { VoiceError } from './failure.ts';

/** The folders of programs that are named without one. */
const PATH = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin';
const MAX_OUTPUT_BYTES = 1_000_000;
const MAX_COMPLAINT_BYTES = 4_000;

export type ProgramRun = {
  /** As the owner would type it, without a shell: quotes keep words together. */
  readonly command: string;
  /** Values for the names in braces. */
  readonly places: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
};

/**
 * Runs a program of the owner's and returns what it prints. It has its own process group, which is killed at the end
 * of its time with all that it has started, and an environment without the assistant's keys.
 *
 * @throws VoiceError PROGRAM_MISSING, PROGRAM_FAILED, TIMEOUT, GARBAGE
 */
export async function runProgram(run: ProgramRun): Promise<Buffer> {
  const [program, ...args] = wordsOf(run.command, run.places);
  if (program === undefined) throw new VoiceError('PROGRAM_MISSING', 'no program is named');
  const child = spawn(program, args, {
    detached: true,
    env: { PATH, HOME: userInfo().homedir, LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const printed = collected(MAX_OUTPUT_BYTES);
  const complaint = collected(MAX_COMPLAINT_BYTES);
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  const giveUp = (error: Error): void => {
    endGroup(child.pid);
    reject(error);
  };
  const late = setTimeout(() => {
    const seconds = Math.round(run.limitMs / 1_000);
    giveUp(new VoiceError('TIMEOUT', `the program ${program} took longer than ${seconds} s`));
  }, run.limitMs);
  const stopped = (): void => giveUp(new VoiceError('TIMEOUT', 'the assistant was stopped'));
  run.signal.addEventListener('abort', stopped);
  if (run.signal.aborted) stopped();
  child.on('error', (error: NodeJS.ErrnoException) => {
    const isMissing = error.code === 'ENOENT' || error.code === 'EACCES';
    const text = isMissing
      ? `the program ${program} is not there, or may not be run`
      : `the program ${program} could not be started (${error.message})`;
    reject(new VoiceError(isMissing ? 'PROGRAM_MISSING' : 'PROGRAM_FAILED', text));
  });
  child.stdout.on('data', (chunk: Buffer) => {
    if (printed.add(chunk)) return;
    giveUp(new VoiceError('GARBAGE', `the program ${program} printed more than a megabyte`));
  });
  child.stderr.on('data', (chunk: Buffer) => void complaint.add(chunk));
  // It may end without having read what it was given.
  child.stdin.on('error', () => {});
  child.stdin.end(run.stdin ?? '');
  // What it has left behind would hold its output open.
  child.on('exit', () => endGroup(child.pid));
  child.on('close', resolve);
  try {
    const code = await promise;
    if (code !== 0) throw failed(program, code, complaint.bytes().toString('utf8'));
    return printed.bytes();
  } finally {
    clearTimeout(late);
    run.signal.removeEventListener('abort', stopped);
    endGroup(child.pid);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

/** Splits a command line into words, with the places filled in after that: a path with a space stays one word. */
export function wordsOf(
  command: string,
  places: Readonly<Record<string, string>>,
): readonly string[] {
  const words = command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.map((word) =>
    word
      .replace(/"([^"]*)"|'([^']*)'/g, (_, one?: string, other?: string) => one ?? other ?? '')
      .replace(/\{(\w+)\}/g, (whole, name: string) => places[name] ?? whole),
  );
}

function collected(limit: number) {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    /** @returns whether it fits */
    add(chunk: Buffer): boolean {
      if (size + chunk.length > limit) return false;
      size += chunk.length;
      chunks.push(chunk);
      return true;
    },
    bytes: () => Buffer.concat(chunks),
  };
}

function failed(program: string, code: number | null, complaint: string): VoiceError {
  const last = complaint.trim().split('\n').at(-1) ?? '';
  const why = last.replace(/\p{C}+/gu, ' ').slice(0, 160);
  const how = code === null ? 'was killed' : `ended with code ${code}`;
  return new VoiceError(
    'PROGRAM_FAILED',
    `the program ${program} ${how}${why === '' ? '' : ` (${why})`}`,
  );
}

/** Kills what the program has started and left behind. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It is gone, which is what was wanted.
  }
}

/** Finds the program that a command names; its path is null where it is not there. */
export function findProgram(command: string): {
  readonly name: string;
  readonly path: string | null;
} {
  const [name = ''] = wordsOf(command, {});
  const places = name.includes('/') ? [name] : PATH.split(':').map((folder) => join(folder, name));
  return { name, path: places.find(isProgram) ?? null };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
