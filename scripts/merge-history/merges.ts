import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Versions } from '../../packages/merge/src/versions.ts';
import {
  blobsOf,
  changesBetween,
  type Git,
  linesOf,
  mergeByGit,
  nameOf,
  openGit,
  readBlobs,
} from './repository.ts';

/** A file that both sides of a real merge changed, what `git merge` makes of it, and what was committed. */
export type RealMerge = Versions<string> & {
  readonly repository: string;
  readonly commit: string;
  readonly path: string;
  readonly committed: string;
  /** The text of a clean merge by git; null for a conflict. */
  readonly git: string | null;
};

type Commit = { readonly id: string; readonly ours: string; readonly theirs: string };
type Blobs = { readonly path: string } & Versions<string> & { readonly committed: string };

/**
 * Reads the merges of a repository in an order that spreads a limit over its whole history. A merge with
 * several merge bases is left out, and so is a file that is binary, long, generated, renamed, or was committed
 * with conflict markers.
 *
 * The repository is only read: what `git merge-tree` writes goes to a folder of its own.
 */
export function* realMerges(folder: string, limit: number): Iterable<RealMerge> {
  const scratch = mkdtempSync(join(tmpdir(), 'bench-merge-'));
  try {
    const git = openGit(folder, scratch);
    const commits = listMerges(git).toSorted((one, other) => spread(one) - spread(other));
    const seen = new Set<string>();
    let visited = 0;
    for (const commit of commits) {
      if (visited >= limit) return;
      const files = filesOf(git, commit).filter(({ base, ours, theirs }) => {
        const key = `${base} ${ours} ${theirs}`;
        return !seen.has(key) && seen.add(key);
      });
      if (files.length === 0) continue;
      visited++;
      const results = mergedByGit(git, commit, files);
      const texts = readBlobs(
        git,
        files.flatMap(({ base, ours, theirs, committed, path }) => {
          return [base, ours, theirs, committed, results.get(path) ?? ''];
        }),
      );
      for (const { path, ...blobs } of files) {
        const [base, ours, theirs, committed] = [
          blobs.base,
          blobs.ours,
          blobs.theirs,
          blobs.committed,
        ].map((id) => texts.get(id) ?? null);
        if (base == null || ours == null || theirs == null || committed == null) continue;
        if (/^<{7} /m.test(committed)) continue;
        const clean = results.get(path);
        const byGit = clean === undefined ? null : (texts.get(clean) ?? null);
        const repository = nameOf(folder);
        yield { repository, commit: commit.id, path, base, ours, theirs, committed, git: byGit };
      }
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * Lists the merges of all references but GitHub's own of pull requests: it makes them by itself and only where
 * git merges clean, so what they hold is git's text and no committed one.
 */
function listMerges(git: Git): readonly Commit[] {
  const range = ['--exclude=refs/pull/*/merge', '--all', '--min-parents=2', '--max-parents=2'];
  return linesOf(git(['rev-list', '--parents', ...range]).out).map((line) => {
    const [id = '', ours = '', theirs = ''] = line.split(' ');
    return { id, ours, theirs };
  });
}

function spread({ id }: Commit): number {
  return createHash('sha256').update(id).digest().readUInt32BE();
}

/** Lists the files that both sides changed, and differently. */
function filesOf(git: Git, { id, ours, theirs }: Commit): readonly Blobs[] {
  const bases = linesOf(git(['merge-base', '--all', ours, theirs]).out);
  const [base] = bases;
  if (base === undefined || bases.length > 1 || base === ours || base === theirs) return [];
  const other = changesBetween(git, base, theirs);
  const both = [...changesBetween(git, base, ours)].flatMap(([path, { before, after }]) => {
    const there = other.get(path)?.after ?? null;
    if (before === null || after === null || there === null || there === after) return [];
    return [{ path, base: before, ours: after, theirs: there }];
  });
  if (both.length === 0) return [];
  const paths = both.map(({ path }) => path);
  const committed = blobsOf(git, id, paths);
  return both.flatMap((file) => {
    const end = committed.get(file.path);
    return end === undefined ? [] : [{ ...file, committed: end }];
  });
}

/** Returns the blobs of the files that `git merge` merges clean. */
function mergedByGit(
  git: Git,
  { ours, theirs }: Commit,
  files: readonly Blobs[],
): ReadonlyMap<string, string> {
  const merged = mergeByGit(git, ours, theirs, 'zdiff3');
  if (merged === null) return new Map();
  const clean = files.map(({ path }) => path).filter((path) => !merged.conflicted.has(path));
  return clean.length === 0 ? new Map() : blobsOf(git, merged.tree, clean);
}
