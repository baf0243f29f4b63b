import { isUtf8 } from 'node:buffer';
import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tree, TreeFile } from '@patchclaw/merge';
import { clean, rcompare } from 'semver';
import { digestBytes } from '../digest.ts';
import { ClawError } from '../errors.ts';

/** A commit that counts as a release, and the tag that says so. */
export type ReleaseCommit = { readonly commit: string; readonly tag: string | null };

/** Tells whether a folder is the top of a git work tree or is marked as a project of its own inside one. */
export function isGitFolder(root: string): boolean {
  return existsSync(join(root, '.git'));
}

/** Ways to another repository. Each could start a program that `.git/config` names. */
const PROTOCOLS = ['ext', 'file', 'ftp', 'ftps', 'git', 'http', 'https', 'ssh'];

/**
 * Keeps out what the user has set for people, and programs that a repository's own settings would start. git
 * reaches no other repository, which it would do for the missing objects of a partial clone.
 */
export const OWN_SETTINGS: readonly string[] = [
  'core.quotePath=false',
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'log.showSignature=false',
  'safe.bareRepository=explicit',
  'protocol.allow=never',
  ...PROTOCOLS.map((protocol) => `protocol.${protocol}.allow=never`),
].flatMap((setting) => ['-c', setting]);

/** Settings of LFS with which it starts other programs than itself. */
const STARTED_BY_LFS =
  /^lfs\.(extension|customtransfer|standalonetransferagent|concurrenttransfers)\b/;

/**
 * Returns settings that take the filters away which a repository's own `.git/config` names: they are programs, and
 * the folder may have been unpacked from a stranger's archive. Filters of the user's own settings stay, as `git lfs
 * install` makes them; not where the repository tells LFS to start something.
 *
 * @param root the repository
 */
export async function withoutLocalFilters(root: string): Promise<readonly string[]> {
  const args = ['config', '--list', '--show-scope', '-z', '--includes'];
  const parts = (await runGit(root, args)).toString('utf8').split('\0');
  const own = new Map<string, string>();
  const local = new Set<string>();
  let isLfsSteered = false;
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [key = '', ...value] = (parts[at + 1] ?? '').split('\n');
    const [, filter] = /^(filter\.[\s\S]+)\.(?:clean|smudge|process|required)$/i.exec(key) ?? [];
    const isLocal = parts[at] === 'local' || parts[at] === 'worktree';
    if (isLocal && STARTED_BY_LFS.test(key)) isLfsSteered = true;
    if (filter === undefined) continue;
    if (isLocal) local.add(filter);
    else if (parts[at] !== 'command') own.set(key, value.join('\n'));
  }
  if (isLfsSteered) local.add('filter.lfs');
  return [...local].flatMap((filter) =>
    ['clean', 'smudge', 'process', 'required'].flatMap((name) => {
      const isKept = !(isLfsSteered && filter === 'filter.lfs');
      const none = name === 'required' ? 'false' : '';
      return ['-c', `${filter}.${name}=${(isKept && own.get(`${filter}.${name}`)) || none}`];
    }),
  );
}

/** Runs git in a folder, untouched by the user's aliases and hooks, and returns what it printed. */
export async function runGit(
  root: string,
  args: readonly string[],
  input: string | Buffer | null = null,
): Promise<Buffer> {
  const child = spawn('git', [...OWN_SETTINGS, ...args], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'pipe'],
    // What it complains about is told in English, and is read below.
    env: { ...process.env, LANGUAGE: 'en' },
  });
  const chunks: Buffer[] = [];
  let complaint = '';
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString('utf8');
  });
  // git may exit before it has read everything; its exit code then says why.
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code === 0) return Buffer.concat(chunks);
  if (complaint.includes('promisor remote')) {
    const message =
      'This is a partial clone: git has not fetched everything that its commits hold, and claw reaches no server while ' +
      'it reads.\nNext: git fetch --refetch --no-filter';
    throw new ClawError('IO_FAILED', message);
  }
  throw new ClawError('IO_FAILED', `git ${args[0]} failed: ${complaint.trim()}`, {
    data: { args, code },
  });
}

/**
 * Splits what git prints with `-z`. What has a name that is not UTF-8 is left out: written back, the name would be
 * another one, and two of them could become one file.
 */
export function splitListing(listing: Buffer): readonly string[] {
  const text = listing.toString('utf8');
  if (isUtf8(listing)) return text.split('\0').filter((entry) => entry !== '');
  return bytesOfEntries(listing)
    .filter((entry) => isUtf8(entry))
    .map((entry) => entry.toString('utf8'));
}

function bytesOfEntries(listing: Buffer): readonly Buffer[] {
  const entries: Buffer[] = [];
  for (let from = 0; from < listing.length; ) {
    const end = listing.indexOf(0, from);
    const to = end === -1 ? listing.length : end;
    if (to > from) entries.push(listing.subarray(from, to));
    from = to + 1;
  }
  return entries;
}

/** A tag that reads as a version, such as `v1.2`, `1.2.3-rc.1`, `release-1.2`, `app@1.2.3` or `app-v1.2`. */
const VERSION_TAG =
  /^(?:(?:release|rel|version)[-/_]?|[\w.@/-]+@|[\w.-]+-(?=v))?v?\d+(?:\.\d+)+(?:[-+.]?[a-z\d][\w.+-]*)?$/i;
/** Marks that people and tools set before they change something. */
const OWN_MARK = /(?:^|[-_/])(?:pre|before|after|backup|bak|old|wip|tmp|temp|save|snapshot)[-_/]/i;

/**
 * Returns the newest commit in the history of HEAD that the tag of a version names; HEAD itself where there is none;
 * null without commits.
 */
export async function findReleaseCommit(root: string): Promise<ReleaseCommit | null> {
  for (const line of (await logOfTags(root)).split('\n')) {
    const tags = [...line.matchAll(/tag: ([^,]+)/g)].flatMap(([, name]) => name ?? []);
    const tag = tags.find((name) => VERSION_TAG.test(name) && !OWN_MARK.test(name));
    if (tag !== undefined) return { commit: line.slice(0, line.indexOf(' ')), tag };
  }
  const head = await resolveCommit(root, 'HEAD');
  return head === null ? null : { commit: head, tag: null };
}

/** Returns the tagged commits in the history of HEAD, a line each; nothing without commits. */
async function logOfTags(root: string): Promise<string> {
  try {
    const tagged = await runGit(root, [
      'log',
      '--topo-order',
      '--simplify-by-decoration',
      '--decorate=short',
      '--decorate-refs=refs/tags/*',
      '--format=%H %D',
      'HEAD',
    ]);
    return tagged.toString('utf8');
  } catch (error) {
    // Whether there is a commit at all is asked only here: nearly every command looks for the release.
    if ((await resolveCommit(root, 'HEAD')) === null) return '';
    throw error;
  }
}

/** Returns the newest version among a commit's tags, or null. */
export async function findVersionTag(root: string, commit: string): Promise<string | null> {
  const output = await runGit(root, ['tag', '--points-at', commit]);
  const tags = output.toString('utf8').split('\n');
  const versions = tags.filter((tag) => clean(tag) !== null);
  return versions.sort((one, other) => rcompare(one, other))[0] ?? null;
}

/** Returns the commit that a ref names, or null. */
export async function resolveCommit(root: string, ref: string): Promise<string | null> {
  try {
    const output = await runGit(root, ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]);
    return output.toString('utf8').trim();
  } catch (error) {
    if (error instanceof ClawError && error.code === 'IO_FAILED') return null;
    throw error;
  }
}

/**
 * Refuses a name that a tag and a branch share, of two commits. git would take the tag and only warn.
 *
 * @throws ClawError USAGE with their full names
 */
export async function refuseAmbiguousRef(root: string, name: string): Promise<void> {
  if (/^[0-9a-f]{40,64}$/.test(name)) return;
  const places = ['tags', 'heads', 'remotes'].map((kind) => `refs/${kind}/${name}`);
  const format = '--format=%(refname)%00%(objectname)%00%(*objectname)';
  const listing = await runGit(root, ['for-each-ref', format, ...places]);
  const found = listing
    .toString('utf8')
    .split('\n')
    .map((line) => line.split('\0'))
    .filter(([ref = '']) => places.includes(ref))
    .map(([ref = '', commit = '', peeled]) => ({ ref, commit: peeled || commit }));
  if (new Set(found.map(({ commit }) => commit)).size < 2) return;
  const all = found.map(({ ref, commit }) => `${ref} (${commit.slice(0, 9)})`).join(' and ');
  throw new ClawError(
    'USAGE',
    `${name} is ambiguous: it is ${all}. Give one of these names in full.`,
    {
      path: name,
    },
  );
}

/** Returns the files below some folders in which two commits differ, by path. */
export async function listChanged(
  root: string,
  from: string,
  to: string,
  folders: readonly string[],
): Promise<readonly string[]> {
  const args = ['diff', '--name-only', '--no-renames', '--no-ext-diff', '-z', from, to, '--'];
  const listing = await runGit(root, [...args, ...folders.map((folder) => `:(literal)${folder}`)]);
  return splitListing(listing);
}

/** Returns the paths of symbolic links and submodules in a commit. */
export async function listLinks(root: string, commit: string): Promise<readonly string[]> {
  const listing = await runGit(root, ['ls-tree', '-r', '-z', commit]);
  return splitListing(listing).flatMap(
    (line) => /^1[26]0000 [^\t]*\t([\s\S]+)$/.exec(line)?.[1] ?? [],
  );
}

/** Returns the files that differ in two commits and whose names are not UTF-8, with those bytes escaped. */
export async function listChangedOddNames(
  root: string,
  from: string,
  to: string,
): Promise<readonly string[]> {
  const args = ['diff', '--name-only', '--no-renames', '--no-ext-diff', '-z', from, to];
  return bytesOfEntries(await runGit(root, args))
    .filter((name) => !isUtf8(name))
    .map((name) =>
      name.toString('latin1').replace(/[^ -~]/g, (one) => {
        return `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`;
      }),
    );
}

/**
 * Returns the regular files of a commit below the folder, as a checkout would write them.
 *
 * @param among paths that are wanted at most; all of the commit's by default
 */
export async function readCommit(
  root: string,
  commit: string,
  isWanted: (path: string) => boolean,
  among: readonly string[] = [],
): Promise<Tree> {
  const listing = await runGit(root, ['ls-tree', '-r', '-z', commit, '--', ...among]);
  const entries = splitListing(listing).flatMap((line) => {
    const [, mode, oid, path] = /^(\d+) blob ([0-9a-f]+)\t([\s\S]+)$/.exec(line) ?? [];
    return mode?.startsWith('100') && oid && path && isWanted(path) ? [{ mode, oid, path }] : [];
  });
  const blobs = await readBlobs(root, entries);
  const tree = new Map<string, TreeFile>();
  for (const [index, { mode, path }] of entries.entries()) {
    const bytes = blobs[index];
    if (bytes) tree.set(path, { bytes, isExecutable: mode === '100755' });
  }
  return tree;
}

type GitBlob = { readonly oid: string; readonly path: string };

/**
 * Reads blobs with git's filters applied. git then announces each blob by its size before filtering, which is
 * of no use here. So the announcement carries a mark that no content can hold: a digest over the request.
 */
export async function readBlobs(
  root: string,
  blobs: readonly GitBlob[],
): Promise<readonly Buffer[]> {
  if (blobs.length === 0) return [];
  // git takes one line per file, and cannot apply its filters to a file that it is not told of.
  const request = blobs
    .map(({ oid, path }) => (path.includes('\n') ? `${oid} \n` : `${oid} ${path}\n`))
    .join('');
  const mark = digestBytes(request);
  const filters = await withoutLocalFilters(root);
  const args = [...filters, 'cat-file', `--batch=${mark} %(objecttype)`, '--filters'];
  const output =
    (await runGitInFiles(root, [...OWN_SETTINGS, ...args], request)) ??
    (await runGit(root, args, request));
  const announcement = Buffer.from(`${mark} blob\n`);
  const contents: Buffer[] = [];
  let at = announcement.length;
  for (const index of blobs.keys()) {
    const isLast = index === blobs.length - 1;
    const end = isLast ? output.length : output.indexOf(announcement, at);
    if (end < at || !output.subarray(at - announcement.length, at).equals(announcement)) {
      throw await lostContent(root, blobs);
    }
    contents.push(output.subarray(at, end - 1));
    at = end + announcement.length;
  }
  return contents;
}

/** Names the first of some blobs that the repository does not have: what git prints instead shifts all that follows. */
async function lostContent(root: string, blobs: readonly GitBlob[]): Promise<ClawError> {
  const request = blobs.map(({ oid }) => `${oid}\n`).join('');
  const kinds = (await runGit(root, ['cat-file', '--batch-check'], request)).toString('utf8');
  const lines = kinds.split('\n');
  const lost = blobs
    .filter((_, index) => lines[index]?.endsWith(' missing'))
    .map(({ path }) => path);
  const [path] = lost;
  if (path === undefined) {
    return new ClawError('IO_FAILED', 'git did not print the contents that it was asked for.');
  }
  const more = lost.length > 1 ? ` and ${lost.length - 1} more of its files` : '';
  const message = `git has lost the content of ${path}${more}. Run git fsck.`;
  return new ClawError('IO_FAILED', message, { path });
}

/**
 * Runs git with a file for what it reads and one for what it prints. Pipes hold less than the bytes of a release: there
 * git would stand still whenever this process is busy. Both files have lost their names before git begins, so that
 * nothing is left of them whatever ends this process.
 *
 * @returns null where it did not succeed: pipes may do, and tell the reason
 */
export async function runGitInFiles(
  root: string,
  args: readonly string[],
  input: string,
): Promise<Buffer | null> {
  const files = openFiles(input);
  if (files === null) return null;
  try {
    const stdio = [files.input, files.output, 'ignore'] as const;
    const child = spawn('git', args, { cwd: root, stdio: [...stdio] });
    const code = await new Promise<number | null>((resolve) => {
      child.on('error', () => resolve(null));
      child.on('close', resolve);
    });
    return code === 0 ? readWhole(files.output) : null;
  } finally {
    closeSync(files.input);
    closeSync(files.output);
  }
}

type Files = { readonly input: number; readonly output: number };

function openFiles(input: string): Files | null {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'claw-git-'));
    try {
      writeFileSync(join(folder, 'input'), input);
      const output = openSync(join(folder, 'output'), 'wx+');
      return { input: openSync(join(folder, 'input'), 'r'), output };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  } catch {
    return null; // No room, or no folder for such files.
  }
}

/** Reads from the beginning: git has moved the place that both share to the end. */
function readWhole(file: number): Buffer {
  const bytes = Buffer.allocUnsafe(fstatSync(file).size);
  let end = 0;
  while (end < bytes.length) {
    const count = readSync(file, bytes, end, bytes.length - end, end);
    if (count === 0) break;
    end += count;
  }
  return bytes.subarray(0, end);
}
