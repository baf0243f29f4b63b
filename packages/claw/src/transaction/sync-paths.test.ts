import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { syncPaths } from './sync-paths.ts';
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

test('so it is where the system has no program for a whole file system', () => {
  using folder = temporaryFolder();
  const paths = files(folder.path);
  findProgramsIn(folder.path);
  const count = slowDiskOfTest();
  syncPaths(paths);
  expect(count()).toBe(10);
});

test('where that program fails, each file is asked for, so that an error of one is not lost', () => {
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

test('where no process can be started, all are synced by this one', () => {
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
