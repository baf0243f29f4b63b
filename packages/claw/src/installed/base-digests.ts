import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TreeFile } from '@patchclaw/merge';
import {
  digestFile,
  digestFiles,
  digestTree,
  type FileDigest,
  type TreeDigests,
} from '../digest.ts';
import { ClawError } from '../errors.ts';
import { ANY_ENGINE, readCache, writeCache } from './cache-file.ts';
import { BASE, keptPath, listKept, readFolder } from './claw-folder.ts';
import { StatCache } from './stat-cache.ts';
import type { State } from './state-file.ts';

const CACHE = 'base';

/**
 * Reads the digests of the core's files: from the cache where it adds up to the pinned digest, else from
 * `.claw/base/`; null where that is not the pinned core either.
 */
export function readBaseDigests(root: string, core: State['core']): TreeDigests | null {
  const cached = existsSync(join(root, BASE)) ? readKept(root) : null;
  if (cached?.digest === core.digest) return cached;
  const digests = digestBase(root, core);
  if (digests !== null) saveBaseDigests(root, digests);
  return digests;
}

/** Returns the same from the files themselves, whatever the cache says. */
export function digestBase(root: string, core: State['core']): TreeDigests | null {
  const digests = digestTree(readFolder(root, BASE));
  return digests.digest === core.digest ? digests : null;
}

/** Returns the same, with only those files read whose stat changed since they last were. */
export function statBase(root: string, core: State['core'], now: () => Date): TreeDigests | null {
  const cache = new StatCache(root, now, 'core-stat');
  const entries = listKept(root, BASE).flatMap(([path, place]) => {
    const digest = cache.digest(place);
    return digest === null ? [] : [[path, digest] as const];
  });
  cache.save();
  const digests = digestFiles(entries);
  return digests.digest === core.digest ? digests : null;
}

/** Keeps the digests for the next command. Losing them only costs time. */
export function saveBaseDigests(root: string, digests: TreeDigests): void {
  writeCache(root, CACHE, [...digests.files], ANY_ENGINE);
}

/**
 * Returns a file of the core as released, from `.claw/base/`.
 *
 * @param read reads a file of the project
 * @throws ClawError DIGEST_MISMATCH when the kept bytes are not those of the pinned core
 */
export function readBase(
  read: (path: string) => TreeFile | null,
  digests: TreeDigests,
  path: string,
): TreeFile | null {
  const place = keptPath(BASE, path);
  const file = read(place);
  if ((file ? digestFile(file) : undefined) === digests.files.get(path)) return file;
  throw new ClawError(
    'DIGEST_MISMATCH',
    `${place} is not what .claw/state.yaml pins. Take .claw/ back from git, or run claw replay.`,
    { path: place },
  );
}

function readKept(root: string): TreeDigests | null {
  const kept = readCache(root, CACHE, ANY_ENGINE);
  return Array.isArray(kept) ? digestFiles(kept as (readonly [string, FileDigest])[]) : null;
}
