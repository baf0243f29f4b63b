import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const HOME = join(import.meta.dirname, '../../..');

const VERSION = JSON.parse(readFileSync(join(HOME, 'package.json'), 'utf8')).version as string;

/** The command as a person starts it. */
export const CLAW = join(HOME, 'bin/claw.js');

/** A run of `claw`: its exit code and its output. */
export type Printed = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

type Caught = { stdout: string; stderr: string };

const catching = new AsyncLocalStorage<Caught>();
for (const name of ['stdout', 'stderr'] as const) catchOutput(name);

/**
 * Runs the command line in this process, from its sources, which are loaded once: starting a process
 * takes longer than most commands do, and the tests run more than a thousand. With
 * `CLAW_TEST_PROCESSES=1` each run is a process, as a person starts it.
 */
export async function runClaw(args: readonly string[]): Promise<Printed> {
  if (process.env['CLAW_TEST_PROCESSES'] === '1') return await startClaw(args);
  const { main } = await import('../../../packages/claw/src/cli/main.ts');
  const { BESIDE } = await import('../../cli/edition.ts');
  const caught: Caught = { stdout: '', stderr: '' };
  const options = { version: VERSION, beside: async () => BESIDE };
  const code = await catching.run(caught, () => main(args, options));
  return { code, ...caught };
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

/** Gives each run the output that it writes itself, also where several run at once. */
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
