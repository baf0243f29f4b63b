import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import type { TestProject } from './assistant.ts';

const urlOf = (file: string): string => pathToFileURL(join(import.meta.dirname, file)).href;

/**
 * Runs an assistant in a process of its own and kills it, without a chance to clean up, at the
 * moment at which its script says `now`.
 *
 * @returns what it said
 */
export async function killAt(project: TestProject, script: string): Promise<string> {
  const path = join(project.dir, 'dying.ts');
  writeFileSync(
    path,
    `import { writeSync } from 'node:fs';
     import { startAssistant, answers } from ${JSON.stringify(urlOf('assistant.ts'))};
     import { TestClock } from ${JSON.stringify(urlOf('clock.ts'))};
     const now = (word = 'now') => process.stdout.write(word);
     // Says so and stays where it is, in the middle of whatever is under way.
     const halt = () => {
       writeSync(1, 'now');
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
     };
     const never = () => new Promise<never>(() => {});
     const dir = ${JSON.stringify(project.dir)};
     setInterval(() => {}, 1000);
     ${script}`,
  );
  const child: ChildProcess = spawn(process.execPath, [path], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  if (child.stdout === null || child.stderr === null) throw new Error('the child has no output');
  let lastWords = '';
  child.stderr.on('data', (chunk: Buffer) => {
    lastWords = `${lastWords}${chunk}`.slice(-4_000);
  });
  const closed = once(child, 'close');
  const said = await Promise.race([
    once(child.stdout, 'data').then(([chunk]) => String(chunk)),
    closed.then(([code, signal]) => {
      throw new Error(`it ended by itself (${code ?? signal}): ${lastWords}`);
    }),
  ]);
  child.kill('SIGKILL');
  await closed;
  return said;
}
