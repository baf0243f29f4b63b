import { lstatSync, type Stats } from 'node:fs';

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
