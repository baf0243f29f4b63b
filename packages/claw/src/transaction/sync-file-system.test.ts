import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { syncFileSystem, syncFileSystemMeanwhile } from './sync-file-system.ts';
import { temporaryFolder } from './testing/folder.ts';

const MODULE = join(import.meta.dirname, 'sync-file-system.ts');
const EXT4 = 0xef53;
/** The folder of temporary files is in memory, which is never asked. */
const OF_DISK = import.meta.dirname;
const isExt4 = process.platform === 'linux' && statfsSync(OF_DISK).type === EXT4;
const hasStrace = spawnSync('strace', ['--version']).status === 0;

/**
 * Runs the call under strace, in a process of its own, whatever other programs have written just now.
 *
 * @param bytes what may wait for the disks
 * @returns its answer, and how often the kernel was asked
 */
function traced(bytes: number, ...faults: string[]) {
  using folder = temporaryFolder();
  const log = join(folder.path, 'log');
  const code = `import { syncFileSystem } from ${JSON.stringify(MODULE)};
    console.log(syncFileSystem([${JSON.stringify(OF_DISK)}], ${bytes}));`;
  const node = [process.execPath, '--input-type=module-typescript', '--eval', code];
  const trace = ['-f', '-e', 'trace=syncfs', ...faults, '-o', log];
  const { stdout } = spawnSync('strace', [...trace, ...node], { encoding: 'utf8' });
  return {
    answer: stdout.trim(),
    calls: readFileSync(log, 'utf8').match(/syncfs\(/g)?.length ?? 0,
  };
}

test.skipIf(!isExt4 || !hasStrace)('a file system is synced by one call of the kernel', () => {
  expect(traced(Number.POSITIVE_INFINITY)).toEqual({ answer: 'true', calls: 1 });
  expect(traced(-1)).toEqual({ answer: 'false', calls: 0 });
});

test.skipIf(!isExt4 || !hasStrace)('an error of that call leaves it to the files', () => {
  expect(traced(Number.POSITIVE_INFINITY, '-e', 'inject=syncfs:error=EIO')).toEqual({
    answer: 'false',
    calls: 1,
  });
});

test('one that may promise what it does not keep is never asked, nor two at once', async () => {
  // Memory and /proc, which Linux has.
  for (const other of ['/dev/shm', '/proc'].filter((path) => existsSync(path))) {
    expect(syncFileSystem([other])).toBe(false);
    expect(await syncFileSystemMeanwhile([OF_DISK, other])).toBe(false);
  }
  expect(syncFileSystem([])).toBe(false);
});

test('a wait that is given up is not taken for success', async () => {
  expect(await syncFileSystemMeanwhile([OF_DISK], AbortSignal.abort())).toBe(false);
});
