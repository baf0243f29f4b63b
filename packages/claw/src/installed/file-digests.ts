import { existsSync, type Stats } from 'node:fs';
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
import { lstat } from '../package/regular-file.ts';
import { ANY_ENGINE, readCache, writeCache } from './cache-file.ts';
import { BASE, keptPath, listKept, readFolder } from './claw-folder.ts';
import { treeReader } from './disk.ts';
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

/** The subject of a cache: files of the project, or the kept core. */
type StatSubject = 'stat' | 'core-stat';

/** Two writes closer than this may carry one time stamp, on the coarsest file systems in use. */
const CLOCK_GRAIN_MS = 50;

/** The digest of a file, and its stat at that time. */
type Entry = readonly [
  digest: FileDigest,
  size: number,
  mtimeMs: number,
  ctimeMs: number,
  ino: number,
  mode: number,
];

/**
 * Digests of files on disk, read again only when their stat changed, as git's index does it.
 * An entry younger than the file system's clock can tell apart is never trusted.
 */
export class StatCache {
  readonly #root: string;
  readonly #subject: StatSubject;
  readonly #entries: Map<string, Entry>;
  readonly #fresh = new Map<string, Entry>();
  readonly #now: () => Date;
  readonly #read: ReturnType<typeof treeReader>;
  #isChanged = false;

  constructor(root: string, now: () => Date, subject: StatSubject = 'stat') {
    this.#root = root;
    this.#subject = subject;
    this.#now = now;
    this.#read = treeReader(root);
    const known = readCache(root, subject, ANY_ENGINE);
    this.#entries = new Map(Array.isArray(known) ? (known as (readonly [string, Entry])[]) : []);
  }

  /** Returns the digest of a regular file, null where nothing is. */
  digest(path: string): FileDigest | null {
    const stat = lstat(`${this.#root}/${path}`);
    if (!stat?.isFile()) return null;
    const known = this.#entries.get(path);
    if (known && isUnchanged(known, stat)) {
      this.#fresh.set(path, known);
      return known[0];
    }
    const file = this.#read(path);
    if (!file) return null;
    const digest = digestFile(file);
    const { size, mtimeMs, ctimeMs, ino, mode } = stat;
    const isQuiescent = this.#now().getTime() - Math.max(mtimeMs, ctimeMs) > CLOCK_GRAIN_MS;
    if (isQuiescent) {
      this.#fresh.set(path, [digest, size, mtimeMs, ctimeMs, ino, mode]);
      this.#isChanged = true;
    }
    return digest;
  }

  /** Keeps what was learnt for the next command. Losing it only costs time. */
  save(): void {
    if (!this.#isChanged && this.#fresh.size === this.#entries.size) return;
    writeCache(this.#root, this.#subject, [...this.#fresh], ANY_ENGINE);
  }
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
    `${place} does not match its digest in .claw/state.yaml. Restore .claw/ from git, or run claw replay.`,
    { path: place },
  );
}

function readKept(root: string): TreeDigests | null {
  const kept = readCache(root, CACHE, ANY_ENGINE);
  return Array.isArray(kept) ? digestFiles(kept as (readonly [string, FileDigest])[]) : null;
}

function isUnchanged([, size, mtimeMs, ctimeMs, ino, mode]: Entry, stat: Stats): boolean {
  return (
    stat.size === size &&
    stat.mtimeMs === mtimeMs &&
    stat.ctimeMs === ctimeMs &&
    stat.ino === ino &&
    stat.mode === mode
  );
}
