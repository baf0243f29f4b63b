import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { syncFileSystem, syncFileSystemMeanwhile, syncPaths } from './sync.ts';
import { temporaryFolder } from './testing/folder.ts';
import { slowDisk } from './testing/slow-disk.ts';

const COUNT = 130;

function slowDiskOfTest(): () => number {
  const { count, end } = slowDisk();
  onTestFinished(end);
  return count;
}

function files(folder: string): readonly string[] {
  const paths = Array.from({ length: COUNT }, (_, n) => join(folder, String(n)));
  for (const path of paths) fs.writeFileSync(path, 'x');
  return [...paths, folder];
}

/** Lets `sync` be found nowhere but in a folder, which is empty by default. */
function findProgramsIn(folder: string): void {
  const { PATH } = process.env;
  onTestFinished(() => {
    process.env['PATH'] = PATH;
  });
  process.env['PATH'] = folder;
}

test('a slow disk is asked for the first files one by one, and for the rest at once', () => {
  using folder = temporaryFolder();
  const paths = files(folder.path);
  const count = slowDiskOfTest();
  syncPaths(paths);
  expect(count()).toBe(10);
});

test('each file is synced by itself if the system has no program for a whole file system', () => {
  using folder = temporaryFolder();
  const paths = files(folder.path);
  findProgramsIn(folder.path);
  const count = slowDiskOfTest();
  syncPaths(paths);
  expect(count()).toBe(10);
});

test('if that program fails, each file is synced by itself, so that an error of one is not lost', () => {
  using folder = temporaryFolder();
  const paths = files(folder.path);
  fs.writeFileSync(join(folder.path, 'sync'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  findProgramsIn(folder.path);
  slowDiskOfTest();
  for (const lost of [3, COUNT - 3]) {
    const named = paths.map((path, n) => (n === lost ? join(folder.path, 'gone') : path));
    expect(() => syncPaths(named)).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  }
});

test('if no process can be started, this one syncs all files', () => {
  using folder = temporaryFolder();
  const paths = files(folder.path);
  findProgramsIn(folder.path);
  const count = slowDiskOfTest();
  const { execPath } = process;
  onTestFinished(() => {
    process.execPath = execPath;
  });
  process.execPath = join(folder.path, 'no-node');
  syncPaths(paths);
  expect(count()).toBe(paths.length);
});

const MODULE = join(import.meta.dirname, 'sync.ts');
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

test('a file system that may not keep its promise is never synced as a whole, nor are two at once', async () => {
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
