import { isUtf8 } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Runs git on a repository; a failure is a status, never thrown. */
export type Git = (
  args: readonly string[],
  input?: string,
) => { out: Buffer; status: number | null };

const ENVIRONMENT = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C' };
const MAX_BYTES = 300 * 1024;
/** Written by tools: how their merges end says nothing about merging. */
const GENERATED =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lock|Cargo\.lock)$|(^|\/)(dist|vendor|vendored|third_party|node_modules|\.yarn|__snapshots__|snapshots)\/|\.(min\.js|map|snap)$/;

/**
 * Opens a repository for reading.
 *
 * @param scratch a folder that takes what git writes, such as merged trees; the repository stays as it is
 * @param others repositories whose objects are read as well
 */
export function openGit(folder: string, scratch: string, others: readonly string[] = []): Git {
  const directory = gitDirectory(folder);
  emptyScratch(scratch);
  const stores = [directory, ...others.map(gitDirectory)].map((one) => join(one, 'objects'));
  const env = {
    ...process.env,
    ...ENVIRONMENT,
    GIT_DIR: directory,
    GIT_OBJECT_DIRECTORY: join(scratch, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: stores.join(':'),
  };
  return (args, input = '') => {
    const { stdout, status } = spawnSync('git', args, { env, input, maxBuffer: 1 << 30 });
    return { out: stdout, status };
  };
}

/** Forgets what git wrote into the scratch folder. */
export function emptyScratch(scratch: string): void {
  rmSync(join(scratch, 'objects'), { recursive: true, force: true });
  mkdirSync(join(scratch, 'objects'));
}

function gitDirectory(folder: string): string {
  const direct = spawnSync('git', ['-C', folder, 'rev-parse', '--absolute-git-dir']);
  return direct.status === 0 ? direct.stdout.toString().trim() : resolve(folder);
}

/** The blobs of a regular file before and after a change; null where it is not there. */
export type Change = { readonly before: string | null; readonly after: string | null };

/** Lists the files that differ between two commits, without those that are written by tools. */
export function changesBetween(git: Git, from: string, to: string): ReadonlyMap<string, Change> {
  const fields = git(['diff-tree', '-r', '-z', '--no-renames', from, to])
    .out.toString()
    .split('\0');
  const changes = new Map<string, Change>();
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [mode = '', newMode = '', before = '', after = ''] = fields[index]?.split(' ') ?? [];
    const [hasBefore, hasAfter] = [mode.startsWith(':100'), newMode.startsWith('100')];
    const isFile = (hasBefore || mode === ':000000') && (hasAfter || newMode === '000000');
    const path = fields[index + 1] ?? '';
    if (!isFile || GENERATED.test(path)) continue;
    changes.set(path, { before: hasBefore ? before : null, after: hasAfter ? after : null });
  }
  return changes;
}

/** Returns the blobs of regular files in a tree, by path. */
export function blobsOf(
  git: Git,
  tree: string,
  paths: readonly string[],
): ReadonlyMap<string, string> {
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

/** The outcome of `git merge` (ort, histogram) of two commits. */
export type GitMerge = { readonly tree: string; readonly conflicted: ReadonlySet<string> };

/** Merges two commits with git; null where it cannot. */
export function mergeByGit(
  git: Git,
  ours: string,
  theirs: string,
  style: 'merge' | 'zdiff3',
): GitMerge | null {
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ours, theirs];
  const { out, status } = git(['-c', `merge.conflictStyle=${style}`, ...args]);
  if (status !== 0 && status !== 1) return null;
  const [tree = '', ...names] = out.toString().split('\0');
  return { tree, conflicted: new Set(names) };
}

/** Reads blobs that are text and not too long. */
export function readBlobs(git: Git, ids: readonly string[]): ReadonlyMap<string, string> {
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

/** Returns the name of a repository by its folder. */
export function nameOf(folder: string): string {
  const parts = folder.split('/').filter((part) => !['', 'repo', '.git'].includes(part));
  return (parts.at(-1) ?? folder).replace(/^.*\+/, '');
}

/** Returns the lines of what git printed. */
export function linesOf(bytes: Buffer): readonly string[] {
  return bytes
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}
