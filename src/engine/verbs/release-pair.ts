import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { compose } from '../compose/compose.ts';
import { conflictFile } from '../conflict.ts';
import type { FileDigest } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { mergeFiles } from '../merge/file.ts';
import { orderLayers } from '../skill/order.ts';
import type { SkillPackage } from '../skill/package.ts';
import { CONFIG_PATH, type CodebaseConfig, parseConfig } from '../state/config.ts';
import { readTreeFile } from '../state/disk.ts';
import { isGitFolder, readCommit, resolveCommit, runGit } from '../state/git.ts';
import {
  MIGRATIONS_PATH,
  type Migration,
  pathMapsOf,
  readMigrations,
} from '../state/migrations.ts';
import { type Release, takeRelease } from '../state/release.ts';
import { STATE_PATH, type State } from '../state/state-file.ts';
import type { TreeFile } from '../tree.ts';
import type { EngineContext } from './context.ts';
import { skillDigests } from './core.ts';
import type { Installation } from './installation.ts';

/** Another release, and the settings of the codebase as they will be with it. */
export type NewRelease = { readonly release: Release; readonly config: CodebaseConfig };

/**
 * The release that an update brings: a folder, or a commit of this repository.
 *
 * @throws ClawError RELEASE_NOT_FOUND, CONFIG_INVALID
 */
export async function findNewRelease(
  { root, cwd }: EngineContext,
  installation: Installation,
  wanted: string,
): Promise<NewRelease> {
  const isRef = isGitFolder(root) && (await resolveCommit(root, wanted)) !== null;
  const folder = resolve(cwd, wanted);
  const isFolder = existsSync(folder) && statSync(folder).isDirectory();
  if (!isRef && !isFolder) {
    throw new ClawError(
      'RELEASE_NOT_FOUND',
      `${wanted} is neither a folder nor a ref that git knows here. Fetch it first: git fetch --tags.`,
      { path: wanted },
    );
  }
  if (resolve(root) === folder && !isRef) {
    throw new ClawError('USAGE', 'A project cannot be updated to itself: name a ref or a folder.');
  }
  const request = { release: isRef ? wanted : folder, coreVersion: null };
  await refuseInstallation(root, request.release);
  const release = await takeRelease(root, installation.config, request);
  const config = comingConfig(installation, release);
  const isSameCore = isDeepStrictEqual(config.exclude, installation.config.exclude);
  return { release: isSameCore ? release : await takeRelease(root, config, request), config };
}

/**
 * A commit or folder with a `state.yaml` has layers woven in already, and edits: taken for a core, none
 * of them could ever be told from it again.
 */
async function refuseInstallation(root: string, release: string): Promise<void> {
  const commit = isGitFolder(root) ? await resolveCommit(root, release) : null;
  const isInstallation =
    commit === null
      ? existsSync(join(release, STATE_PATH))
      : (await readCommit(root, commit, (path) => path === STATE_PATH)).size > 0;
  if (!isInstallation) return;
  throw new ClawError(
    'RELEASE_NOT_FOUND',
    `${release} is no release but an installation: it holds ${STATE_PATH}. Name the core itself; where ` +
      'you merged one by hand, the commit that you merged in.',
    { path: release },
  );
}

/** What is no part of the new core is the new release's to say, and the owner's. */
function comingConfig({ root, releaseFile }: Installation, release: Release): CodebaseConfig {
  const versions = {
    base: releaseFile(CONFIG_PATH),
    ours: readTreeFile(root, CONFIG_PATH),
    theirs: release.files.get(CONFIG_PATH) ?? null,
  };
  const merged = mergeFiles(versions, { path: CONFIG_PATH });
  const file = merged.kind === 'clean' ? merged.file : versions.theirs;
  return parseConfig(file?.bytes.toString('utf8') ?? null);
}

/** The core that an update starts from. */
export type OldCore = {
  readonly version: string | null;
  readonly paths: readonly string[];
  readonly digestOf: (path: string) => FileDigest | undefined;
  readonly commit: string | null;
  readonly migrations: readonly Migration[];
  /** The packages that came with it. */
  readonly skills: State['core']['skills'];
  /** False for what was on a disk without history: some of it may be the owner's from the first. */
  readonly isReleased: boolean;
  /** What was published on it: the ground on which the owner's edits are seen. */
  readonly published: (path: string) => TreeFile | null;
  readonly warnings: readonly string[];
};

type Request = {
  readonly installation: Installation;
  readonly state: State;
  readonly installed: readonly SkillPackage[];
  readonly release: Release;
  /** What the owner says the old release was, or null. */
  readonly named: string | null;
};

/**
 * The release that the installation stands on. Where no word of the owner's named it, HEAD may hold
 * work of theirs: then it is git's merge base with the new release, or the owner has to say.
 *
 * @throws ClawError RELEASE_NOT_FOUND where nobody can know
 */
export async function findOldCore(context: EngineContext, request: Request): Promise<OldCore> {
  const { installation, state, release, named } = request;
  const { root } = context;
  if (named !== null) {
    const config = installation.config;
    const isRef = isGitFolder(root) && (await resolveCommit(root, named)) !== null;
    const place = isRef ? named : resolve(context.cwd, named);
    await refuseInstallation(root, place);
    const old = await takeRelease(root, config, { release: place, coreVersion: null });
    const isInstalled = old.digests.digest === state.core.digest;
    return isInstalled ? installedCore(installation) : otherCore(request, old);
  }
  const isGuess = state.core.assumed && state.core.from !== 'tag';
  if (!isGuess) return installedCore(installation);
  const base =
    release.commit !== null && state.core.commit !== null
      ? await mergeBase(root, state.core.commit, release.commit)
      : null;
  if (base === null) {
    throw new ClawError(
      'RELEASE_NOT_FOUND',
      'Nobody ever said which release this installation stands on, so your own work cannot be told ' +
        'from it. Name the old one: claw update <new> --release <old ref or folder>.',
    );
  }
  if (base === state.core.commit) return installedCore(installation);
  const old = await takeRelease(root, installation.config, { release: base, coreVersion: null });
  return otherCore(request, old);
}

function installedCore(installation: Installation): OldCore {
  const { coreVersion, state, releaseFile, releaseDigests, publishedFile } = installation;
  return {
    version: coreVersion,
    commit: state?.core.commit ?? null,
    migrations: readMigrations(releaseFile(MIGRATIONS_PATH)),
    skills: state?.core.skills ?? {},
    isReleased: state?.core.from !== 'disk',
    paths: [...releaseDigests.files.keys()],
    digestOf: (path) => releaseDigests.files.get(path),
    published: publishedFile,
    warnings: [],
  };
}

/** What was taken for the core held work of the owner's: what was published is seen on the true one. */
function otherCore(
  { installation, state, installed }: Pick<Request, 'installation' | 'state' | 'installed'>,
  old: Release,
): OldCore {
  const file = (path: string) => old.files.get(path) ?? null;
  const migrations = readMigrations(file(MIGRATIONS_PATH));
  const composed = compose({
    release: file,
    layers: orderLayers(installed),
    answers: { decisions: [], resolutions: installation.resolutions },
    pathMaps: pathMapsOf(migrations),
  });
  const isOpen = (path: string) =>
    composed.conflicts.some((conflict) => conflictFile(conflict) === path);
  const published = (path: string): TreeFile | null => {
    const touched = composed.files.get(path);
    if (touched === undefined) return file(path);
    // A conflict there says nothing of what was published; the kept bytes do.
    return isOpen(path) && state.files.has(path) ? installation.publishedFile(path) : touched.file;
  };
  return {
    version: old.version ?? installation.coreVersion,
    commit: old.commit,
    migrations,
    skills: skillDigests(old.extras),
    isReleased: true,
    paths: [...old.files.keys()],
    digestOf: (path) => old.digests.files.get(path),
    published,
    warnings: ['What was taken for the core held work of yours: it counts as your edits now.'],
  };
}

async function mergeBase(root: string, one: string, other: string): Promise<string | null> {
  try {
    const output = await runGit(root, ['merge-base', one, other]);
    return output.toString('utf8').trim() || null;
  } catch (error) {
    if (error instanceof ClawError && error.code === 'IO_FAILED') return null;
    throw error;
  }
}
