import type { TreeFile } from '@patchclaw/merge';
import { digestFile, type FileDigest, type TreeDigests } from '../digest.ts';
import { ClawError } from '../errors.ts';
import type { PathMap } from '../package/manifest/path-map.ts';
import { withDeclared } from '../package/manifest/path-map.ts';
import type { SkillPackage } from '../package/package.ts';
import {
  type PackageOptions,
  packageAgain,
  packageFromFiles,
} from '../package/package-from-files.ts';
import { readPackage } from '../package/read-package.ts';
import { findPackage } from '../package/sources/sources.ts';
import {
  inferredPlace,
  packagePlaces,
  packedPlace,
  readComposed,
  readFolder,
  readKeptFiles,
  readPackageFiles,
} from './claw-folder.ts';
import { type CodebaseConfig, readConfig } from './config.ts';
import { memoizeReads, treeReader } from './disk.ts';
import { readBase, readBaseDigests } from './file-digests.ts';
import { ManifestCache } from './manifest-cache.ts';
import { MIGRATIONS_PATH, pathMapsOf, readMigrations } from './migrations.ts';
import {
  findRelease,
  NO_REQUEST,
  type Release,
  type ReleaseRequest,
  type TreesReader,
  takeRelease,
} from './release.ts';
import type { Resolution } from './resolution.ts';
import { readResolutions } from './resolution-file.ts';
import { type LayerState, readState, type State } from './state-file.ts';

/** The installed state: the core, the layers on it, and the result of the last command. */
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
  /** The release's files, by path. */
  readonly releaseDigests: TreeDigests;
  /** Moves of core files by releases, up to this one. */
  readonly pathMaps: readonly PathMap[];
  /** Recorded resolutions, from here or elsewhere. */
  readonly resolutions: readonly Resolution[];
};

/** Finds the digests of the kept core; null where that is not the pinned one. */
type BaseReader = (root: string, core: State['core']) => TreeDigests | null;

/**
 * Reads what is installed; where nothing is, takes the core as the first command on a codebase does.
 *
 * @param options `base` says how closely `.claw/base/` is looked at: by default the digests of an earlier
 *   command do, and each file is checked when it is read; where it is not the pinned core, that is found again.
 *   `state` is that of this folder, where it was just read; `readTrees` may know what a commit holds
 */
export async function readInstallation(
  root: string,
  options: {
    readonly request?: ReleaseRequest;
    readonly base?: BaseReader;
    readonly state?: State | null;
    readonly readTrees?: TreesReader | undefined;
  } = {},
): Promise<Installation> {
  const { request = NO_REQUEST, base = readBaseDigests } = options;
  const config = readConfig(root);
  const state = options.state === undefined ? readState(root) : options.state;
  if (state !== null) {
    const kept = base(root, state.core);
    const taken = kept === null ? await findRelease(root, config, state) : null;
    const read = treeReader(root);
    const releaseFile = memoizeReads((path) =>
      kept === null ? (taken?.files.get(path) ?? null) : readBase(read, kept, path),
    );
    return {
      root,
      config,
      state,
      taken,
      coreVersion: state.core.version,
      releaseFile,
      publishedFile: (path) =>
        state.files.has(path) ? readComposed(read, state, path) : releaseFile(path),
      releaseDigests: kept ?? taken?.digests ?? { files: new Map(), digest: state.core.digest },
      pathMaps: withDeclared(movesOf(releaseFile), state.core.moves),
      resolutions: readResolutions(root, state),
    };
  }
  const taken = await takeRelease(root, config, request, options.readTrees);
  const file = (path: string) => taken.files.get(path) ?? null;
  return {
    root,
    config,
    state,
    taken,
    coreVersion: taken.version,
    releaseFile: file,
    publishedFile: file,
    releaseDigests: taken.digests,
    pathMaps: movesOf(file),
    resolutions: readResolutions(root, null),
  };
}

/** Returns every move of a release's history: its `migrations.yaml` is only ever added to. */
export function movesOf(release: (path: string) => TreeFile | null): readonly PathMap[] {
  return pathMapsOf(readMigrations(release(MIGRATIONS_PATH)));
}

/** Returns the installation of a command that needs one. */
export function requireState(installation: Installation): State {
  if (installation.state !== null) return installation.state;
  throw new ClawError('NOT_INITIALISED', 'No skills yet. Add one: `claw apply <skill>`');
}

/**
 * Returns the applied packages, from the bytes kept in `.claw/packages/`, else from their source if it still
 * has the pinned digest.
 *
 * @throws ClawError DIGEST_MISMATCH
 */
export function readInstalledPackages(installation: Installation): readonly SkillPackage[] {
  const { root, state } = installation;
  return state === null ? [] : readLayers({ root, state });
}

type InstalledState = Pick<Installation, 'root'> & { readonly state: State };

/** Returns the same, where nothing but the state has been read yet. */
export function readLayers({ root, state }: InstalledState): readonly SkillPackage[] {
  const manifests = new ManifestCache(root);
  const layers = state.layers.map((layer) =>
    keptBases(root, layer, readInstalled(root, layer, manifests)),
  );
  manifests.save();
  return layers;
}

/** Reads one applied package, without the ancestors that were found for it. */
export function readInstalled(
  root: string,
  layer: LayerState,
  manifests: ManifestCache,
): SkillPackage {
  // It was accepted when it was applied; what the owner protected since must not keep it in.
  const options = { protectedPaths: [], kind: layer.kind };
  const places = packagePlaces(layer);
  for (const keptAt of places) {
    const kept = readKnown(root, keptAt, layer, manifests) ?? readKept(root, keptAt, options);
    if (kept?.digest !== layer.digest) continue;
    manifests.keep(kept);
    return { ...kept, keptAt };
  }
  const found = attempt(() => readSource(root, layer, options));
  if (found?.digest === layer.digest) return found;
  throw new ClawError(
    'DIGEST_MISMATCH',
    `The package ${layer.name} ${layer.version} is not the one that .claw/state.yaml pins, neither in ` +
      `${places[0]} nor at its source (${layer.source}). Restore .claw/ from git, or bring the source to that ` +
      'version again and run `claw replay`.',
    { path: places[0], data: { layer: layer.name } },
  );
}

/** Returns a package whose files are known by name, without listing its folder. */
function readKnown(
  root: string,
  place: string,
  layer: LayerState,
  manifests: ManifestCache,
): SkillPackage | null {
  const known = manifests.find(layer);
  if (known === null) return null;
  const isFile = place === packedPlace(layer.name);
  const files = isFile ? readPackageFiles(root, place) : readKeptFiles(root, place, known.paths);
  const again = packageAgain(files, { kind: layer.kind, manifest: known.manifest });
  return again.digest === layer.digest ? again : null;
}

function readKept(root: string, place: string, options: PackageOptions): SkillPackage | null {
  const files = readPackageFiles(root, place);
  return files.size === 0 ? null : attempt(() => packageFromFiles(files, options));
}

/** Reads a package from its source, if that is a local folder: only `replay` fetches. */
function readSource(root: string, layer: LayerState, options: PackageOptions): SkillPackage | null {
  const found = findPackage(root, root, layer.source);
  return found.kind === 'folder' ? readPackage(found.folder, options) : null;
}

/**
 * Returns a package with the ancestors that were kept beside it.
 *
 * @throws ClawError DIGEST_MISMATCH
 */
export function keptBases(root: string, layer: LayerState, bare: SkillPackage): SkillPackage {
  const kept = Object.keys(layer.inferredBases).length === 0 ? null : inferredPlace(layer.name);
  const files = kept === null ? new Map<string, TreeFile>() : readFolder(root, kept);
  return withBases(layer, bare, (path) => files.get(path) ?? null);
}

/**
 * Returns a package with the ancestors that were found for it when it was applied.
 *
 * @throws ClawError DIGEST_MISMATCH
 */
export function withBases(
  layer: LayerState,
  bare: SkillPackage,
  find: (path: string, digest: FileDigest) => TreeFile | null,
): SkillPackage {
  const inferredBases = new Map<string, TreeFile>();
  const withoutBase = new Set<string>();
  for (const [path, digest] of Object.entries(layer.inferredBases)) {
    const file = digest === 'unknown' ? null : find(path, digest);
    if (digest === 'unknown') withoutBase.add(path);
    else if (file !== null && digestFile(file) === digest) inferredBases.set(path, file);
    else {
      const place = `${inferredPlace(layer.name)}/${path}`;
      const message =
        `${place} is not what .claw/state.yaml pins. Restore .claw/ from git, or let ` +
        '`claw replay` find it in the history.';
      throw new ClawError('DIGEST_MISMATCH', message, { path: place });
    }
  }
  return { ...bare, inferredBases, withoutBase };
}

/** Returns null for a package that is absent or no longer valid. */
function attempt(read: () => SkillPackage | null): SkillPackage | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof ClawError) return null;
    throw error;
  }
}
