import { spawn } from 'node:child_process';
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

/** Returns the data of a result; null if it has none, or if another version of `claw` made it. */
export function dataBy<S extends z.ZodType>(schema: S, { data }: ClawResult): z.output<S> | null {
  return schema.safeParse(data).data ?? null;
}

const Text = z.string().max(1_000_000);
const Progress = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['step', 'done', 'note', 'started']), text: Text }),
  z.object({
    kind: z.literal('ended'),
    text: Text,
    outcome: z.enum(['passed', 'failed', 'stopped']),
  }),
  z.object({ kind: z.literal('output'), text: Text, output: Text }),
]);

/**
 * The progress of a command, as `claw --progress` reports it. A `step` ends with `done` or the next step. Checks and
 * tests, which may run at the same time, are `started` and `ended` and are identified by their text; `output` is what
 * one of them printed.
 */
export type ClawProgress = Readonly<z.output<typeof Progress>>;

/** Runs one `claw` command with `--json`. Never rejects: an error is part of the result. */
export type Claw = (
  args: readonly string[],
  onProgress?: (progress: ClawProgress) => void,
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
    const told = onProgress === undefined ? [] : ['--progress'];
    const child = execa(nodePath, [clawPath, ...args, '--json', ...told, '--cwd', projectDir], {
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
 * Returns the result of a verb that changes nothing, such as `['plan', 'apply', 'dice', '--diff']`. Never rejects: an
 * error is part of the result.
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
  'matrix',
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

/** The host's access to the engine: one process that stays for a while, since each start costs up to a second. */
export interface ClawReader {
  readonly read: ReadClaw;
  /** Ends the process, if it runs. */
  close(): void;
}

type Waiting = (result: ClawResult) => void;

/** Takes seconds, in which nobody else would have an answer. */
const LONG_VERBS: readonly string[] = ['matrix'] satisfies readonly LookingVerb[];

/** Questions that wait at most; pages ask a few at a time. */
const MOST_WAITING = 100;

/**
 * Opens the access; the first question starts the process. It answers one question after the other; each verb that
 * takes long gets a process of its own. If the same question already waits, both get its answer, so many pages cost
 * no more than one. A question that has begun is not shared: it may have seen the state before a change.
 */
export function clawReader(options: ClawReaderOptions): ClawReader {
  const { idleMs, projectDir } = options;
  const lines = { beside: openLine(MOST_WAITING), alone: openLine(MOST_WAITING) };
  let running: ReaderProcess | null = null;
  let idle: NodeJS.Timeout | undefined;
  const alone = new Set<ReaderProcess>();

  async function askAlone(args: readonly string[]): Promise<ClawResult> {
    const started = startReader(options, () => void alone.delete(started));
    alone.add(started);
    const result = await started.ask(args);
    started.end();
    return result;
  }

  async function askBeside(args: readonly string[]): Promise<ClawResult> {
    running ??= start();
    const asked = running;
    clearTimeout(idle);
    const result = await asked.ask(args);
    clearTimeout(idle);
    if (running === asked && asked.isIdle()) idle = setTimeout(close, idleMs).unref();
    return result;
  }

  function start(): ReaderProcess {
    const started = startReader(options, () => {
      if (running === started) running = null;
    });
    return started;
  }

  function close(): void {
    clearTimeout(idle);
    lines.beside.drop();
    lines.alone.drop();
    running?.end();
    running = null;
    for (const one of alone) one.end();
  }

  return {
    async read(args) {
      const [verb] = args;
      // What proves something runs the code of skills.
      const isProof = verb === 'matrix' && !args.includes('--no-proof');
      if (!LOOKING_VERBS.includes(verb) || isProof) throw new Error(`${verb} does not only look.`);
      const words = [...args, '--json', '--cwd', projectDir];
      const isLong = LONG_VERBS.includes(verb);
      const line = isLong ? lines.alone : lines.beside;
      return await line.ask(JSON.stringify(args), () =>
        isLong ? askAlone(words) : askBeside(words),
      );
    },
    close,
  };
}

type Line = {
  /** Whatever waits gets no answer. */
  drop(): void;
  ask(question: string, carryOut: () => Promise<ClawResult>): Promise<ClawResult>;
};

/** Opens a line of questions, of which one is carried out at a time. */
function openLine(most: number): Line {
  const waiting = new Map<string, Promise<ClawResult>>();
  let last: Promise<unknown> = Promise.resolve();
  let dropped = 0;
  return {
    drop() {
      dropped += 1;
      waiting.clear();
    },
    async ask(question, carryOut) {
      const same = waiting.get(question);
      if (same !== undefined) return await same;
      if (waiting.size >= most) return failed('BUSY', TOO_MUCH);
      const before = dropped;
      const result = last.then(async () => {
        if (dropped !== before) return failed('NO_RESULT', ENDED);
        waiting.delete(question);
        return await carryOut();
      });
      waiting.set(question, result);
      // One that fails stops no other.
      last = result.catch(() => {});
      return await result;
    },
  };
}

const ENDED = 'The engine has ended.';
const TOO_MUCH = 'Too many questions wait for the engine. Try again in a moment.';

/** A process of `bin/claw-reader.js`. */
interface ReaderProcess {
  ask(args: readonly string[]): Promise<ClawResult>;
  isIdle(): boolean;
  end(): void;
}

function startReader(
  { nodePath, readerPath, projectDir, environment }: ClawReaderOptions,
  onEnd: () => void,
): ReaderProcess {
  const child = spawn(nodePath, [readerPath], {
    cwd: projectDir,
    env: environment,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const waiting = new Map<number, Waiting>();
  let last = 0;
  const left = (): void => {
    onEnd();
    for (const end of waiting.values()) end(parseResult('', ENDED, 1));
    waiting.clear();
  };
  child.on('message', (message) => {
    const answer = Answer.safeParse(message).data;
    if (answer === undefined) return;
    waiting.get(answer.id)?.(parseResult(answer.stdout, '', answer.exitCode));
    waiting.delete(answer.id);
  });
  child.once('exit', left).once('error', left);
  return {
    ask(args) {
      last += 1;
      const { promise, resolve } = Promise.withResolvers<ClawResult>();
      waiting.set(last, resolve);
      child.send({ id: last, args }, () => {});
      return promise;
    },
    isIdle: () => waiting.size === 0,
    // A verb that looks takes a gentler signal for Ctrl-C, and ends when it is done.
    end: () => void child.kill('SIGKILL'),
  };
}

const Answer = z.object({ id: z.int(), stdout: z.string(), exitCode: z.int() });

async function relay(lines: AsyncIterable<unknown>, onProgress: (progress: ClawProgress) => void) {
  try {
    for await (const line of lines) {
      const progress = progressIn(String(line));
      if (progress !== null) onProgress(progress);
    }
  } catch {
    // The iterable rejects when the command fails; its exit code and JSON say so themselves.
  }
}

/** Another program's line, such as a warning of Node's, is a note. */
function progressIn(line: string): ClawProgress | null {
  const read = readProgress(line);
  const text = stripVTControlCharacters(read?.text ?? line).trim();
  if (text === '') return null;
  const said = inChatWords(text);
  return read === null ? { kind: 'note', text: said } : { ...read, text: said };
}

function readProgress(line: string): ClawProgress | null {
  try {
    return Progress.parse(JSON.parse(line));
  } catch {
    return null;
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
    const lines = stripVTControlCharacters(stderr).trim().split('\n');
    const lastLine = lines.findLast((line) => readProgress(line) === null) ?? '';
    const message =
      `The claw command ended with code ${exitCode} and no result. ${lastLine}`.trim();
    return failed('NO_RESULT', message, exitCode === 0 ? 1 : exitCode);
  }
}

function failed(code: string, message: string, exitCode = 1): ClawResult {
  const nothing = { data: null, changes: [], conflicts: [], warnings: [] };
  return { ok: false, outcome: 'failed', ...nothing, error: { code, message }, exitCode };
}
