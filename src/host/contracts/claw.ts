import { type ChildProcess, spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { ResultJson, TreeChangeData } from '@patchclaw/claw/contract';
import { z } from 'zod';
import { inChatWords } from '../changes/chat-words.ts';

const Assumptions = TreeChangeData.pick({ assumed: true });

type Printed = Omit<z.output<typeof ResultJson>, 'verb' | 'error'>;

/** The answer of a `claw` command; `exitCode` as in its contract, 1 when it could not even run. */
export type ClawResult = Printed & {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  } | null;
  readonly exitCode: number;
};

/** Returns the data of a result; null where it has none, or where another version of `claw` made it. */
export function dataBy<S extends z.ZodType>(schema: S, { data }: ClawResult): z.output<S> | null {
  return schema.safeParse(data).data ?? null;
}

/** Runs one `claw` command with `--json`. Never rejects: what goes wrong is in the result. */
export type Claw = (
  args: readonly string[],
  onProgress?: (line: string) => void,
  /** Interrupts the command, which then ends in good order. */
  signal?: AbortSignal,
) => Promise<ClawResult>;

export type ClawOptions = {
  readonly nodePath: string;
  /** The script that is the `claw` command. */
  readonly clawPath: string;
  readonly projectDir: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Added for the command that asks the model, and for no other. */
  readonly modelKey: Readonly<Record<string, string | undefined>>;
};

/**
 * Creates the host's way to the engine: a child process, so that a new tree can be published while this one
 * still runs from the old.
 */
export function clawRunner(options: ClawOptions): Claw {
  const { nodePath, clawPath, projectDir, environment, modelKey } = options;
  return async (args, onProgress, signal) => {
    const { execa } = await import('execa');
    const child = execa(nodePath, [clawPath, ...args, '--json', '--cwd', projectDir], {
      cwd: projectDir,
      env: args.includes('--agent') ? { ...environment, ...modelKey } : environment,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      maxBuffer: 64 * 1024 * 1024,
    });
    const progress =
      onProgress === undefined ? null : relay(child.iterable({ from: 'stderr' }), onProgress);
    const interrupt = (): void => void child.kill('SIGINT');
    if (signal?.aborted === true) interrupt();
    signal?.addEventListener('abort', interrupt, { once: true });
    const { stdout, stderr, exitCode } = await child;
    signal?.removeEventListener('abort', interrupt);
    await progress;
    return parseResult(stdout, stderr, exitCode ?? 1);
  };
}

/**
 * Returns the result of a verb that changes nothing, such as `['plan', 'apply', 'dice', '--diff']`. Never rejects: what
 * goes wrong is in the result.
 */
export type ReadClaw = (args: readonly [LookingVerb, ...string[]]) => Promise<ClawResult>;

/** Verbs that only look. */
type LookingVerb = (typeof LOOKING_VERBS)[number];

const LOOKING_VERBS = [
  'conflicts',
  'diff',
  'doctor',
  'list',
  'log',
  'plan',
  'show',
  'status',
  'verify',
  'why',
] as const;

export type ClawReaderOptions = Pick<ClawOptions, 'nodePath' | 'projectDir' | 'environment'> & {
  /** The script that answers line by line, `bin/claw-reader.js`. */
  readonly readerPath: string;
  /** Without questions for so long, the process ends. */
  readonly idleMs: number;
};

/** The host's way to what the engine knows: one process that stays for a while, since each start costs up to a second. */
export interface ClawReader {
  readonly read: ReadClaw;
  /** Ends the process, if it runs. */
  close(): void;
}

type Waiting = (result: ClawResult) => void;

/** Opens the way; the first question starts the process. It answers one question after the other. */
export function clawReader(options: ClawReaderOptions): ClawReader {
  const { nodePath, readerPath, projectDir, environment, idleMs } = options;
  let running: { readonly child: ChildProcess; readonly waiting: Map<number, Waiting> } | null =
    null;
  let idle: NodeJS.Timeout | undefined;
  let last = 0;

  function start(): NonNullable<typeof running> {
    const child = spawn(nodePath, [readerPath], {
      cwd: projectDir,
      env: environment,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const waiting = new Map<number, Waiting>();
    const left = (): void => {
      if (running?.child === child) running = null;
      for (const end of waiting.values()) end(parseResult('', 'The engine has ended.', 1));
      waiting.clear();
    };
    child.on('message', (message) => {
      const answer = Answer.safeParse(message).data;
      if (answer === undefined) return;
      waiting.get(answer.id)?.(parseResult(answer.stdout, '', answer.exitCode));
      waiting.delete(answer.id);
    });
    child.once('exit', left).once('error', left);
    running = { child, waiting };
    return running;
  }

  function close(): void {
    clearTimeout(idle);
    // A verb that looks takes a gentler signal for Ctrl-C, and ends when it is done.
    running?.child.kill('SIGKILL');
    running = null;
  }

  return {
    async read(args) {
      if (!LOOKING_VERBS.includes(args[0])) throw new Error(`${args[0]} does not only look.`);
      const { child, waiting } = running ?? start();
      clearTimeout(idle);
      last += 1;
      const { promise, resolve } = Promise.withResolvers<ClawResult>();
      waiting.set(last, resolve);
      child.send({ id: last, args: [...args, '--json', '--cwd', projectDir] }, () => {});
      const result = await promise;
      clearTimeout(idle);
      if (running?.child === child && waiting.size === 0) idle = setTimeout(close, idleMs).unref();
      return result;
    },
    close,
  };
}

const Answer = z.object({ id: z.int(), stdout: z.string(), exitCode: z.int() });

async function relay(lines: AsyncIterable<unknown>, onProgress: (line: string) => void) {
  try {
    for await (const line of lines) {
      const text = stripVTControlCharacters(String(line)).trim();
      if (text !== '') onProgress(inChatWords(text));
    }
  } catch {
    // The iterable rejects when the command fails; its exit code and JSON say so themselves.
  }
}

function parseResult(stdout: string, stderr: string, exitCode: number): ClawResult {
  try {
    const result = { ...ResultJson.parse(JSON.parse(stdout)), exitCode };
    // `claw` warns at the terminal about its assumption on the release; a chat needs no such warning.
    const assumed = dataBy(Assumptions, result)?.assumed ?? [];
    const warnings = result.warnings
      .filter((warning) => !assumed.includes(warning))
      .map(inChatWords);
    const error =
      result.error === null
        ? null
        : { ...result.error, message: inChatWords(result.error.message) };
    return { ...result, warnings, error };
  } catch {
    const lastLine = stripVTControlCharacters(stderr).trim().split('\n').at(-1) ?? '';
    const message =
      `The claw command ended with code ${exitCode} and no result. ${lastLine}`.trim();
    return {
      ok: false,
      outcome: 'failed',
      data: null,
      changes: [],
      conflicts: [],
      warnings: [],
      error: { code: 'NO_RESULT', message },
      exitCode: exitCode === 0 ? 1 : exitCode,
    };
  }
}
