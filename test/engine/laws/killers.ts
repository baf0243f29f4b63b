import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { carryOut, contextAt, type Killer } from './call.ts';
import { haltAt } from './halt.ts';

/**
 * In this process: from the n-th change on nothing reaches the disk any more, which is all that a
 * disk ever learns of a kill.
 */
export const standStill: Killer = async (root, call, nth) => {
  const watch = haltAt(root, nth, () => {});
  try {
    await carryOut(contextAt(root), call);
  } catch {
    // Whatever it says, it says to nobody: for the disk this process is gone.
  } finally {
    watch.end();
  }
  return watch.isHalted();
};

const CHILD = join(import.meta.dirname, 'kill-child.ts');

/** Processes that wait for a verb to carry out and die of SIGKILL on the way. One more is always starting. */
export function childrenThatDie(): { readonly killer: Killer; readonly end: () => void } {
  const cache = mkdtempSync(join(tmpdir(), 'claw-laws-code-'));
  const start = () =>
    fork(CHILD, [], {
      execArgv: [],
      env: { ...process.env, NODE_COMPILE_CACHE: cache },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
  const waiting = [start(), start()];
  const killer: Killer = async (root, call, nth) => {
    const child = waiting.shift() ?? start();
    waiting.push(start());
    const ended = new Promise<boolean>((resolve) =>
      child.once('exit', (_, signal) => resolve(signal === 'SIGKILL')),
    );
    child.send({ root, call, nth });
    return await ended;
  };
  const end = () => {
    for (const child of waiting) stop(child);
    rmSync(cache, { recursive: true, force: true });
  };
  return { killer, end };
}

function stop(child: ChildProcess): void {
  child.kill('SIGKILL');
}
