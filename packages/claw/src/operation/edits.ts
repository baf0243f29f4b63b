import type { FileDigest } from '../digest.ts';
import type { CodebaseConfig } from '../installed/config.ts';
import { StatCache } from '../installed/file-digests.ts';
import { listProjectPaths } from '../installed/project-files.ts';

/** A file on disk that is not what the last command published. */
export type Edit = { readonly path: string; readonly kind: 'add' | 'modify' | 'delete' };

/** The published tree: the release's digests, and the composed versions of some of its files. */
export type Published = {
  readonly release: ReadonlyMap<string, FileDigest>;
  readonly files: ReadonlyMap<string, FileDigest | 'deleted'>;
};

/** Returns the owner's edits, committed or not: disk against what was published. Locks are npm's, not edits. */
export async function listEdits(
  root: string,
  {
    config,
    published,
    now,
    listing = listProjectPaths(root, config),
  }: {
    readonly config: CodebaseConfig;
    readonly published: Published;
    readonly now: () => Date;
    /** Paths of the project, where they are being listed already. */
    readonly listing?: Promise<readonly string[]>;
  },
): Promise<readonly Edit[]> {
  const wanted = new Map(published.release);
  for (const [path, digest] of published.files) {
    if (digest === 'deleted') wanted.delete(path);
    else wanted.set(path, digest);
  }
  const cache = new StatCache(root, now);
  // Listed or not, these are looked at: git lists meanwhile.
  const disk = new Map([...wanted.keys()].map((path) => [path, cache.digest(path)]));
  const digestOf = (path: string) => {
    const known = disk.get(path);
    return known === undefined ? cache.digest(path) : known;
  };
  const edits: Edit[] = [];
  for (const path of await listing) {
    const before = wanted.get(path);
    const digest = digestOf(path);
    // Tracked by git, and no file on disk: gone, where it was published.
    if (digest === null) continue;
    wanted.delete(path);
    if (path !== 'package-lock.json' && digest !== before) {
      edits.push({ path, kind: before === undefined ? 'add' : 'modify' });
    }
  }
  for (const [path, before] of wanted) {
    if (path === 'package-lock.json') continue;
    // The remaining paths are missing on disk, or in folders that the listing skips (skills/, private ones).
    const digest = digestOf(path);
    if (digest !== before) edits.push({ path, kind: digest === null ? 'delete' : 'modify' });
  }
  cache.save();
  return edits.sort((one, other) => (one.path < other.path ? -1 : 1));
}
