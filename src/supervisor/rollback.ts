import { execFile } from 'node:child_process';
import { z } from 'zod';
import type { Environment } from './environment.ts';

export type Rollback = { readonly ok: true } | { readonly ok: false; readonly message: string };

export type RollbackOptions = {
  readonly nodePath: string;
  readonly clawPath: string;
  readonly projectDir: string;
  readonly environment: Environment;
};

const Result = z.looseObject({
  ok: z.boolean(),
  error: z.looseObject({ message: z.string() }).nullish(),
});

/**
 * Takes the last transaction back with `claw undo`. Uses Node's own child process: the packages in
 * `node_modules` may be what is broken.
 */
export function rollBack(options: RollbackOptions): Promise<Rollback> {
  const { nodePath, clawPath, projectDir, environment } = options;
  const args = [clawPath, 'undo', '--yes', '--json', '--cwd', projectDir];
  return new Promise((resolve) => {
    execFile(
      nodePath,
      args,
      { cwd: projectDir, env: { ...environment }, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const result = Result.safeParse(parseJson(stdout)).data;
        if (error === null && result?.ok === true) return resolve({ ok: true });
        const message =
          result?.error?.message ?? (stderr.trim().split('\n').at(-1) || String(error));
        resolve({ ok: false, message });
      },
    );
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // No result is a failure, whatever else was printed.
  }
}
