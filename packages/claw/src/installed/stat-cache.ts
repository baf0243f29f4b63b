import type { Stats } from 'node:fs';
import { digestFile, type FileDigest } from '../digest.ts';
import { lstat } from '../package/lstat.ts';
import { ANY_ENGINE, readCache, writeCache } from './cache-file.ts';
import { treeReader } from './disk.ts';

/** The subject of a cache: files of the project, or the kept core. */
export type StatSubject = 'stat' | 'core-stat';

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

function isUnchanged([, size, mtimeMs, ctimeMs, ino, mode]: Entry, stat: Stats): boolean {
  return (
    stat.size === size &&
    stat.mtimeMs === mtimeMs &&
    stat.ctimeMs === ctimeMs &&
    stat.ino === ino &&
    stat.mode === mode
  );
}
