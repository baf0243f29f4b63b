import { mkdtempSync, rmSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Tree, TreeFile } from '@patchclaw/merge';
import type { SimpleGit, SimpleGitOptions } from 'simple-git';
import { ClawError } from '../../errors.ts';
import { throwIfInterrupted } from '../../interrupted.ts';
import { checkSize, type IrregularEntry, isForeign } from '../package-from-files.ts';
import type { GitAddress } from './git-address.ts';
import type { FetchEdges, FetchedPackage } from './sources.ts';

/**
 * Fetches a folder of a git repository: one commit, into a bare repository beside the system's other
 * temporary files, from where the files are read without a checkout. So no hook, no filter, no
 * submodule and no link of the repository ever comes into play.
 *
 * @throws ClawError SOURCE_FAILED with git's last line, SKILL_NOT_FOUND where the commit has no such
 * folder, LIMIT_EXCEEDED before anything too large is read, INTERRUPTED
 */
export async function fetchGit(
  address: GitAddress,
  source: string,
  edges: FetchEdges,
): Promise<FetchedPackage> {
  const place = mkdtempSync(join(tmpdir(), 'claw-source-'));
  edges.onProgress({ kind: 'step', text: `Fetching ${source}` });
  try {
    const git = await openGit(place, edges);
    const commit = await fetchCommit(git, address);
    const listing = await git.raw(['ls-tree', '-r', '-z', '-l', '--full-tree', commit]);
    const { entries, irregular } = listCommit(listing, address.folder);
    const reader = await openGit(place, edges, requestBlobs(entries));
    const files = parseBlobs(await reader.binaryCatFile(['--batch']), entries);
    edges.onProgress({ kind: 'done', text: `Fetched ${source}` });
    return { files, irregular, commit };
  } catch (cause) {
    throwIfInterrupted(edges.signal);
    if (cause instanceof ClawError) throw cause;
    throw sourceFailure(address, source, cause);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const STALLED_MS = 60_000;

// The owner's own ways to reach a repository. What else git reads from the environment could name
// another repository, another program or another protocol, and stays out.
const KEPT = [
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'GIT_SSH_VARIANT',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_SSL_CAINFO',
  'GIT_SSL_CAPATH',
  'GIT_SSL_CERT',
  'GIT_SSL_KEY',
];

const OURS = {
  LC_ALL: 'C',
  GIT_ALLOW_PROTOCOL: 'https:ssh:file',
  // Git must not ask: neither on a terminal nor in a window.
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  GCM_INTERACTIVE: 'never',
  SSH_ASKPASS: 'false',
  SSH_ASKPASS_REQUIRE: 'force',
};

/** Names of variables that simple-git would otherwise refuse as foreign. */
const OWN_VARIABLES: readonly string[] = [...Object.keys(OURS), ...KEPT];

/** Opens a git that fetches: with none of the settings of a project, and in the owner's own ways to reach a repository. */
export async function openGit(
  baseDir: string,
  { environment, signal, onProgress }: FetchEdges,
  input = '',
): Promise<SimpleGit> {
  const { simpleGit } = await import('simple-git');
  const options: Partial<SimpleGitOptions> = {
    baseDir,
    config: [
      `core.hooksPath=${devNull}`,
      'core.fsmonitor=false',
      'fetch.recurseSubmodules=false',
      'gc.auto=0',
    ],
    allowEnvironment: OWN_VARIABLES,
    // Guards against arguments from outside. All of these come from here, and shut what they name.
    unsafe: {
      allowUnsafeAskPass: true,
      allowUnsafeConfigPaths: true,
      allowUnsafeFsMonitor: true,
      allowUnsafeHooksPath: true,
      allowUnsafeSshCommand: true,
      allowUnsafeTemplateDir: true,
    },
    progress: ({ stage, progress }) => {
      const isWorthTelling = progress % 25 === 0 && progress < 100;
      if (isWorthTelling) onProgress({ kind: 'note', text: `git: ${stage} ${progress} %` });
    },
    timeout: { block: STALLED_MS },
    input: () => input,
    ...(signal ? { abort: signal } : {}),
  };
  return simpleGit(options).env(gitEnvironment(environment));
}

const STEERING = /^(GIT_.*|SSH_ASKPASS.*|EDITOR|VISUAL|PAGER|PREFIX)$/i;

/** Returns the environment of a git that fetches: the given one without what steers git, and no prompts. */
function gitEnvironment(given: FetchEdges['environment']): Record<string, string> {
  const own = Object.entries(given).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (KEPT.includes(entry[0]) || !STEERING.test(entry[0])),
  );
  return { ...Object.fromEntries(own), ...OURS };
}

async function fetchCommit(git: SimpleGit, { repository, ref }: GitAddress): Promise<string> {
  // A path would be read in place, with links and all; a URL goes through git's own protocol.
  const url = repository.kind === 'local' ? pathToFileURL(repository.path).href : repository.url;
  await git.raw(['init', '--quiet', '--bare', '--template=']);
  const flags = ['--depth=1', '--no-tags', '--no-recurse-submodules'];
  await git.raw(['fetch', '--progress', ...flags, '--', url, ref ?? 'HEAD']);
  return (await git.raw(['rev-parse', '--verify', 'FETCH_HEAD^{commit}'])).trim();
}

/** Makes the error of a repository that could not be fetched, from what git said. */
export function sourceFailure(
  { repository }: Pick<GitAddress, 'repository'>,
  source: string,
  cause: unknown,
): ClawError {
  const said = cause instanceof Error ? cause.message : String(cause);
  // git repeats the address that it was given, with what must not be shown.
  const secret =
    repository.kind === 'remote' ? /\/\/([^/]*)@/.exec(repository.url)?.[1] : undefined;
  const shown = secret === undefined ? said : said.replaceAll(`${secret}@`, '');
  const lines = shown.split('\n').filter((line) => /^(fatal|error|remote|ssh|warning):/.test(line));
  const reason = (lines.length > 0 ? lines : shown.trim().split('\n')).slice(-3).join('; ');
  return new ClawError(
    'SOURCE_FAILED',
    `${source} cannot be fetched (${reason.trim()}). Check the address, the ref and your access.`,
    { data: { output: shown } },
  );
}

/** A file of a commit, unread. */
type BlobEntry = {
  readonly path: string;
  readonly oid: string;
  readonly size: number;
  readonly isExecutable: boolean;
};

/** The content of a folder of a commit. */
type CommitFolder = {
  readonly entries: readonly BlobEntry[];
  readonly irregular: readonly IrregularEntry[];
};

/**
 * Reads what `git ls-tree -r -z -l` printed of a commit.
 *
 * @param folder empty for all of it
 * @throws ClawError SKILL_NOT_FOUND with the folders that hold packages, LIMIT_EXCEEDED
 */
function listCommit(listing: string, folder: string): CommitFolder {
  const entries: BlobEntry[] = [];
  const irregular: IrregularEntry[] = [];
  const packages: string[] = [];
  let bytes = 0;
  for (const line of listing.split('\0')) {
    const [, mode, oid, size, whole] = /^(\d+) \w+ (\w+) +(\d+|-)\t([\s\S]+)$/.exec(line) ?? [];
    if (!mode || !oid || !size || !whole) continue;
    if (posix.basename(whole) === 'manifest.yaml') packages.push(posix.dirname(whole));
    if (folder !== '' && !whole.startsWith(`${folder}/`)) continue;
    const path = folder === '' ? whole : whole.slice(folder.length + 1);
    if (isForeign(path)) continue;
    if (!mode.startsWith('100')) {
      irregular.push({ path, kind: mode === '120000' ? 'link' : 'special' });
      continue;
    }
    bytes += Number(size);
    entries.push({ path, oid, size: Number(size), isExecutable: mode === '100755' });
    checkSize({ files: entries.length, bytes });
  }
  const isPackage = folder !== '' || packages.includes('.');
  if (entries.length === 0 || !isPackage) throw noFolder(folder, packages);
  return { entries, irregular };
}

/** Writes the input of `git cat-file --batch`. */
function requestBlobs(entries: readonly BlobEntry[]): string {
  return entries.map(({ oid }) => `${oid}\n`).join('');
}

/** Cuts what it answered into files. */
function parseBlobs(output: unknown, entries: readonly BlobEntry[]): Tree {
  if (!Buffer.isBuffer(output)) throw new TypeError('git cat-file gave no bytes');
  const files = new Map<string, TreeFile>();
  let at = 0;
  for (const { path, oid, isExecutable, size } of entries) {
    const announced = `${oid} blob ${size}\n`;
    const start = at + announced.length;
    if (output.toString('latin1', at, start) !== announced) {
      throw new Error(`it has lost the content of ${path}`);
    }
    files.set(path, { bytes: output.subarray(start, start + size), isExecutable });
    at = start + size + 1;
  }
  return files;
}

function noFolder(folder: string, packages: readonly string[]): ClawError {
  const hint =
    packages.length === 0
      ? 'It holds no package at all.'
      : `It has packages in: ${packages.slice(0, 10).join(', ')}.`;
  const what =
    folder === ''
      ? 'There is no package at the top of the repository.'
      : `The repository has no folder "${folder}" in that commit.`;
  return new ClawError(
    'SKILL_NOT_FOUND',
    `${what} ${hint} Behind the address it is #folder, or #ref:folder.`,
    { path: folder, data: { nearest: packages.slice(0, 10) } },
  );
}
