import { join } from 'node:path';
import { isSameFile, type TreeFile } from '@patchclaw/merge';
import type { Composition } from '../compose/composition.ts';
import { layersWithEffect } from '../compose/layers-with-effect.ts';
import { digestBytes, digestFile, type FileDigest } from '../digest.ts';
import {
  COMPOSED,
  CUSTOM,
  inferredPlace,
  KEPT_LOCK,
  keptPath,
  listEntries,
  listFolder,
  PACKAGES,
  packagePlaces,
  packFiles,
} from '../installed/claw-folder.ts';
import { treeReader } from '../installed/disk.ts';
import { type LayerState, STATE_PATH, type State, stateBytes } from '../installed/state-file.ts';
import { hasChanges } from '../package/origin.ts';
import type { SkillPackage } from '../package/package.ts';
import { lstat } from '../package/regular-file.ts';
import type { Fingerprint, Step } from '../transaction/journal.ts';

/** A layer to keep: the package, and its entry in `state.yaml`. */
export type KeptLayer = { readonly package: SkillPackage; readonly state: LayerState };

/** The entries of `state.yaml` for recordings, and the new files of this command by path. */
export type KeptResolutions = {
  readonly known: State['resolutions'];
  readonly made: ReadonlyMap<string, Buffer>;
  /** Files of recordings that go, since a decision of this command says otherwise. */
  readonly outdated: readonly string[];
};

export type NewState = {
  readonly core: State['core'];
  readonly layers: readonly KeptLayer[];
  readonly target: Composition;
  /** Every recording that stays known, with the bytes of those that this command makes. */
  readonly resolutions: KeptResolutions;
  readonly releaseFile: (path: string) => TreeFile | null;
  /** The lock of this composition; null where `package.json` is the release's own. */
  readonly lock: Buffer | null;
  /** The owner had a lock of their own before; see `hasOwnLock`. */
  readonly isLockOwners: boolean;
  /** npm had work with it that the owner passed over. */
  readonly isInstallSkipped: boolean;
};

/** Returns the steps that update `.claw/`, `state.yaml` among them, and the state's bytes. */
export function stateSteps(
  root: string,
  next: NewState,
): {
  readonly steps: readonly Step[];
  readonly bytes: Buffer;
  readonly state: Omit<State, 'digest'>;
} {
  const composed = composedFiles(next);
  const effective = layersWithEffect(next.target, next.releaseFile);
  const state = {
    core: next.core,
    layers: next.layers.map((layer) => withEffect(layer, effective)),
    resolutions: next.resolutions.known,
    files: new Map([...composed].map(([path, file]) => [path, pinOf(file)])),
    structured: structuredState(next),
  };
  const bytes = stateBytes(root, state);
  const kept = new Map<string, TreeFile>();
  for (const [path, file] of composed) if (file) kept.set(keptPath(COMPOSED, path), file);
  const whole = new Set<string>();
  for (const { package: layer } of next.layers) {
    if (layer.keptAt !== undefined) whole.add(layer.keptAt);
    keepLayer(kept, layer);
  }
  for (const [path, bytes] of next.resolutions.made) kept.set(path, { bytes, isExecutable: false });
  if (next.lock) kept.set(KEPT_LOCK, { bytes: next.lock, isExecutable: false });
  kept.set(STATE_PATH, { bytes, isExecutable: false });
  const present = presentFiles(root, whole);
  return {
    steps: stepsTowards(root, kept, [...present, ...next.resolutions.outdated]),
    bytes,
    state,
  };
}

function withEffect(
  { package: { manifest }, state }: KeptLayer,
  effective: ReadonlySet<string>,
): LayerState {
  const { changesNothing: _, ...rest } = state;
  const isIdle = hasChanges(manifest) && !effective.has(manifest.skill);
  return isIdle ? { ...rest, changesNothing: true } : rest;
}

function keepLayer(kept: Map<string, TreeFile>, layer: SkillPackage): void {
  if (layer.keptAt === undefined) keepPackage(kept, layer);
  for (const [path, file] of layer.inferredBases) {
    kept.set(keptPath(inferredPlace(layer.manifest.skill), path), file);
  }
}

function keepPackage(kept: Map<string, TreeFile>, { kind, manifest, files }: SkillPackage): void {
  const [place] = packagePlaces({ kind, name: manifest.skill });
  if (kind === 'skill') kept.set(place, { bytes: packFiles(files), isExecutable: false });
  else for (const [path, file] of files) kept.set(keptPath(place, path), file);
}

/** Lists the present files in the engine's folders, except those of unchanged packages. */
function presentFiles(root: string, whole: ReadonlySet<string>): readonly string[] {
  const packages = [PACKAGES, CUSTOM].flatMap((folder) =>
    listEntries(join(root, folder)).map((name) => `${folder}/${name}`),
  );
  const places = [COMPOSED, ...packages.filter((place) => !whole.has(place))];
  return places.flatMap((place) =>
    lstat(join(root, place))?.isDirectory()
      ? listFolder(join(root, place)).map((path) => `${place}/${path}`)
      : [place],
  );
}

function structuredState({
  target,
  lock,
  isLockOwners,
  isInstallSkipped,
}: NewState): State['structured'] {
  const remembered = {
    ...(lock !== null && isLockOwners ? { edited: true } : {}),
    ...(isInstallSkipped ? { skipped: true } : {}),
  };
  return Object.keys(remembered).length > 0
    ? { ...target.structured, 'package-lock.json': remembered }
    : target.structured;
}

/** Returns the files that differ from the core once this is published. */
function composedFiles({ target, releaseFile }: NewState): ReadonlyMap<string, TreeFile | null> {
  const files = [...target.files].map(([path, { file }]) => [path, file] as const);
  return new Map(files.filter(([path, file]) => !isSameFile(file, releaseFile(path))));
}

function pinOf(file: TreeFile | null): FileDigest | 'deleted' {
  return file ? digestFile(file) : 'deleted';
}

function stepsTowards(
  root: string,
  wanted: ReadonlyMap<string, TreeFile>,
  present: readonly string[],
): readonly Step[] {
  const read = treeReader(root);
  const paths = new Set([...present, KEPT_LOCK, ...wanted.keys()]);
  return [...paths].flatMap((path) => {
    const before = read(path);
    const after = wanted.get(path) ?? null;
    return isSameFile(before, after) ? [] : [stepOf(path, before, after)];
  });
}

/** Returns the step that turns one file into another. The two must differ. */
export function stepOf(path: string, before: TreeFile | null, after: TreeFile | null): Step {
  if (after) return { kind: 'write', path, ...after, before: fingerprintOf(before) };
  const fingerprint = fingerprintOf(before);
  if (fingerprint) return { kind: 'delete', path, before: fingerprint };
  throw new TypeError(`${path} is absent before and after`);
}

function fingerprintOf(file: TreeFile | null): Fingerprint {
  return file ? { digest: digestBytes(file.bytes), isExecutable: file.isExecutable } : null;
}
