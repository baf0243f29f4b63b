import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Makes each sync of this process take as long as on a slow disk, until it is ended. */
export function slowDisk(): { readonly count: () => number; readonly end: () => void } {
  const { fsyncSync } = fs;
  let count = 0;
  const replace = (sync: typeof fsyncSync) => {
    fs.fsyncSync = sync;
    syncBuiltinESMExports();
  };
  replace((file) => {
    count += 1;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    fsyncSync(file);
  });
  return { count: () => count, end: () => replace(fsyncSync) };
}
