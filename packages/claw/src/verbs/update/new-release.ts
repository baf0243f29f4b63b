import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { mergeFiles } from '@patchclaw/merge';
import clean from 'semver/functions/clean.js';
import gt from 'semver/functions/gt.js';
import prerelease from 'semver/functions/prerelease.js';
import rcompare from 'semver/functions/rcompare.js';
import { ClawError, shellWords } from '../../errors.ts';
import { CONFIG_PATH, type CodebaseConfig, parseConfig } from '../../installed/config.ts';
import { readTreeFile } from '../../installed/disk.ts';
import type { Installation } from '../../installed/installation.ts';
import { isProjectPath } from '../../installed/project-files.ts';
import { type Release, takeRelease } from '../../installed/release.ts';
import { readState, STATE_PATH } from '../../installed/state-file.ts';
import type { EngineContext } from '../../operation/context.ts';
import { lstat } from '../../package/regular-file.ts';
import { isGitFolder, listLinks, readCommit, resolveCommit, runGit } from '../../repository/git.ts';

/** Another release, and the settings of the codebase as they will be with it. */
export type NewRelease = {
  readonly release: Release;
  readonly config: CodebaseConfig;
  readonly notes: readonly string[];
};

/**
 * Returns the release that an update brings: a folder, or a commit of this repository.
 *
 * @throws ClawError RELEASE_NOT_FOUND, CONFIG_INVALID
 */
export async function findNewRelease(
  { root, cwd }: EngineContext,
  installation: Installation,
  wanted: string,
): Promise<NewRelease> {
  const { isRef, folder } = await locateRelease({ root, cwd }, wanted);
  const request = { release: isRef ? wanted : folder, coreVersion: null };
  await refuseInstallation(root, request.release);
  const release = await takeRelease(root, installation.config, request);
  const config = comingConfig(installation, release);
  const isSameCore = isDeepStrictEqual(config.exclude, installation.config.exclude);
  return {
    release: isSameCore ? release : await takeRelease(root, config, request),
    config,
    notes: await linkNotes(root, release.commit, config),
  };
}

/**
 * Finds out whether a release is a ref of this repository or a folder.
 *
 * @throws ClawError RELEASE_NOT_FOUND; USAGE for the project itself
 */
export async function locateRelease(
  { root, cwd }: Pick<EngineContext, 'root' | 'cwd'>,
  wanted: string,
): Promise<{ readonly isRef: boolean; readonly folder: string }> {
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
  return { isRef, folder };
}

/** Tells the owner about links of a release: a core is regular files, and the rest comes by git. */
async function linkNotes(
  root: string,
  commit: string | null,
  config: CodebaseConfig,
): Promise<readonly string[]> {
  if (commit === null) return [];
  const missing = (await listLinks(root, commit)).filter((path) => {
    const there = lstat(join(root, path));
    return isProjectPath(path, config) && !there?.isSymbolicLink() && !there?.isDirectory();
  });
  if (missing.length === 0) return [];
  return [
    `Symbolic links and submodules are not brought: git checkout ${commit.slice(0, 9)} -- ${shellWords(missing)}`,
  ];
}

/**
 * Refuses a commit or folder with a `state.yaml`: its layers and edits could never be told from the core
 * again.
 */
export async function refuseInstallation(root: string, release: string): Promise<void> {
  const commit = isGitFolder(root) ? await resolveCommit(root, release) : null;
  const isInstallation =
    commit === null
      ? existsSync(join(release, STATE_PATH))
      : (await readCommit(root, commit, (path) => path === STATE_PATH, [STATE_PATH])).size > 0;
  if (!isInstallation) return;
  throw new ClawError(
    'RELEASE_NOT_FOUND',
    `${release} is not a release but an installation: it holds ${STATE_PATH}. Name the core itself; where ` +
      'you merged one by hand, the commit that you merged in.',
    { path: release },
  );
}

/** Reads the configuration after the update: the new release and the owner decide what is core. */
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

/** The newest release that is newer than the present core, or a sentence on why there is none. */
type NewestTag =
  | { readonly kind: 'found'; readonly tag: string }
  | { readonly kind: 'none'; readonly text: string };

const NAME_ONE = 'Name a release: claw update <tag, commit or folder>.';
const FETCH = 'Run git fetch --tags to get newer ones.';

/**
 * Finds the newest release among the tags that git has here. It asks no server: the address of one stands in the
 * project's own git settings, which can start programs. Versions before their release (`2.0.0-rc.1`) are left out.
 */
export async function findNewestTag(root: string): Promise<NewestTag> {
  if (!isGitFolder(root)) return none(`This project is not in git, so it has no tags. ${NAME_ONE}`);
  const listing = (await runGit(root, ['tag', '--list'])).toString('utf8');
  const [newest] = listing
    .split('\n')
    .flatMap((tag) => {
      const version = clean(tag);
      return version === null || prerelease(version) !== null ? [] : [{ tag, version }];
    })
    .sort((one, other) => rcompare(one.version, other.version));
  if (newest === undefined) return none(`No release is tagged here. ${FETCH}`);
  const present = clean(readState(root)?.core.version ?? '');
  if (present === null || gt(newest.version, present)) return { kind: 'found', tag: newest.tag };
  return none(`You have the newest release that git knows here: ${present}. ${FETCH}`);
}

function none(text: string): NewestTag {
  return { kind: 'none', text };
}
