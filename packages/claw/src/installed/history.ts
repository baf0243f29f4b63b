import type { TreeFile } from '@patchclaw/merge';
import { ClawError } from '../errors.ts';
import { isGitFolder, readBlobs, resolveCommit, runGit } from '../repository/git.ts';

/** A path's content, and the newest commit that brought it. */
export type FileVersion = { readonly commit: string; readonly file: TreeFile };

/** Every version that paths ever had up to a commit, newest first; or the reason that they are unknown. */
export type History =
  | { readonly kind: 'whole'; readonly versions: ReadonlyMap<string, readonly FileVersion[]> }
  | { readonly kind: 'missing'; readonly reason: string };

const MAX_VERSIONS = 5000;
const MAX_BYTES = 128 * 1024 * 1024;

/**
 * Reads the versions of paths in the history of a commit: of its ancestors only, merged branches
 * among them, following no renames. The number of git processes does not depend on that of versions.
 */
export async function readHistory(
  root: string,
  commit: string | null,
  paths: readonly string[],
): Promise<History> {
  if (commit === null || !isGitFolder(root)) return missing('the release has no git history here');
  if ((await resolveCommit(root, commit)) === null) {
    return missing('the commit of the release is not in this clone');
  }
  const shallow = await runGit(root, ['rev-parse', '--is-shallow-repository']);
  if (shallow.toString('utf8').trim() !== 'false') {
    return missing('this clone is shallow: `git fetch --unshallow` brings its history');
  }
  const entries = parseLog((await runGit(root, logOf(commit, paths))).toString('utf8'));
  if (entries.length > MAX_VERSIONS) return missing('the history has too many versions of it');
  const sizes = await runGit(
    root,
    ['cat-file', '--batch-check=%(objectsize)'],
    entries.map(({ oid }) => `${oid}\n`).join(''),
  );
  const bytes = sizes
    .toString('utf8')
    .split('\n')
    .reduce((sum, size) => sum + Number(size), 0);
  if (!(bytes <= MAX_BYTES)) return missing('the history of it is too large, or incomplete');
  const blobs = await readBlobs(root, entries);
  return { kind: 'whole', versions: groupByPath(entries, blobs) };
}

function logOf(commit: string, paths: readonly string[]): readonly string[] {
  // Of a merge, only what it made itself: the rest came from a commit of one of its sides.
  const walk = ['--full-history', '-c', '--no-renames', '--no-show-signature', '--no-notes'];
  const format = ['--raw', '--no-abbrev', '--no-color', '-z', '--format=commit %H'];
  const literal = paths.map((path) => `:(top,literal)${path}`);
  const settings = ['-c', 'log.follow=false', '-c', 'log.showRoot=true'];
  return [...settings, 'log', ...walk, ...format, commit, '--', ...literal];
}

type Entry = {
  readonly commit: string;
  readonly oid: string;
  readonly path: string;
  readonly isExecutable: boolean;
};

/** Returns each content of a path once, with the newest of its commits. */
function parseLog(output: string): readonly Entry[] {
  const entries = new Map<string, Entry>();
  let commit = '';
  let change: { readonly oid: string; readonly mode: string } | null = null;
  for (const field of output.split('\0')) {
    if (change !== null) {
      const { oid, mode } = change;
      const key = `${oid} ${mode} ${field}`;
      const isNew = mode.startsWith('100') && !entries.has(key);
      if (isNew) entries.set(key, { commit, path: field, oid, isExecutable: mode === '100755' });
      change = null;
      continue;
    }
    const line = field.replace(/^\n/, '');
    commit = /^commit ([0-9a-f]+)$/.exec(line)?.[1] ?? commit;
    change = line.startsWith(':') ? parseChange(line) : null;
  }
  return [...entries.values()];
}

/**
 * Parses a line of git's raw diff: modes of each parent and of the result, contents of each parent and of the
 * result, letters.
 */
function parseChange(line: string): { readonly oid: string; readonly mode: string } {
  const words = line.split(' ');
  return { oid: words.at(-2) ?? '', mode: words[line.lastIndexOf(':') + 1] ?? '' };
}

function groupByPath(
  entries: readonly Entry[],
  blobs: readonly Buffer[],
): ReadonlyMap<string, readonly FileVersion[]> {
  const versions = new Map<string, FileVersion[]>();
  for (const [index, { commit, path, isExecutable }] of entries.entries()) {
    const bytes = blobs[index];
    if (!bytes) throw new ClawError('IO_FAILED', `git has lost a version of ${path}.`, { path });
    const known = versions.get(path) ?? [];
    versions.set(path, [...known, { commit, file: { bytes, isExecutable } }]);
  }
  return versions;
}

function missing(reason: string): History {
  return { kind: 'missing', reason };
}
