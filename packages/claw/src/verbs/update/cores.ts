import { join, resolve } from 'node:path';
import type { TreeFile } from '@patchclaw/merge';
import { lt, valid } from 'semver';
import { compose } from '../../compose/compose.ts';
import { conflictFile } from '../../conflict.ts';
import type { FileDigest } from '../../digest.ts';
import { ClawError, shellWord } from '../../errors.ts';
import { BASE } from '../../installed/claw-folder.ts';
import type { Installation } from '../../installed/installation.ts';
import {
  MIGRATIONS_PATH,
  type Migration,
  pathMapsOf,
  readMigrations,
} from '../../installed/migrations.ts';
import { type Release, takeRelease } from '../../installed/release.ts';
import type { State } from '../../installed/state-file.ts';
import type { EngineContext } from '../../operation/context.ts';
import { LOCK } from '../../operation/npm/npm.ts';
import type { NewCore } from '../../operation/planned-tree/planned-tree.ts';
import { skillDigests } from '../../operation/release-state.ts';
import type { PathMap } from '../../package/manifest/path-map.ts';
import { mapPath, unmapPath, withDeclared } from '../../package/manifest/path-map.ts';
import { orderLayers } from '../../package/order.ts';
import type { SkillPackage } from '../../package/package.ts';
import { isGitFolder, resolveCommit, runGit } from '../../repository/git.ts';
import { refuseInstallation } from './new-release.ts';

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
  readonly file: (path: string) => TreeFile | null;
  /** The files published on it, against which the owner's edits are seen. */
  readonly published: (path: string) => TreeFile | null;
  readonly warnings: readonly string[];
};

type OldCoreRequest = {
  readonly installation: Installation;
  readonly state: State;
  readonly installed: readonly SkillPackage[];
  readonly release: Release;
  /** The new release as the owner named it. */
  readonly wanted: string;
  /** The old release as the owner names it, or null. */
  readonly named: string | null;
};

/**
 * Returns the release that the owner's edits are counted from: where git knows it, the point at which the histories of
 * this tree and of the new release part. What `init` took may be a commit of the owner's own, and an update from there
 * would undo all that the owner has committed; a tag may be older than the commit that the owner began from. Where git
 * knows no such point, it is the recorded release, if the owner has named that.
 *
 * @throws ClawError RELEASE_NOT_FOUND where it cannot be known
 */
export async function findOldCore(
  context: EngineContext,
  request: OldCoreRequest,
): Promise<OldCore> {
  const { installation, state, release, named } = request;
  const { root } = context;
  if (named !== null) {
    // It is not a folder like others: some files have other names there, and state.yaml tells the rest.
    if (named === BASE || resolve(context.cwd, named) === join(root, BASE)) {
      return installedCore(installation);
    }
    const config = installation.config;
    const isRef = isGitFolder(root) && (await resolveCommit(root, named)) !== null;
    const place = isRef ? named : resolve(context.cwd, named);
    await refuseInstallation(root, place);
    const old = await takeRelease(root, config, { release: place, coreVersion: null });
    const isInstalled = old.digests.digest === state.core.digest;
    return isInstalled ? installedCore(installation) : otherCore(request, old);
  }
  const { core } = state;
  const isGuess = core.assumed && core.from !== 'tag';
  const parting = await findParting(root, core, release.commit);
  if (parting === null) {
    if (isGuess) throw releaseUnknown(state, request.wanted);
    return installedCore(installation);
  }
  if (parting === core.commit) return installedCore(installation);
  // Going back to an older release takes out what came since, so that must not be the owner's.
  if (parting === release.commit) {
    const origin = await originOfCore(root, core);
    if (origin === 'release') return installedCore(installation);
    if (origin === 'unknown') throw maybeOwn(state, request.wanted);
  }
  const old = await takeRelease(root, installation.config, { release: parting, coreVersion: null });
  if (old.digests.digest === core.digest) return installedCore(installation);
  return otherCore(request, old);
}

/** Makes the refusal of an assumed core: it may hold work of the owner's, which an update would undo. */
function releaseUnknown({ core }: State, wanted: string): ClawError {
  const { commit } = core;
  const assumed =
    commit === null ? 'what was on disk' : `the commit ${commit.slice(0, 9)}, which no tag names,`;
  const update = `claw update ${shellWord(wanted)}`;
  return new ClawError(
    'RELEASE_NOT_FOUND',
    `The first command here took ${assumed} for the release. Work of your own may be in it, which an ` +
      'update would undo. Where it was the release as it came:\n' +
      `  ${update} --release ${BASE}\n` +
      'Where you had changed something before, name the release that you began from:\n' +
      `  ${update} --release <its ref or folder>`,
    { data: { assumed: { version: core.version, commit, from: core.from } } },
  );
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
    file: releaseFile,
    published: publishedFile,
    warnings: [],
  };
}

/**
 * Handles an assumed release that contained owner commits. Recomposes the layers on the real one, so that
 * those commits show up as edits.
 */
function otherCore(
  { installation, state, installed }: Pick<OldCoreRequest, 'installation' | 'state' | 'installed'>,
  old: Release,
): OldCore {
  const file = (path: string) => old.files.get(path) ?? null;
  const migrations = readMigrations(file(MIGRATIONS_PATH));
  const composed = compose({
    release: file,
    layers: orderLayers(installed),
    answers: { decisions: [], resolutions: installation.resolutions },
    pathMaps: withDeclared(pathMapsOf(migrations), state.core.moves),
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
    file,
    published,
    warnings: [
      `Your tree and the new release part at ${old.commit?.slice(0, 9)}${old.version === null ? '' : ` (${old.version})`}: ` +
        'what you have changed and committed since counts as your edits.',
    ],
  };
}

/**
 * Tells whose the recorded core is: a release for sure, a commit that may be the owner's, or a tag that is in the
 * owner's `origin`. That may be where the releases come from, or the owner's fork with tags of their own.
 */
async function originOfCore(
  root: string,
  core: State['core'],
): Promise<'release' | 'unknown' | 'own'> {
  if (core.isUpdated) return 'release';
  if (core.commit === null) return 'own';
  const remotes = (await runGit(root, ['remote'])).toString('utf8').split('\n');
  const upstreams = remotes.filter((name) => /^upstream(-\d+)?$/.test(name));
  if (await isInRemote(root, core.commit, upstreams)) return 'release';
  if (core.from !== 'tag' || upstreams.length > 0) return 'own';
  if (remotes.every((name) => name === '')) return 'release'; // Its releases are made here.
  return (await isInRemote(root, core.commit, ['origin'])) ? 'unknown' : 'own';
}

async function isInRemote(
  root: string,
  commit: string,
  remotes: readonly string[],
): Promise<boolean> {
  if (remotes.length === 0) return false;
  const places = remotes.map((name) => `refs/remotes/${name}`);
  const refs = ['for-each-ref', '--count=1', '--contains', commit, ...places];
  return (await runGit(root, refs)).length > 0;
}

/** Makes the refusal of going back from a tag that may be on a commit of the owner's. */
function maybeOwn({ core }: State, wanted: string): ClawError {
  const update = `claw update ${shellWord(wanted)}`;
  const version = core.version ?? core.commit?.slice(0, 9);
  return new ClawError(
    'RELEASE_NOT_FOUND',
    `${wanted} is older than ${version}, which you have. Going back takes out what came in between, and git does not ` +
      'tell whether some of that is your own work. Where it is all of the release:\n' +
      `  ${update} --release ${BASE}\n` +
      'Where it is your own fork, say so, and all that you have done since you left upstream is kept:\n' +
      '  claw adopt <upstream>',
    { data: { core: { version: core.version, commit: core.commit } } },
  );
}

async function findParting(
  root: string,
  { commit: core, isUpdated }: State['core'],
  release: string | null,
): Promise<string | null> {
  if (release === null || !isGitFolder(root)) return null;
  const head = await resolveCommit(root, 'HEAD');
  return partingPoint({ core, head, release, isUpdated }, (one, other) =>
    mergeBase(root, one, other),
  );
}

/** Commits by their ids: the recorded core, HEAD, and the new release. Null where there is none. */
type Tips = {
  readonly core: string | null;
  readonly head: string | null;
  readonly release: string;
  /** True for a core that came by `update`: it is a release, on whatever branch, and none of it is the owner's. */
  readonly isUpdated?: boolean;
};

/** Returns the best common ancestor of two commits, as `git merge-base` does; null where there is none. */
type MergeBase = (one: string, other: string) => Promise<string | null>;

/**
 * Finds the newest commit that is part of the new release and of what this tree was made from: as git knows it, or by
 * what was recorded as the core, since an update without a merge commit is unknown to git. It is an ancestor of the new
 * release, or that itself, or a release that came by `update`. So no line that the owner has added is in it, and each
 * counts as an edit.
 *
 * @returns null where the histories have no commit in common
 */
export async function partingPoint(
  { core, head, release, isUpdated = false }: Tips,
  mergeBase: MergeBase,
): Promise<string | null> {
  const ofCore = core === null ? null : await mergeBase(core, release);
  if (ofCore === release) return release;
  const ofOther = async () => (head === null ? null : await mergeBase(head, release));
  const ofHead = head === core ? ofCore : await ofOther();
  if (isUpdated && core !== null) {
    // The owner may have merged what is newer with git.
    const isNewer = ofHead !== null && ofHead !== core && (await mergeBase(ofHead, core)) === core;
    return isNewer ? ofHead : core;
  }
  if (ofCore === null || ofHead === null || ofCore === ofHead) return ofHead ?? ofCore;
  return (await mergeBase(ofHead, ofCore)) === ofCore ? ofHead : ofCore;
}

/** Returns a release's commit where git shares history with it, and has not merged it; else null. */
export async function unknownToGit(root: string, release: string | null): Promise<string | null> {
  if (release === null || !isGitFolder(root)) return null;
  const head = await resolveCommit(root, 'HEAD');
  const base = head === null ? null : await mergeBase(root, head, release);
  return base === null || base === release ? null : release;
}

/** Tells whether git knows a commit as part of another one's history. */
export async function isAncestor(
  root: string,
  one: string | null,
  other: string | null,
): Promise<boolean> {
  if (one === null || other === null || !isGitFolder(root)) return false;
  return (await mergeBase(root, one, other)) === one;
}

/** Returns the best common ancestor of two commits; null where there is none. */
export async function mergeBase(root: string, one: string, other: string): Promise<string | null> {
  try {
    const output = await runGit(root, ['merge-base', one, other]);
    return output.toString('utf8').trim() || null;
  } catch (error) {
    if (error instanceof ClawError && error.code === 'IO_FAILED') return null;
    throw error;
  }
}

type Next = {
  readonly release: Release;
  readonly pathMaps: readonly PathMap[];
  /** The path maps of the old core. */
  readonly oldMaps: readonly PathMap[];
  /** Tells whether a release counts a path as core; other paths are not its to change. */
  readonly isCore: (path: string) => boolean;
  /** The paths that layers composed on the old core. */
  readonly touched: readonly string[];
};

/** Compares two releases: the files that differ, and those that moved. */
export function newCore(
  old: OldCore,
  { release, pathMaps, oldMaps, isCore, touched }: Next,
): NewCore {
  const moves = new Map<string, string>();
  const known = new Set(oldMaps.map((map) => JSON.stringify(map)));
  // Without a version, what the old core lists tells what it has done already.
  const newer = pathMaps.filter(
    (map) => (valid(old.version) && map.since !== null) || !known.has(JSON.stringify(map)),
  );
  const isBack = isOlder(release.version, old.version);
  for (const path of [...old.paths, ...touched]) {
    const to = isBack
      ? unmapPath(path, release.version, oldMaps)
      : mapPath(path, old.version, newer);
    if (to !== path) moves.set(path, to);
  }
  const { files } = release.digests;
  const both = new Set([...old.paths, ...files.keys()]);
  const changed = [...both]
    .filter((path) => isCore(path) && old.digestOf(path) !== files.get(path))
    // npm makes it, from the locks of both.
    .filter((path) => path !== LOCK)
    .sort();
  return {
    releaseFile: (path) => release.files.get(path) ?? null,
    pathMaps,
    moves,
    changed,
  };
}

/** Tells whether one version comes before another; false for an unknown version. */
export function isOlder(one: string | null, other: string | null): boolean {
  if (one === null || other === null || valid(one) === null || valid(other) === null) return false;
  return lt(one, other);
}
