// Runs verbs of the engine that only look, one after the other, for a process that asks by messages: loading the engine
// takes longer than most of them do. Whoever asks has made sure which verbs.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { currentBuild } from '../packages/claw/build/current.js';

const home = fileURLToPath(new URL('..', import.meta.url));
const { folder } = await currentBuild(home);
const { main } = await import(pathToFileURL(join(folder, 'claw.js')).href);

/** The assistant's part of `doctor`, loaded when it is asked for. */
const beside = async () => (await import('../src/cli/edition.ts')).BESIDE;

let printed = '';
process.stdout.write = /** @type {typeof process.stdout.write} */ (
  (chunk) => {
    printed += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    return true;
  }
);

let last = Promise.resolve();
process.on('message', (/** @type {{ id: number, args: string[] }} */ { id, args }) => {
  last = last.then(async () => {
    printed = '';
    const exitCode = await main(args, { version: '', beside });
    process.send?.({ id, stdout: printed, exitCode });
  });
});
process.on('disconnect', () => process.exit(0));
