import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { findBundle } from '../cli/bundle.js';

const HOME = join(import.meta.dirname, '../..');
const CACHE = join(HOME, 'node_modules/.cache/patchclaw');

/** The command as a person starts it. */
export const CLAW = join(HOME, 'bin/claw.js');

/** How a run of `claw` ended, and what it printed. */
export type Printed = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

type Caught = { stdout: string; stderr: string };
type Main = (args: readonly string[]) => Promise<number>;

const catching = new AsyncLocalStorage<Caught>();
for (const name of ['stdout', 'stderr'] as const) catchOutput(name);

/**
 * Runs the command line: the very file that `bin/claw.js` would run, in this process, which has it
 * loaded already. Starting a process takes longer than most commands do, and the tests run more than a
 * thousand. Where there is no such file yet, a process is started, which makes it; with
 * `CLAW_TEST_PROCESSES=1` it always is one.
 */
export async function runClaw(args: readonly string[]): Promise<Printed> {
  const main = process.env['CLAW_TEST_PROCESSES'] === '1' ? null : await loadMain();
  if (main === null) return await startClaw(args);
  const caught: Caught = { stdout: '', stderr: '' };
  const code = await catching.run(caught, () => main(args));
  return { code, ...caught };
}

async function loadMain(): Promise<Main | null> {
  const address = findBundle(HOME, CACHE);
  if (address === null) return null;
  try {
    const { main } = (await import(address)) as { main: Main };
    return main;
  } catch {
    return null; // Another process has just replaced it, as `bin/claw.js` expects too.
  }
}

async function startClaw(args: readonly string[]): Promise<Printed> {
  const child = spawn(process.execPath, [CLAW, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, stdout, stderr };
}

/** What is written within a run belongs to that run, also where several are under way. */
function catchOutput(name: 'stdout' | 'stderr'): void {
  const stream = process[name];
  const write = stream.write.bind(stream);
  stream.write = ((chunk: string | Uint8Array, ...rest: []) => {
    const caught = catching.getStore();
    if (caught === undefined) return write(chunk, ...rest);
    caught[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    return true;
  }) as typeof stream.write;
}
