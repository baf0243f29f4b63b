/**
 * Times `git merge-file --zdiff3` in each of some folders, which are numbered and hold `base`, `ours` and `theirs`.
 * Prints a line each with the milliseconds, the start of the process included.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

const [folder = ''] = process.argv.slice(2);
const names = readdirSync(folder).toSorted((one, other) => Number(one) - Number(other));
for (const name of names) {
  const start = performance.now();
  const cwd = join(folder, name);
  const { error } = spawnSync('git', ['merge-file', '-p', '--zdiff3', 'ours', 'base', 'theirs'], {
    cwd,
  });
  if (error !== undefined) throw error;
  console.log(performance.now() - start);
}
