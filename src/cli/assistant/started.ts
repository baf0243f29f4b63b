import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ClawError } from '../../engine/index.ts';

/** An assistant that runs for the time of a command. */
export type StartedAssistant = {
  /** Lets it finish what is under way. */
  stop(): Promise<void>;
};

/** The supervisor of the assistant in a project. @throws ClawError USAGE where there is none */
export function supervisorOf(root: string): string {
  const path = join(root, 'src/supervisor/start.ts');
  if (existsSync(path)) return path;
  throw new ClawError('USAGE', `There is no assistant in ${root}. Name its folder with --cwd.`);
}

/**
 * Starts the assistant without a terminal of its own. It can be talked to when this resolves, and ends
 * when this process does.
 *
 * @throws ClawError ASSISTANT_STOPPED with what it said
 */
export async function startForAWhile(root: string): Promise<StartedAssistant> {
  // A group of its own: Ctrl-C is for this command, which then ends its input in good order.
  const child = spawn(process.execPath, [supervisorOf(root)], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const closed = once(child, 'close');
  // It may be gone before its input is ended.
  child.stdin.on('error', () => {});
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line);
    process.stderr.write(`${line}\n`);
  });
  let printed = '';
  const { promise: isUp, resolve } = Promise.withResolvers<true>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    resolve(true);
  });
  const isRunning = await Promise.race([isUp, closed.then(() => false)]);
  // It prints before its end only why it ends: its greeting comes when it runs.
  if (!isRunning || child.exitCode !== null) {
    await closed;
    const why = [...said, printed.trim()].join('\n');
    throw new ClawError('ASSISTANT_STOPPED', `The assistant did not start. ${why}`.trim());
  }
  return {
    async stop() {
      child.stdin.end();
      await closed;
    },
  };
}
