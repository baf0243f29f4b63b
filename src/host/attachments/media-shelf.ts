import {
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { mediaFolder } from '../../sandbox/sandbox.ts';

// The folders of files that came with messages, one for each group; its agent reads them.

const DAY_MS = 24 * 60 * 60_000;
/** A file that was not asked for since is fetched again when it is. */
const MEDIA_KEPT_MS = 30 * DAY_MS;
const MAX_MEDIA_BYTES = 1_000_000_000;

/**
 * Moves a fetched file to where the group's agent sees it. Only the host writes there, so no container can put a link
 * in its way.
 *
 * @returns its name in that folder
 */
export function shelve(
  dataDir: string,
  folder: string,
  path: string,
  now: number,
  name: string = basename(path),
): string {
  const shelf = mediaFolder(dataDir, folder);
  mkdirSync(join(shelf, '..'), { recursive: true, mode: 0o700 });
  mkdirSync(shelf, { recursive: true });
  // The agent is another user; no third user gets past the folder above.
  chmodSync(path, 0o644);
  renameSync(path, join(shelf, name));
  utimesSync(join(shelf, name), now / 1_000, now / 1_000);
  return name;
}

type Limits = { readonly keptMs: number; readonly maxBytes: number };

const KEPT: Limits = { keptMs: MEDIA_KEPT_MS, maxBytes: MAX_MEDIA_BYTES };

/** Deletes files that were stored long ago, and the oldest files if all groups together have too much. */
export function pruneMedia(dataDir: string, now: number, limits: Limits = KEPT): void {
  const files = namesIn(join(dataDir, 'media')).flatMap((folder) => {
    const shelf = mediaFolder(dataDir, folder);
    return namesIn(shelf).map((name) => join(shelf, name));
  });
  pruneFiles(files, now, limits);
}

/** Deletes files that are too old, and the oldest files if there is too much in all. */
export function pruneFiles(
  paths: readonly string[],
  now: number,
  { keptMs, maxBytes }: Limits = KEPT,
): void {
  const files = paths
    .map((path) => ({ path, stats: statSync(path) }))
    .sort((one, other) => other.stats.mtimeMs - one.stats.mtimeMs);
  let sizeBytes = 0;
  for (const { path, stats } of files) {
    sizeBytes += stats.size;
    if (sizeBytes > maxBytes || now - stats.mtimeMs > keptMs) rmSync(path);
  }
}

/** Returns the names in a folder; none if there is no folder. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
