import { stripVTControlCharacters } from 'node:util';
import { CarriedData, ResultJson } from '@patchclaw/claw/contract';
import type { z } from 'zod';
import { inChatWords } from '../changes/chat-words.ts';

const Assumptions = CarriedData.pick({ assumed: true });

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
