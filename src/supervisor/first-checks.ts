import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';

/** By then the greeting is on the screen, and a first message has had its time. */
const AFTER_MS = 3_000;
const SCRIPT = 'scripts/first-checks.ts';

/** Work that a new installation leaves for the time after its first greeting. */
export interface FirstChecks {
  /** Starts them in a while; only the first call counts. */
  startLater(): void;
  /** Ends them at once. The next start begins anew. */
  stop(): void;
}

/**
 * Runs `scripts/first-checks.ts` at the lowest priority, so that the first skill is fast and the first greeting does not
 * wait for it. The script itself knows whether there is anything left to do.
 *
 * @param parts.onFailed gets the system's error when the script cannot be started
 */
export function openFirstChecks(parts: {
  readonly projectDir: string;
  readonly nodePath: string;
  readonly onFailed: (error: Error) => void;
}): FirstChecks {
  const { projectDir, nodePath, onFailed } = parts;
  const script = join(projectDir, SCRIPT);
  let timer: NodeJS.Timeout | null = null;
  let child: ChildProcess | null = null;

  function start(): void {
    if (!existsSync(script)) return;
    // A group of its own: it starts test runners, which end with it.
    child = spawn(nodePath, [script, '--if-needed'], {
      cwd: projectDir,
      // Compiled code of \`claw\` has a place of its own, where each \`claw\` looks for it.
      env: { ...process.env, NODE_COMPILE_CACHE: undefined },
      stdio: 'ignore',
      detached: true,
    });
    child.on('error', onFailed);
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  }

  return {
    startLater() {
      timer ??= setTimeout(start, AFTER_MS).unref();
    },
    stop() {
      if (timer !== null) clearTimeout(timer);
      if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      try {
        process.kill(-child.pid);
      } catch {
        // It has just ended.
      }
    },
  };
}
