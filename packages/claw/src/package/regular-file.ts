import { lstatSync, readFileSync, readSync, type Stats } from 'node:fs';

/** Returns the entry at a path, not following links; null where there is none, as below a regular file. */
export function lstat(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

/** Reads an open file from its beginning like `readFileSync`, but saves a stat for each of some thousand files. */
export function readBytes(handle: number, size: number): Buffer {
  if (size === 0) return readFileSync(handle);
  const bytes = Buffer.allocUnsafe(size);
  let end = 0;
  while (end < size) {
    const count = readSync(handle, bytes, end, size - end, null);
    if (count === 0) break;
    end += count;
  }
  return bytes.subarray(0, end);
}
