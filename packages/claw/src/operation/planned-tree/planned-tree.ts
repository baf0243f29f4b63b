import { join } from 'node:path';
import { isSameFile, type TreeFile } from '@patchclaw/merge';
import { checkCollisionsOf } from '../../compose/collisions.ts';
import { type ComposeInput, compose } from '../../compose/compose.ts';
import type { Composition, FollowedImport } from '../../compose/composition.ts';
import { renamesOf } from '../../compose/files/renames.ts';
import { type FileChange, planTree } from '../../compose/plan.ts';
import type { Decision, ResolvedConflict } from '../../compose/resolve-conflict.ts';
import { type Conflict, conflictFile, OWNER, PLAN } from '../../conflict.ts';
import { listFolder } from '../../installed/claw-folder.ts';
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
import { lstat } from '../../package/regular-file.ts';
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

/** Composes, reusing merges that earlier commands made. */
export function composeKnown(root: string, input: ComposeInput): Composition {
  const merges = new MergeCache(root);
  const composition = compose({ ...input, merge: merges.merge });
  merges.save();
  return composition;
}

/**
 * Rewrites customisations whose conflict was decided, against the present files, so that they merge cleanly from now
 * on. Such a decision is not recorded. A customisation with no change left is dropped.
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

type PathChange = {
  readonly path: string;
  readonly before: TreeFile | null;
  readonly after: TreeFile | null;
};

/**
 * Finds files of a plan whose place is occupied: by a folder of the owner at that path, or by a file where a folder
 * is needed. Files that the plan itself deletes do not count.
 */
export function findOccupiedPlaces(
  root: string,
  changes: readonly PathChange[],
): readonly Conflict[] {
  const deleted = new Set(changes.flatMap(({ path, after }) => (after === null ? [path] : [])));
  return changes.flatMap(({ path, before, after }) => {
    if (before !== null || after === null) return [];
    const occupant = occupiedBy(root, path, deleted);
    if (occupant === null) return [];
    const reason = `This file would take the place of ${occupant}.`;
    const sides = { base: null, ours: null, theirs: after };
    const layers = [OWNER, PLAN] as const;
    return [{ path, kind: 'add-add', layers, reason, hunks: [], sides, values: null } as const];
  });
}

function occupiedBy(root: string, path: string, deleted: ReadonlySet<string>): string | null {
  const parts = path.split('/');
  for (let depth = 1; depth < parts.length; depth += 1) {
    const above = parts.slice(0, depth).join('/');
    const stat = lstat(join(root, above));
    if (stat === null || deleted.has(above)) return null;
    if (!stat.isDirectory()) return `the file ${above}`;
  }
  if (lstat(join(root, path))?.isDirectory() !== true) return null;
  const below = listFolder(join(root, path)).filter((name) => !deleted.has(`${path}/${name}`));
  return below.length > 0 ? `a folder ${path}/ with files in it` : null;
}

type PresentFiles = (path: string) => TreeFile | null;

/**
 * Returns files that the owner already had, identical to the layers' files. From now on the layers own them, and
 * removing a layer deletes them. The list of changes does not show that, because nothing changes yet.
 */
export function alreadyPresentPaths(
  { files }: Composition,
  { disk, published }: { readonly disk: PresentFiles; readonly published: PresentFiles },
): readonly string[] {
  return [...files]
    .filter(([path, { file }]) => {
      const there = file === null ? null : disk(path);
      return there !== null && isSameFile(there, file) && !isSameFile(there, published(path));
    })
    .map(([path]) => path)
    .sort();
}

/** Returns a message to the owner about these files; empty if there are none. */
export function alreadyPresentNotes(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  const rest = paths.length - 3;
  const named = paths.slice(0, 3).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  return [
    `You had this already, just as the skill makes it: ${named}. It is the skill's now, and goes when ` +
      'the skill goes. To keep it as yours: claw undo, claw customize "…", then apply again.',
  ];
}

/** Lists the imports of layers that an operation rewrites because a release moved their targets. */
export function followedNotes({ target, changes }: TargetPlan): readonly string[] {
  const changed = new Set(changes.map(({ path }) => path));
  const groups = new Map<string, FollowedImport[]>();
  for (const one of target.followed) {
    if (!changed.has(one.path)) continue;
    const key = `Imports of ${one.from} follow it to ${one.to}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups].map(([what, imports]) => {
    const count = new Set(imports.map(({ path }) => path)).size;
    const layers = [...new Set(imports.map(({ layer }) => layer))].join(' and ');
    return `${what} in ${count} ${count === 1 ? 'file' : 'files'} of ${layers}.`;
  });
}
