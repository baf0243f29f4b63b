import { execFile } from 'node:child_process';
import { z } from 'zod';
import type { Environment } from '../environment.ts';
import { type Rollback, takeBackWithoutClaw } from './rollback-without-claw.ts';

export type RollbackOptions = {
  readonly nodePath: string;
  readonly clawPath: string;
  readonly projectDir: string;
  readonly environment: Environment;
  /** After this a claw that says nothing is taken for broken; three minutes by default. */
  readonly undoMs?: number;
};

const UNDO_MS = 180_000;

const Result = z.looseObject({
  ok: z.boolean(),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullish(),
});

/**
 * Takes the last transaction back: with `claw undo`, which keeps edits made since, and where the tree
 * that was published broke claw itself, without it.
 */
export async function rollBack(options: RollbackOptions): Promise<Rollback> {
  const undone = await undo(options);
  if (undone.ok || !undone.isBroken) return undone;
  return takeBackWithoutClaw(options.projectDir, undone.message);
}

/** Uses Node's own child process: the packages in `node_modules` may be what is broken. */
function undo(options: RollbackOptions): Promise<Rollback & { readonly isBroken: boolean }> {
  const { nodePath, clawPath, projectDir, environment } = options;
  const args = [clawPath, 'undo', '--yes', '--json', '--cwd', projectDir];
  return new Promise((resolve) => {
    execFile(
      nodePath,
      args,
      {
        cwd: projectDir,
        env: { ...environment },
        maxBuffer: 64 * 1024 * 1024,
        timeout: options.undoMs ?? UNDO_MS,
        killSignal: 'SIGKILL',
      },
      (error, stdout, stderr) => {
        const result = Result.safeParse(parseJson(stdout)).data;
        if (error === null && result?.ok === true) return resolve({ ok: true, isBroken: false });
        const isLate = error !== null && error.killed === true;
        const silence = isLate ? 'it said nothing for too long' : String(error);
        const message = result?.error?.message ?? (reasonIn(stderr) || silence);
        // A claw that works and refuses has its reasons; one with a fault says so, or nothing.
        const isBroken = result === undefined || result.error?.code === 'INTERNAL';
        resolve({ ok: false, message, isBroken });
      },
    );
  });
}

/** Finds the line that names the error in Node's output for an exception. */
function reasonIn(stderr: string): string {
  const lines = stderr.trim().split('\n');
  return lines.find((line) => /^\w*Error\b.*:/.test(line)) ?? lines.at(-1) ?? '';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // No result is a failure, whatever else was printed.
  }
}
