import { join, resolve } from 'node:path';
import type { Tree } from '@patchclaw/merge';
import { clean, valid } from 'semver';
import { digestTree, type TreeDigests } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { lstat } from '../package/regular-file.ts';
import {
  findReleaseCommit,
  findVersionTag,
  isGitFolder,
  readCommit,
  refuseAmbiguousRef,
  resolveCommit,
} from '../repository/git.ts';
import { listFolder as listFilesBelow, RESOLUTIONS } from './claw-folder.ts';
import type { CodebaseConfig } from './config.ts';
import { readTree } from './disk.ts';
import { isProjectPath, listProjectFiles } from './project-files.ts';
import type { State } from './state-file.ts';

/** The core as released: its files, and where they were taken from. */
export type Release = {
  readonly files: Tree;
  /** Files of the release that are not part of the core: its `skills/` and its recorded resolutions. */
  readonly extras: Tree;
  readonly digests: TreeDigests;
  /** From `--core-version`, `package.json` or the tag; null where nothing tells. */
  readonly version: string | null;
  readonly commit: string | null;
  readonly from: 'tag' | 'commit' | 'folder' | 'disk';
  /** Notes for the owner on how the release was found. */
  readonly warnings: readonly string[];
};

export type ReleaseRequest = {
  /** A git ref or a folder; null lets the newest tag in HEAD's history decide. */
  readonly release: string | null;
  readonly coreVersion: string | null;
};

/** Lets the codebase itself tell what its release is. */
export const NO_REQUEST: ReleaseRequest = { release: null, coreVersion: null };

/** Tells whether the owner says anything of the release. */
export function isRequested({ release, coreVersion }: ReleaseRequest): boolean {
  return release !== null || coreVersion !== null;
}

/** Reads what of a commit belongs to a release. */
export type TreesReader = (root: string, config: CodebaseConfig, commit: string) => Promise<Trees>;

/** Returns what reads each commit once, for one command that asks twice: a commit never changes. */
export function createTreesReader(): TreesReader {
  const known = new Map<string, Promise<Trees>>();
  return (root, config, commit) => {
    const key = JSON.stringify([commit, config]);
    const trees = known.get(key) ?? readReleaseCommit(root, config, commit);
    known.set(key, trees);
    return trees;
  };
}

/** Begins to read the release that a first command takes, while that does other work. */
export function readAhead(root: string, config: CodebaseConfig, readTrees: TreesReader): void {
  if (!isGitFolder(root)) return;
  const reading = findReleaseCommit(root).then(async (newest) => {
    if (newest !== null) await readTrees(root, config, newest.commit);
  });
  reading.catch(() => {}); // Told where the release is taken.
}

/**
 * Finds and reads the release of a codebase.
 *
 * @param readTrees may have begun to read its commit
 * @throws ClawError RELEASE_NOT_FOUND when the named ref or folder does not exist, VERSION_INVALID
 */
export async function takeRelease(
  root: string,
  config: CodebaseConfig,
  request: ReleaseRequest,
  readTrees: TreesReader = readReleaseCommit,
): Promise<Release> {
  if (request.coreVersion !== null && valid(request.coreVersion) === null) {
    throw new ClawError(
      'VERSION_INVALID',
      `${request.coreVersion} is not a version. Give three numbers, such as 1.4.0.`,
    );
  }
  const found = await findFiles({ root, config, readTrees }, request.release);
  const tagVersion = found.tag === null ? null : clean(found.tag);
  return {
    files: found.files,
    extras: found.extras,
    digests: digestTree(found.files),
    version: request.coreVersion ?? packageVersion(found.files) ?? tagVersion,
    commit: found.commit,
    from: found.from,
    warnings: found.warnings,
  };
}

/** Returns the version that `takeRelease` would find without a request, for a fraction of its reading. */
export async function readReleaseVersion(
  root: string,
  config: CodebaseConfig,
): Promise<string | null> {
  const isManifest = (path: string) => path === 'package.json' && isProjectPath(path, config);
  const newest = isGitFolder(root) ? await findReleaseCommit(root) : null;
  if (newest === null) {
    const paths = ['package.json'].filter(isManifest);
    return packageVersion(readTree(root, paths));
  }
  const version = isManifest('package.json') ? await versionOfCommit(root, newest.commit) : null;
  return version ?? (newest.tag === null ? null : clean(newest.tag));
}

/** Returns the version of a commit: that of its package.json, else of a tag on it. */
export async function readCommitVersion(root: string, commit: string): Promise<string | null> {
  const tag = await findVersionTag(root, commit);
  return (await versionOfCommit(root, commit)) ?? (tag === null ? null : clean(tag));
}

async function versionOfCommit(root: string, commit: string): Promise<string | null> {
  const path = 'package.json';
  return packageVersion(await readCommit(root, commit, (one) => one === path, [path]));
}

/**
 * Returns the release that `state.yaml` pins, where `.claw/base/` did not come along: from its commit, or from
 * a disk that holds the bare core.
 *
 * @throws ClawError DIGEST_MISMATCH where neither is the pinned one
 */
export async function findRelease(
  root: string,
  config: CodebaseConfig,
  { core }: State,
): Promise<Release> {
  const { version, from, commit } = core;
  for (const read of [() => readPinnedCommit(root, config, commit), () => readDisk(root, config)]) {
    const files = await read();
    const digests = files && digestTree(files);
    if (!files || digests?.digest !== core.digest) continue;
    return { files, extras: new Map(), digests, version, commit, from, warnings: [] };
  }
  throw new ClawError(
    'DIGEST_MISMATCH',
    'The core that .claw/state.yaml pins is neither in .claw/base, nor in git, nor on disk. ' +
      'Restore .claw/base from git, or fetch the history of the release.',
    { path: '.claw/base' },
  );
}

async function readPinnedCommit(
  root: string,
  config: CodebaseConfig,
  commit: string | null,
): Promise<Tree | null> {
  if (commit === null || !isGitFolder(root)) return null;
  try {
    return await readCommit(root, commit, (path) => isProjectPath(path, config));
  } catch (error) {
    // Asked only now, since the commit is nearly always there.
    if ((await resolveCommit(root, commit)) === null) return null;
    throw error;
  }
}

async function readDisk(root: string, config: CodebaseConfig): Promise<Tree> {
  return readTree(root, await listProjectFiles(root, config));
}

type LocatedRelease = Pick<Release, 'files' | 'extras' | 'commit' | 'from' | 'warnings'> & {
  readonly tag: string | null;
};

type Place = {
  readonly root: string;
  readonly config: CodebaseConfig;
  readonly readTrees: TreesReader;
};

async function findFiles(place: Place, requested: string | null): Promise<LocatedRelease> {
  if (requested !== null) return await findRequested(place, requested);
  const { root, config, readTrees } = place;
  const newest = isGitFolder(root) ? await findReleaseCommit(root) : null;
  if (newest === null) {
    const files = await readDisk(root, config);
    const warnings = [
      'This folder has no git history: the files on disk now count as the release.',
    ];
    const extras = readExtras(root);
    return { files, extras, commit: null, tag: null, from: 'disk', warnings };
  }
  const trees = await readTrees(root, config, newest.commit);
  if (newest.tag !== null) return { ...trees, ...newest, from: 'tag', warnings: [] };
  const warnings = [
    'This repository has no release tag: the newest commit (HEAD) counts as the release. To choose another: `claw init --release <ref>`.',
  ];
  return { ...trees, ...newest, from: 'commit', warnings };
}

async function findRequested(
  { root, config, readTrees }: Place,
  requested: string,
): Promise<LocatedRelease> {
  const commit = isGitFolder(root) ? await resolveCommit(root, requested) : null;
  if (commit !== null) {
    await refuseAmbiguousRef(root, requested);
    const trees = await readTrees(root, config, commit);
    const isTag = (await resolveCommit(root, `refs/tags/${requested}`)) === commit;
    const tag = isTag ? requested : ((await findVersionTag(root, commit)) ?? requested);
    return { ...trees, commit, tag, from: isTag ? 'tag' : 'commit', warnings: [] };
  }
  const folder = resolve(root, requested);
  const found = await listFolder(folder, config);
  if (found === null) {
    throw new ClawError(
      'RELEASE_NOT_FOUND',
      `${requested} is neither a git ref nor a folder with files in it.`,
      { path: requested },
    );
  }
  const extras = readExtras(folder);
  return { ...found, extras, commit: null, tag: null, from: 'folder', warnings: [] };
}

type Trees = Pick<Release, 'files' | 'extras'>;

async function readReleaseCommit(
  root: string,
  config: CodebaseConfig,
  commit: string,
): Promise<Trees> {
  const isCore = (path: string) => isProjectPath(path, config);
  const all = await readCommit(root, commit, (path) => isCore(path) || isExtra(path));
  return {
    files: new Map([...all].filter(([path]) => isCore(path))),
    extras: new Map([...all].filter(([path]) => !isCore(path))),
  };
}

function isExtra(path: string): boolean {
  return /^(skills|\.claw\/resolutions)\//.test(path) && !/\/node_modules\//.test(path);
}

function readExtras(folder: string): Tree {
  const paths = ['skills', RESOLUTIONS].flatMap((below) =>
    listFilesBelow(join(folder, below)).map((path) => `${below}/${path}`),
  );
  const isRegular = (path: string) => lstat(join(folder, path))?.isFile() === true;
  return readTree(folder, paths.filter(isExtra).filter(isRegular));
}

async function listFolder(
  folder: string,
  config: CodebaseConfig,
): Promise<{ readonly files: Tree } | null> {
  try {
    const paths = await listProjectFiles(folder, config);
    return paths.length === 0 ? null : { files: readTree(folder, paths) };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

function packageVersion(files: Tree): string | null {
  const manifest = files.get('package.json');
  if (!manifest) return null;
  try {
    const parsed: unknown = JSON.parse(manifest.bytes.toString('utf8'));
    const version =
      typeof parsed === 'object' && parsed !== null && 'version' in parsed && parsed.version;
    return typeof version === 'string' ? valid(version) : null;
  } catch {
    // A package.json that does not parse has no version to tell; merging it will say so.
    return null;
  }
}
