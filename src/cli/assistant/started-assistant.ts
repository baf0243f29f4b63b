import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ClawError } from '@patchclaw/claw/cli';

/** An assistant that runs for the time of a command. */
export type StartedAssistant = {
  /** Lets it finish what is under way; why it ended, where that was not in good order. */
  stop(): Promise<string | null>;
};

/**
 * Returns the entry file of the assistant in a project: the one that `npm start` and the service start.
 *
 * @throws ClawError USAGE where there is none
 */
export function findEntry(root: string): string {
  const path = join(root, 'src/supervisor/entry.js');
  if (existsSync(path)) return path;
  throw new ClawError('USAGE', `There is no assistant in ${root}. Name its folder with --cwd.`);
}

/**
 * Starts the assistant without a terminal of its own, and resolves when it can be talked to or has
 * ended. It ends when this process does, and is told to when `signal` is aborted.
 */
export async function startForAWhile(root: string, signal: AbortSignal): Promise<StartedAssistant> {
  // A group of its own: Ctrl-C is for this command, which then ends it in good order.
  const child = spawn(process.execPath, [findEntry(root)], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const closed = once(child, 'close');
  signal.addEventListener('abort', () => child.kill('SIGTERM'));
  // It may be gone before its input is ended.
  child.stdin.on('error', () => {});
  let said = '';
  createInterface({ input: child.stderr }).on('line', (line) => {
    process.stderr.write(`${line}\n`);
  });
  const { promise: isUp, resolve } = Promise.withResolvers<void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    resolve();
  });
  await Promise.race([isUp, closed]);
  return {
    async stop() {
      child.stdin.end();
      await closed;
      return child.exitCode === 0 ? null : said.trim();
    },
  };
}
