import { type Dirent, lstatSync, readdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes that a turn, a log and an update of the database may need. */
export const LEAST_FREE = 500 * 1024 * 1024;

export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Such as `3.2 GB`. */
export function sizeText(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const step = bytes < 1 ? 0 : Math.min(4, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${step === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
}

/** Returns the bytes of all files in a folder; links count as nothing. */
export function folderBytes(path: string): number {
  return entriesOf(path).reduce((sum, entry) => {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) return sum + folderBytes(inside);
    return sum + fileBytes(inside);
  }, 0);
}

function fileBytes(path: string): number {
  try {
    return lstatSync(path).size;
  } catch {
    return 0; // Gone just now, or where an agent has made it hard to get at.
  }
}

function entriesOf(path: string): readonly Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return []; // Not ours to read, or gone just now.
  }
}
