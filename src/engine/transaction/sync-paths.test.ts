import builtinFs, * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { syncPaths } from './sync-paths.ts';
import { temporaryFolder } from './testing/folder.ts';

const COUNT = 130;

/** Makes each sync of this process take as long as on a slow disk. @returns the count of them */
function slowDisk(): () => number {
  const { fsyncSync } = builtinFs;
  let count = 0;
  onTestFinished(() => {
    builtinFs.fsyncSync = fsyncSync;
    syncBuiltinESMExports();
  });
  builtinFs.fsyncSync = (file) => {
    count += 1;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    fsyncSync(file);
  };
  syncBuiltinESMExports();
  return () => count;
}

function files(folder: string): readonly string[] {
  const paths = Array.from({ length: COUNT }, (_, n) => join(folder, String(n)));
  for (const path of paths) fs.writeFileSync(path, 'x');
  return [...paths, folder];
}

test('a slow disk is asked for the first files by this process, and for the rest at once', () => {
  using folder = temporaryFolder();
  const paths = files(folder.path);
  const count = slowDisk();
  syncPaths(paths);
  expect(count()).toBe(20);
});

test('an error of the disk is thrown wherever it is met', () => {
  using folder = temporaryFolder();
  const paths = files(folder.path);
  slowDisk();
  for (const lost of [3, COUNT - 3]) {
    const named = paths.map((path, n) => (n === lost ? join(folder.path, 'gone') : path));
    expect(() => syncPaths(named)).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  }
});

test('where no process can be started, all are synced by this one', () => {
  using folder = temporaryFolder();
  const paths = files(folder.path);
  const count = slowDisk();
  const { execPath } = process;
  onTestFinished(() => {
    process.execPath = execPath;
  });
  process.execPath = join(folder.path, 'no-node');
  syncPaths(paths);
  expect(count()).toBe(paths.length);
});
