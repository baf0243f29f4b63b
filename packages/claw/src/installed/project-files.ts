import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { lstat } from '../package/regular-file.ts';
import { isGitFolder, runGit, splitListing } from '../repository/git.ts';
import type { CodebaseConfig } from './config.ts';

/**
 * Returns the paths that may belong to the core or to the owner's edits: regular files that git does not
 * ignore (outside git: that `.gitignore` files do not). Leaves out folders that never belong to a core, and
 * files that git tracks but the disk lacks. Sorted.
 */
export async function listProjectFiles(
  root: string,
  config: CodebaseConfig,
): Promise<readonly string[]> {
  return (await listProjectPaths(root, config)).filter((path) => isRegular(root, path));
}

/** Begins to list the same, so that git works while its caller does. A failure is for whoever awaits the list. */
export function listAhead(root: string, config: CodebaseConfig): Promise<readonly string[]> {
  const listing = listProjectFiles(root, config);
  listing.catch(() => {});
  return listing;
}

/**
 * Returns the same, including paths that are no regular file on disk now: for callers that read each of them
 * anyway.
 */
export async function listProjectPaths(
  root: string,
  config: CodebaseConfig,
): Promise<readonly string[]> {
  const found = isGitFolder(root) ? await listByGit(root, config) : listByWalk(root, '', []);
  return found.filter((path) => isProjectPath(path, config)).sort();
}

/** Tells whether a path can belong to a core at all. */
export function isProjectPath(path: string, config: CodebaseConfig): boolean {
  if (/^(\.claw|\.git|skills)\//.test(path)) return false;
  if (config.private.some((folder) => path.startsWith(`${folder}/`))) return false;
  if (/(^|\/)(node_modules|\.git)\//.test(path)) return false;
  // The secret of the seals and the logs of proofs lie in the home of the user, which may be the project itself.
  if (/^(\.local\/state\/patchclaw|\.cache\/claw)\//.test(path)) return false;
  if (/(^|\/)\.env[^/]*$/.test(path) && !path.endsWith('.env.example')) return false;
  return !config.exclude.some((glob) => matchesGlob(path, glob));
}

async function listByGit(root: string, config: CodebaseConfig): Promise<string[]> {
  const output = await runGit(root, [
    // The folder itself, whatever `core.worktree` or `core.bare` of its settings say.
    '--work-tree=.',
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
    '--deduplicate',
    '--',
    '.',
    // Most of git's files are in these folders, and none of them is ever part of a core.
    ...['.claw', 'skills', ...config.private].map((folder) => `:(exclude,literal)${folder}`),
  ]);
  return [...splitListing(output)];
}

function isRegular(root: string, path: string): boolean {
  return lstat(`${root}/${path}`)?.isFile() === true;
}

type Rules = { readonly below: string; readonly rules: Ignore };

function listByWalk(root: string, folder: string, above: readonly Rules[]): string[] {
  const rules = [...above, ...readRules(root, folder)];
  const found: string[] = [];
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder + entry.name;
    if (entry.name === '.git' || entry.name === 'node_modules' || path === '.claw') continue;
    if (isIgnored(entry.isDirectory() ? `${path}/` : path, rules)) continue;
    if (entry.isDirectory()) found.push(...listByWalk(root, `${path}/`, rules));
    else if (entry.isFile()) found.push(path);
  }
  return found;
}

function readRules(root: string, folder: string): Rules[] {
  const file = join(root, folder, '.gitignore');
  if (!existsSync(file)) return [];
  return [{ below: folder, rules: ignore().add(readFileSync(file, 'utf8')) }];
}

function isIgnored(path: string, rules: readonly Rules[]): boolean {
  let ignored = false;
  for (const { below, rules: own } of rules) {
    const verdict = own.test(path.slice(below.length));
    if (verdict.ignored) ignored = true;
    if (verdict.unignored) ignored = false;
  }
  return ignored;
}
