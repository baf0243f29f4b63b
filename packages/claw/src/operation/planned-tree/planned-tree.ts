import type { TreeFile } from '@patchclaw/merge';
import { checkCollisionsOf } from '../../compose/collisions.ts';
import { type ComposeInput, compose } from '../../compose/compose.ts';
import type { Composition } from '../../compose/composition.ts';
import { renamesOf } from '../../compose/files/renames.ts';
import { type FileChange, planTree } from '../../compose/plan.ts';
import type { Decision, ResolvedConflict } from '../../compose/resolve-conflict.ts';
import { type Conflict, conflictFile } from '../../conflict.ts';
import { readOwnStructured } from '../../installed/config.ts';
import { memoizeReads, treeReader } from '../../installed/disk.ts';
import type { Installation } from '../../installed/installation.ts';
import { MergeCache } from '../../installed/merge-cache.ts';
import type { Resolution } from '../../installed/resolution.ts';
import { checkOwnStructured } from '../../package/checks/targets.ts';
import { customFiles, reanchored } from '../../package/manifest/customisation.ts';
import { mapPath, type PathMap } from '../../package/manifest/path-map.ts';
import { orderLayers } from '../../package/order.ts';
import type { SkillPackage } from '../../package/package.ts';
import { alreadyPresentPaths } from './already-present.ts';
import { findOccupiedPlaces } from './blocked-paths.ts';
import { mergeEditsBesideHunks } from './edits-beside-hunks.ts';
import { refuseSpoiledDecisions } from './spoiled-files.ts';

/** The layers that a command wants, and what publishing them takes. */
export type TargetPlan = {
  /** In canonical order; customisations that a decision concerned are written against what is there now. */
  readonly layers: readonly SkillPackage[];
  readonly target: Composition;
  /** Moves of files by releases, up to the one of this target. */
  readonly pathMaps: readonly PathMap[];
  readonly changes: readonly FileChange[];
  readonly conflicts: readonly Conflict[];
  /** Disagreements that recordings or decisions resolved. */
  readonly resolvedConflicts: readonly ResolvedConflict[];
  /** Files that the owner had already as the layers make them; asked by who tells of it. */
  readonly adopted: () => readonly string[];
};

type Lookup = (path: string) => TreeFile | null;

/** Another release under the layers. */
export type NewCore = {
  readonly releaseFile: Lookup;
  readonly pathMaps: readonly PathMap[];
  /** Paths that the two releases have otherwise. */
  readonly changed: readonly string[];
  /** Old path → new path, for files that the release moved. */
  readonly moves: ReadonlyMap<string, string>;
};

export type TargetRequest = {
  readonly installation: Installation;
  /** The layers that the disk shows the effect of. */
  readonly installed: readonly SkillPackage[];
  readonly wanted: readonly SkillPackage[];
  /** The published files, where they differ from the installation's. */
  readonly published?: Lookup;
  /** The owner's decisions on conflicts of this operation. */
  readonly decisions?: readonly Decision[] | undefined;
  /** Recordings that may resolve a conflict; the installation's own by default. */
  readonly resolutions?: readonly Resolution[];
  /** Layers that give way where they disagree with the release, which has their commits; none by default. */
  readonly released?: ReadonlySet<string>;
  /** The installed core by default. */
  readonly core?: NewCore;
  /** The core's name in conflicts with the owner's edits. */
  readonly coreName?: string;
  /** The composition of just that, where it is known already. */
  readonly composed?: Composition | null;
  /** The files on disk, where some of them were read already. */
  readonly disk?: Lookup;
};

/**
 * Composes the wanted layers on a core and plans it against the disk.
 *
 * @throws ClawError RESOLUTION_INVALID for a decision that spoils its file, PATH_COLLISION
 */
export function planLayers(request: TargetRequest): TargetPlan {
  const { installation, installed, decisions = [], core } = request;
  const { root, state } = installation;
  const release = memoizeReads(core?.releaseFile ?? installation.releaseFile);
  const pathMaps = core?.pathMaps ?? installation.pathMaps;
  const answers = { decisions, resolutions: request.resolutions ?? installation.resolutions };
  const ordered = orderLayers(request.wanted);
  checkOwnStructured(request.wanted, readOwnStructured(release));
  const target =
    request.composed ??
    composeKnown(root, {
      release,
      layers: ordered,
      // Of the layers among each other alone: the owner's own edits never give way.
      answers: { ...answers, released: request.released ?? new Set() },
      pathMaps,
      isJoint: true,
    });
  checkCollisionsOf(target, {
    release,
    brought: core?.changed.filter((path) => !installation.releaseDigests.files.has(path)) ?? [],
    isHeld: (path) => state?.files.has(path) ?? false,
  });
  const layers = refreshCustomisationBases(ordered, target, pathMaps);
  const disk = request.disk ?? memoizeReads(treeReader(root));
  const published = memoizeReads(request.published ?? installation.publishedFile);
  const plan = planTree({
    old: {
      file: published,
      paths: [...(state?.files.keys() ?? []), ...(core?.changed ?? [])],
      renames: renamesOf(orderLayers(installed), installation.pathMaps),
    },
    disk,
    release,
    target,
    coreMoves: core?.moves ?? new Map(),
    ...(request.coreName === undefined ? {} : { coreName: request.coreName }),
    answers,
  });
  const resolvedConflicts = [...target.resolvedConflicts, ...plan.resolvedConflicts];
  const amended = mergeEditsBesideHunks(
    { changes: plan.changes, resolvedConflicts },
    { disk, renames: target.renames, answers },
  );
  refuseSpoiledDecisions([...resolvedConflicts, ...amended.resolvedConflicts]);
  const blocked = new Set(plan.conflicts.map(({ path }) => path));
  const occupied = findOccupiedPlaces(root, amended.changes);
  return {
    layers,
    target,
    pathMaps,
    changes: amended.changes,
    conflicts: [
      ...plan.conflicts,
      ...amended.conflicts.filter(({ path }) => !blocked.has(path)),
      ...occupied,
    ],
    resolvedConflicts: [...resolvedConflicts, ...amended.resolvedConflicts],
    adopted: () => alreadyPresentPaths(target, { disk, published }),
  };
}

/** Composes with the merges that earlier commands made. */
export function composeKnown(root: string, input: ComposeInput): Composition {
  const merges = new MergeCache(root);
  const composition = compose({ ...input, merge: merges.merge });
  merges.save();
  return composition;
}

/**
 * Rewrites customisations whose conflict was decided: against the present files, so that they merge cleanly
 * from here on. Such a decision is not recorded. A customisation with nothing left to change is dropped.
 */
export function refreshCustomisationBases(
  layers: readonly SkillPackage[],
  target: Composition,
  pathMaps: readonly PathMap[],
): readonly SkillPackage[] {
  return layers.flatMap((layer) => {
    if (layer.kind !== 'customisation') return [layer];
    const decided = target.resolvedConflicts
      .filter(({ decision, conflict }) => decision && conflict.layers[1] === layer.manifest.skill)
      .map(({ conflict }) => conflictFile(conflict));
    let current: SkillPackage | null = layer;
    for (const path of new Set(decided)) {
      current = current && reanchorFile(current, path, target, pathMaps);
    }
    return current === null ? [] : [current];
  });
}

function reanchorFile(
  layer: SkillPackage,
  path: string,
  { files, renames }: Composition,
  pathMaps: readonly PathMap[],
): SkillPackage | null {
  const touch = files.get(path)?.touches.findLast((one) => one.layer === layer.manifest.skill);
  if (touch === undefined) return layer;
  const presentName = (named: string) => {
    const mapped = mapPath(named, layer.manifest.coreVersion, pathMaps);
    return renames.get(mapped) ?? mapped;
  };
  const named = customFiles(layer).find((file) => presentName(file.path) === path)?.path ?? path;
  return reanchored(layer, { path: named, before: touch.before, after: touch.after });
}
