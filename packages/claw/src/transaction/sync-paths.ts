import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { syncPath } from './recover.js';
import { syncFileSystem, WORTH_THE_WHOLE } from './sync-file-system.ts';

/** Files between two looks at how slow the disk is. */
const BETWEEN_LOOKS = 10;
/** More than one call for the whole file system takes, with the small program that makes it. */
const WORTH_THE_WHOLE_MS = 20;
/** More than starting a Node takes, on a slow machine as well. */
const WORTH_A_PROCESS_MS = 100;
const WORTH_A_PROCESS_FILES = 100;

/**
 * Makes files and folders outlive a power failure. The disk is asked for one after the other until it is seen to be
 * slow; the rest is then synced by one call for the file system, or where that is not to be trusted, by a process
 * of its own that asks for all at once, which a disk answers together. Commits stay synchronous, so it cannot be
 * done in this one.
 *
 * @throws the error of the disk, with its code
 */
export function syncPaths(paths: readonly string[]): void {
  const started = performance.now();
  let [isWholeTried, isAlone] = [false, false];
  for (const [index, path] of paths.entries()) {
    const left = paths.length - index;
    if (index > 0 && index % BETWEEN_LOOKS === 0) {
      const msLeft = ((performance.now() - started) / index) * left;
      if (!isWholeTried && left >= WORTH_THE_WHOLE && msLeft > WORTH_THE_WHOLE_MS) {
        if (syncFileSystem(new Set(paths.slice(index).map((each) => dirname(each))))) return;
        isWholeTried = true;
      }
      if (!isAlone && left >= WORTH_A_PROCESS_FILES && msLeft > WORTH_A_PROCESS_MS) {
        if (syncAtOnce(paths.slice(index))) return;
        isAlone = true;
      }
    }
    syncPath(path);
  }
}

/** Runs in the other process: the paths come in by standard input, the first error leaves by standard output. */
const SYNC_AT_ONCE = `
process.env.UV_THREADPOOL_SIZE = '64';
const fs = require('node:fs');
const paths = JSON.parse(fs.readFileSync(0, 'utf8'));
const fail = ({ message, code }) => {
  fs.writeSync(1, JSON.stringify({ message, code }));
  process.exit(1);
};
let at = 0;
const next = () => {
  if (at === paths.length) return;
  fs.open(paths[at++], 'r', (error, file) => {
    if (error) return fail(error);
    fs.fsync(file, (error) => {
      if (error) return fail(error);
      fs.close(file, next);
    });
  });
};
for (let count = 0; count < 64; count += 1) next();
`;

/** @returns false where no such process could be run to its end; what it did already does no harm */
function syncAtOnce(paths: readonly string[]): boolean {
  const run = spawnSync(process.execPath, ['--eval', SYNC_AT_ONCE], {
    input: JSON.stringify(paths),
    encoding: 'utf8',
  });
  if (run.status === 0) return true;
  if (run.status !== 1 || run.stdout === '') return false;
  // The disk tells an error of writing once: asked again, it would say that all is well.
  const { message, code } = JSON.parse(run.stdout) as { message: string; code: string };
  throw Object.assign(new Error(message), { code });
}
