import { type BigIntStats, lstatSync } from 'node:fs';
import { digestFile, type FileDigest } from '../digest.ts';
import { treeReader } from '../state/disk.ts';
import { CHECKSUM, readCache, writeCache } from './cache-file.ts';

/** The subject of a cache: files of the project, or the kept core. */
export type StatSubject = 'stat' | 'core-stat';

/** Two writes closer than this may carry one time stamp, on the coarsest file systems in use. */
const CLOCK_GRAIN_MS = 50;

/** Size, mtime, ctime, inode and mode as one word, then the digest that the file had at that time. */
type Entry = readonly [stamp: string, digest: FileDigest];

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
    const known = readCache(root, subject, CHECKSUM) ?? {};
    this.#entries = new Map(Object.entries(known as Readonly<Record<string, Entry>>));
  }

  /** Returns the digest of a regular file, null where nothing is. */
  digest(path: string): FileDigest | null {
    const stat = this.#stat(path);
    if (!stat?.isFile()) return null;
    const stamp = `${stat.size} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.ino} ${stat.mode}`;
    const known = this.#entries.get(path);
    if (known && known[0] === stamp) {
      this.#fresh.set(path, known);
      return known[1];
    }
    const file = this.#read(path);
    if (!file) return null;
    const digest = digestFile(file);
    const youngest = Math.max(Number(stat.mtimeMs), Number(stat.ctimeMs));
    const isQuiescent = this.#now().getTime() - youngest > CLOCK_GRAIN_MS;
    if (isQuiescent) {
      this.#fresh.set(path, [stamp, digest]);
      this.#isChanged = true;
    }
    return digest;
  }

  #stat(path: string): BigIntStats | null {
    try {
      return lstatSync(`${this.#root}/${path}`, { bigint: true });
    } catch (error) {
      // Nothing there, as below a regular file.
      const code = error instanceof Error && 'code' in error ? error.code : null;
      if (code === 'ENOENT' || code === 'ENOTDIR') return null;
      throw error;
    }
  }

  /** Keeps what was learnt for the next command. Losing it only costs time. */
  save(): void {
    if (!this.#isChanged && this.#fresh.size === this.#entries.size) return;
    writeCache(this.#root, this.#subject, Object.fromEntries(this.#fresh), CHECKSUM);
  }
}
