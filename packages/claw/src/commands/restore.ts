import { setImmediate } from 'node:timers/promises';
import { digestFile } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { readHistory } from '../installed/history.ts';
import {
  type Installation,
  keptBases,
  readInstalled,
  withBases,
} from '../installed/installation.ts';
import { ManifestCache } from '../installed/manifest-cache.ts';
import type { LayerState, State } from '../installed/state-file.ts';
import type { EngineContext } from '../operation/context.ts';
import { formerNames } from '../operation/inference.ts';
import { addedFile } from '../package/accessors.ts';
import type { SkillPackage } from '../package/package.ts';
import { openPackage } from '../package/sources/open.ts';
import { findPackage } from '../package/sources/sources.ts';

/**
 * Returns the applied packages, where possibly only `state.yaml` was carried over: from the bytes kept in
 * `.claw/packages/`, else from their source, if it still has the pinned digest. Ancestors that were inferred
 * for them are found in the history by their digests.
 *
 * @param installation may still be read: only those ancestors need it
 * @throws ClawError DIGEST_MISMATCH for a package that is gone or has changed
 */
export async function restorePackages(
  context: EngineContext,
  installation: Promise<Installation>,
  state: State,
): Promise<readonly SkillPackage[]> {
  const packages: SkillPackage[] = [];
  const manifests = new ManifestCache(context.root);
  let isReading = true;
  const ended = () => {
    isReading = false;
  };
  installation.then(ended, ended);
  for (const layer of state.layers) {
    // git, which hands out the release meanwhile, waits for no more than one package.
    if (isReading) await setImmediate();
    const restoring = { context, installation, manifests };
    packages.push(await restorePackage(restoring, layer, packages));
  }
  manifests.save();
  return packages;
}

type Restoring = {
  readonly context: EngineContext;
  readonly installation: Promise<Installation>;
  readonly manifests: ManifestCache;
};

async function restorePackage(
  { context, installation, manifests }: Restoring,
  layer: LayerState,
  others: readonly SkillPackage[],
): Promise<SkillPackage> {
  const bare = await unlessMismatched(
    () => readInstalled(context.root, layer, manifests),
    (lost) => fetchPackage(context, layer, lost),
  );
  return await unlessMismatched(
    () => keptBases(context.root, layer, bare),
    async () => restoreBases(await installation, layer, bare, others),
  );
}

async function unlessMismatched(
  read: () => SkillPackage,
  restore: (lost: ClawError) => Promise<SkillPackage>,
): Promise<SkillPackage> {
  try {
    return read();
  } catch (lost) {
    if (lost instanceof ClawError && lost.code === 'DIGEST_MISMATCH') return await restore(lost);
    throw lost;
  }
}

async function fetchPackage(
  context: EngineContext,
  layer: LayerState,
  lost: ClawError,
): Promise<SkillPackage> {
  const { root } = context;
  try {
    // It was accepted when it was applied; what the owner protected since must not keep it in.
    const options = { protectedPaths: [], kind: layer.kind };
    const found = await openPackage(findPackage(root, root, layer.source), options, context);
    if (found.package.digest === layer.digest) return found.package;
  } catch (cause) {
    if (!(cause instanceof ClawError) || cause.code === 'INTERRUPTED') throw cause;
    const { code, path, data } = lost;
    throw new ClawError(code, `${lost.message} (${cause.message})`, { path, data, cause });
  }
  throw lost;
}

async function restoreBases(
  installation: Installation,
  layer: LayerState,
  bare: SkillPackage,
  others: readonly SkillPackage[],
): Promise<SkillPackage> {
  const { root, releaseFile, state, pathMaps } = installation;
  const namesOf = (path: string) => formerNames(bare, path, pathMaps);
  const paths = Object.keys(layer.inferredBases).flatMap(namesOf);
  if (paths.length === 0) return bare;
  const history = await readHistory(root, state?.core.commit ?? null, paths);
  const versions = history.kind === 'whole' ? history.versions : new Map<string, never>();
  return withBases(layer, bare, (path, digest) => {
    const candidates = [
      ...namesOf(path).map(releaseFile),
      ...namesOf(path).flatMap((name) => others.map((other) => addedFile(other, name))),
      ...namesOf(path).flatMap((name) => (versions.get(name) ?? []).map(({ file }) => file)),
    ];
    return candidates.find((file) => file !== null && digestFile(file) === digest) ?? null;
  });
}
