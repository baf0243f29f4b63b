import { isUtf8 } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Versions } from '../../src/engine/tree.ts';

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

const MAX_BYTES = 300 * 1024;
/** Written by tools: how their merges end says nothing about merging. */
const GENERATED =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lock|Cargo\.lock)$|(^|\/)(dist|vendor|vendored|third_party|node_modules|\.yarn|__snapshots__|snapshots)\/|\.(min\.js|map|snap)$/;
const ENVIRONMENT = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C' };

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

type Git = (args: readonly string[], input?: string) => { out: Buffer; status: number | null };

function openGit(folder: string, scratch: string): Git {
  const direct = spawnSync('git', ['-C', folder, 'rev-parse', '--absolute-git-dir']);
  const directory = direct.status === 0 ? direct.stdout.toString().trim() : resolve(folder);
  mkdirSync(join(scratch, 'objects'));
  const env = {
    ...process.env,
    ...ENVIRONMENT,
    GIT_DIR: directory,
    GIT_OBJECT_DIRECTORY: join(scratch, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(directory, 'objects'),
  };
  return (args, input = '') => {
    const { stdout, status } = spawnSync('git', args, { env, input, maxBuffer: 1 << 30 });
    return { out: stdout, status };
  };
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
  const mine = changesBetween(git, base, ours);
  const other = changesBetween(git, base, theirs);
  const both = [...mine].filter(([path, { after }]) => {
    const there = other.get(path);
    return there !== undefined && there.after !== after && !GENERATED.test(path);
  });
  if (both.length === 0) return [];
  const committed = blobsOf(
    git,
    id,
    both.map(([path]) => path),
  );
  return both.flatMap(([path, { before, after }]) => {
    const end = committed.get(path);
    if (end === undefined) return [];
    return [
      { path, base: before, ours: after, theirs: other.get(path)?.after ?? '', committed: end },
    ];
  });
}

function changesBetween(git: Git, from: string, to: string) {
  const fields = git(['diff-tree', '-r', '-z', '--no-renames', from, to])
    .out.toString()
    .split('\0');
  const changes = new Map<string, { readonly before: string; readonly after: string }>();
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [mode = '', newMode = '', before = '', after = '', kind = ''] =
      fields[index]?.split(' ') ?? [];
    const isFile = mode.startsWith(':100') && newMode.startsWith('100') && kind === 'M';
    if (isFile) changes.set(fields[index + 1] ?? '', { before, after });
  }
  return changes;
}

function blobsOf(git: Git, tree: string, paths: readonly string[]): ReadonlyMap<string, string> {
  const rows = git(['ls-tree', '-r', '-z', tree, '--', ...paths])
    .out.toString()
    .split('\0');
  return new Map(
    rows.flatMap((row): [string, string][] => {
      const [head = '', path = ''] = row.split('\t');
      const [mode = '', , id = ''] = head.split(' ');
      return mode.startsWith('100') ? [[path, id]] : [];
    }),
  );
}

/** Returns the blobs of the files that `git merge` (ort, histogram) merges clean. */
function mergedByGit(
  git: Git,
  { ours, theirs }: Commit,
  files: readonly Blobs[],
): ReadonlyMap<string, string> {
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ours, theirs];
  const { out, status } = git(['-c', 'merge.conflictStyle=zdiff3', ...args]);
  if (status !== 0 && status !== 1) return new Map();
  const [tree = '', ...names] = out.toString().split('\0');
  const conflicted = new Set(names);
  const clean = files.map(({ path }) => path).filter((path) => !conflicted.has(path));
  return clean.length === 0 ? new Map() : blobsOf(git, tree, clean);
}

/** Reads blobs that are text and not too long. */
function readBlobs(git: Git, ids: readonly string[]): ReadonlyMap<string, string> {
  const wanted = [...new Set(ids.filter((id) => id !== ''))];
  const { out } = git(['cat-file', '--batch'], wanted.map((id) => `${id}\n`).join(''));
  const texts = new Map<string, string>();
  let at = 0;
  for (const id of wanted) {
    const end = out.indexOf(10, at);
    const size = Number(out.subarray(at, end).toString().split(' ')[2]);
    if (!Number.isFinite(size)) {
      at = end + 1;
      continue;
    }
    const bytes = out.subarray(end + 1, end + 1 + size);
    at = end + size + 2;
    if (size < MAX_BYTES && isUtf8(bytes) && !bytes.includes(0)) texts.set(id, bytes.toString());
  }
  return texts;
}

function nameOf(folder: string): string {
  const parts = folder.split('/').filter((part) => !['', 'repo', '.git'].includes(part));
  return (parts.at(-1) ?? folder).replace(/^.*\+/, '');
}

function linesOf(bytes: Buffer): readonly string[] {
  return bytes
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}
