import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ClawError } from '../errors.ts';
import type { SkillPackage } from '../skill/package.ts';
import { packageFromFiles } from '../skill/packageFromFiles.ts';
import { readPackage } from '../skill/readPackage.ts';
import { findPackage } from '../skill/sources.ts';
import { type CodebaseConfig, readConfig } from '../state/config.ts';
import { BASE, PACKAGES, readBase, readComposed, readFolder } from '../state/kept.ts';
import { findRelease, type Release, type ReleaseRequest, takeRelease } from '../state/release.ts';
import { type LayerState, readState, type State } from '../state/stateFile.ts';
import type { TreeFile } from '../tree.ts';

/** What is installed: the core, the layers on it, and what the last command published. */
export type Installation = {
  readonly root: string;
  readonly config: CodebaseConfig;
  /** Null where no command has run yet. */
  readonly state: State | null;
  /** The release just taken, to be kept by this command; null where `.claw/base/` holds it. */
  readonly taken: Release | null;
  readonly coreVersion: string | null;
  readonly releaseFile: (path: string) => TreeFile | null;
  readonly publishedFile: (path: string) => TreeFile | null;
};

const NO_REQUEST: ReleaseRequest = { release: null, coreVersion: null };

/** Reads what is installed; where nothing is, takes the core as the first command on a codebase does. */
export async function readInstallation(
  root: string,
  request: ReleaseRequest = NO_REQUEST,
): Promise<Installation> {
  const config = readConfig(root);
  const state = readState(root);
  if (state !== null) {
    const taken = existsSync(join(root, BASE)) ? null : await findRelease(root, config, state);
    const releaseFile = (path: string) =>
      taken ? (taken.files.get(path) ?? null) : readBase(root, path);
    return {
      root,
      config,
      state,
      taken,
      coreVersion: state.core.version,
      releaseFile,
      publishedFile: (path) =>
        state.files.has(path) ? readComposed(root, state, path) : releaseFile(path),
    };
  }
  const taken = await takeRelease(root, config, request);
  const file = (path: string) => taken.files.get(path) ?? null;
  const { version: coreVersion } = taken;
  return { root, config, state, taken, coreVersion, releaseFile: file, publishedFile: file };
}

/** The installation of a command that needs one. */
export function requireState(installation: Installation): State {
  if (installation.state !== null) return installation.state;
  throw new ClawError(
    'NOT_INITIALISED',
    'Nothing is installed here yet: `claw apply <skill>` begins.',
  );
}

/**
 * The applied packages, from the bytes kept in `.claw/packages/`, else from their source if it still
 * has the pinned digest.
 *
 * @throws ClawError DIGEST_MISMATCH
 */
export function readInstalledPackages(installation: Installation): readonly SkillPackage[] {
  const { root, config, state } = installation;
  return state === null ? [] : readLayers({ root, config, state });
}

type Kept = Pick<Installation, 'root' | 'config'> & { readonly state: State };

/** The same, where nothing but the state has been read yet. */
export function readLayers({ root, config, state }: Kept): readonly SkillPackage[] {
  return state.layers.map((layer) => readInstalled(root, config, layer));
}

function readInstalled(root: string, config: CodebaseConfig, layer: LayerState): SkillPackage {
  const options = { protectedPaths: config.protected };
  const kept = readFolder(root, `${PACKAGES}/${layer.name}`);
  if (kept.size > 0) {
    const found = packageFromFiles(kept, options);
    if (found.digest === layer.digest) return found;
  }
  const source = findSource(root, layer);
  const found = source === null ? null : readPackage(source, options);
  if (found?.digest === layer.digest) return found;
  throw new ClawError(
    'DIGEST_MISMATCH',
    `The package ${layer.name} ${layer.version} is not the one that .claw/state.yaml pins, neither in ` +
      `${PACKAGES}/${layer.name} nor at its source (${layer.source}). Take .claw/ back from git.`,
    { path: `${PACKAGES}/${layer.name}`, data: { layer: layer.name } },
  );
}

function findSource(root: string, layer: LayerState): string | null {
  try {
    return findPackage(root, root, layer.source).folder;
  } catch (error) {
    if (error instanceof ClawError) return null;
    throw error;
  }
}
