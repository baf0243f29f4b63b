import { setImmediate } from 'node:timers/promises';
import { isSameFile, mergeFiles, type TreeFile, type Versions } from '@patchclaw/merge';
import { answeredFile } from '../compose/answer.ts';
import type { Composition } from '../compose/composition.ts';
import { mergeByKey } from '../compose/files/structured-file.ts';
import { type Decision, resolveConflict } from '../compose/resolve-conflict.ts';
import { type Conflict, OWNER } from '../conflict.ts';
import { digestFile } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { memoizeReads, treeReader } from '../installed/disk.ts';
import { statBase } from '../installed/file-digests.ts';
import { readHistory } from '../installed/history.ts';
import {
  type Installation,
  keptBases,
  readInstallation,
  readInstalled,
  requireState,
  withBases,
} from '../installed/installation.ts';
import { ManifestCache } from '../installed/manifest-cache.ts';
import { type LayerState, readState, type State } from '../installed/state-file.ts';
import type { EngineContext, PlanningContext } from '../operation/context.ts';
import type { EarlyBase } from '../operation/early-base.ts';
import { formerNames } from '../operation/inference.ts';
import { pinning } from '../operation/layers.ts';
import type { Operation } from '../operation/planned-operation.ts';
import {
  composeKnown,
  planLayers,
  type TargetPlan,
} from '../operation/planned-tree/planned-tree.ts';
import { addedFile } from '../package/accessors.ts';
import { checkRelations, orderLayers } from '../package/order.ts';
import type { SkillPackage } from '../package/package.ts';
import { openPackage } from '../package/sources/open.ts';
import { findPackage } from '../package/sources/sources.ts';
import { type StructuredKind, structuredKind } from '../structured/structured-kind.ts';
import { listTransactions } from '../transaction/records.ts';

/**
 * Plans the layers of `state.yaml` on the core of this clone. The disk may hold the bare core or the composed tree.
 * In a mixed tree, a file that is neither is a conflict; in the very folder where this state was published, such a
 * file is the owner's.
 *
 * @param bring called with a release that is to be written, before the work that needs no disk
 */
export async function planReplay(
  context: PlanningContext,
  bring: EarlyBase['bring'] = async () => {},
): Promise<Operation<'replay'>> {
  const [installation, layers] = await readTogether(context);
  const state = requireState(installation);
  if (installation.taken !== null) await bring(installation.taken);
  checkRelations(layers);
  const disk = memoizeReads(treeReader(context.root));
  const found = compareWithDisk({ installation, layers, state, disk });
  const plan = planLayers({
    installation,
    installed: found.installed,
    wanted: layers,
    published: found.published,
    decisions: context.decisions,
    composed: context.decisions?.length ? null : found.composition,
    disk,
  });
  const mixed = resolveMixed(found.mixed, context.decisions ?? []);
  return {
    verb: 'replay',
    arguments: [],
    installation,
    installed: found.installed,
    plan: {
      ...plan,
      changes: [...plan.changes, ...mixed.changes],
      conflicts: [...plan.conflicts, ...mixed.conflicts],
      resolvedConflicts: [...plan.resolvedConflicts, ...mixed.resolvedConflicts],
    },
    pin: pinning(state, new Map(), context.now()),
    warnings: [],
    data: {},
  };
}

/** Reads what is installed, and the packages of its layers while git hands out a release that did not come along. */
async function readTogether(
  context: PlanningContext,
): Promise<readonly [Installation, readonly SkillPackage[]]> {
  const { root, now } = context;
  const state = readState(root);
  const installing = readInstallation(root, {
    state,
    base: (_, core) => statBase(root, core, now),
  });
  if (state === null) return [await installing, []];
  const restoring = restorePackages(context, installing, state);
  // Neither goes on after the other one failed; and of two failures it is always the core's that is told.
  await Promise.allSettled([installing, restoring]);
  return [await installing, await restoring];
}

/**
 * Returns the applied packages, where possibly only `state.yaml` was carried over: from the bytes kept in
 * `.claw/packages/`, else from their source, if it still has the pinned digest. Ancestors that were inferred
 * for them are found in the history by their digests.
 *
 * @param installation may still be read: only those ancestors need it
 * @throws ClawError DIGEST_MISMATCH for a package that is gone or has changed
 */
async function restorePackages(
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

type FoundPackage = {
  /** The composition before any decision changed it. */
  readonly composition: Composition;
  /** The layers that the disk shows the effect of. */
  readonly installed: readonly SkillPackage[];
  readonly published: (path: string) => TreeFile | null;
  /** Files whose edits by the owner, and their ancestor, cannot be told apart. */
  readonly mixed: readonly Conflict[];
};

type Compared = {
  readonly installation: Installation;
  readonly layers: readonly SkillPackage[];
  readonly state: State;
  readonly disk: (path: string) => TreeFile | null;
};

function compareWithDisk({ installation, layers, state, disk: read }: Compared): FoundPackage {
  const { root, releaseFile } = installation;
  const composition = composeKnown(root, {
    release: releaseFile,
    layers: orderLayers(layers),
    answers: { decisions: [], resolutions: installation.resolutions },
    pathMaps: installation.pathMaps,
  });
  const { files, ownStructured } = composition;
  const bare = new Set<string>();
  const neither = new Map<string, Versions<TreeFile | null>>();
  let isComposed = false;
  for (const [path, { file }] of files) {
    const released = releaseFile(path);
    if (isSameFile(file, released)) continue;
    const disk = read(path);
    if (isSameFile(disk, file)) isComposed = true;
    else if (isSameFile(disk, released)) bare.add(path);
    else neither.set(path, { base: released, ours: disk, theirs: file });
  }
  const isTouched = [...neither.values()].some(hasLayersLines);
  if (!isComposed && !isTouched) {
    return { composition, installed: [], published: releaseFile, mixed: [] };
  }
  const composed = (path: string): TreeFile | null =>
    files.get(path)?.file ?? (files.has(path) ? null : releaseFile(path));
  if (bare.size + neither.size === 0 || isPublishedHere(root, state)) {
    return { composition, installed: layers, published: composed, mixed: [] };
  }
  const isUnclear = ([path, versions]: [string, Versions<TreeFile | null>]) =>
    bare.size > 0 ||
    (!isComposed && !hasAllOf({ path, kind: structuredKind(path, ownStructured) }, versions));
  return {
    composition,
    installed: layers,
    published: (path) => (bare.has(path) ? releaseFile(path) : composed(path)),
    mixed: [...neither].filter(isUnclear).map(([path, sides]) => mixedFile(path, sides)),
  };
}

/** Tells whether this state is what a command left in this very folder. */
function isPublishedHere(root: string, { digest }: State): boolean {
  return listTransactions(root).some(({ stateAfter }) => stateAfter === digest);
}

/** Tells whether a file on disk shows what only the layers can have put there. */
function hasLayersLines({ base, ours, theirs }: Versions<TreeFile | null>): boolean {
  const [released, disk] = [linesOf(base), linesOf(ours)];
  return [...linesOf(theirs)].some(
    (line) => /\w{2}/.test(line) && !released.has(line) && disk.has(line),
  );
}

function linesOf(file: TreeFile | null): ReadonlySet<string> {
  const lines = file?.bytes.toString('latin1').split(/\r?\n/) ?? [];
  return new Set(lines.map((line) => line.trim()));
}

/** Tells whether weaving the layers into what is on disk would bring nothing that is not there. */
function hasAllOf(
  { path, kind }: { readonly path: string; readonly kind: StructuredKind | null },
  versions: Versions<TreeFile | null>,
): boolean {
  if (kind !== null) {
    const open = (conflict: Conflict) => ({ kind: 'open', conflict }) as const;
    const merged = mergeByKey({ path, kind }, versions, [OWNER, 'replay'], open);
    return merged.conflicts.length === 0 && isSameFile(merged.file, versions.ours);
  }
  const merged = mergeFiles(versions, { path });
  return merged.kind === 'clean' && isSameFile(merged.file, versions.ours);
}

function mixedFile(path: string, sides: Versions<TreeFile | null>): Conflict {
  return {
    path,
    kind: 'content',
    layers: [OWNER, 'replay'],
    reason:
      'Some of what is here is the core, some is composed, and this file is neither: it is unknown ' +
      'which lines you took out of it. Keep it as it is (--ours), or take the composed one (--theirs).',
    hunks: [],
    sides,
    values: null,
  };
}

/** Resolves such files by the owner's decisions; the plan itself leaves them unchanged. */
function resolveMixed(
  mixed: readonly Conflict[],
  decisions: readonly Decision[],
): Pick<TargetPlan, 'changes' | 'conflicts' | 'resolvedConflicts'> {
  const outcomes = mixed.map((one) => resolveConflict(one, { decisions, resolutions: [] }));
  const resolvedConflicts = outcomes.flatMap((one) =>
    one.kind === 'resolved' ? [one.resolved] : [],
  );
  const changes = resolvedConflicts.map(({ conflict, answer }) => ({
    path: conflict.path,
    before: conflict.sides.ours,
    after: answeredFile(conflict, answer),
    movedFrom: null,
  }));
  return {
    changes: changes.filter(({ before, after }) => !isSameFile(before, after)),
    conflicts: outcomes.flatMap((one) => (one.kind === 'open' ? [one.conflict] : [])),
    resolvedConflicts,
  };
}
