import {
  changedLines,
  containedChanges,
  type FileMerge,
  isSameFile,
  type LineRange,
  type mergeFiles,
  type TreeFile,
  type Versions,
} from '@patchclaw/merge';
import type { Conflict } from '../conflict.ts';
import type { Resolution } from '../installed/resolution.ts';
import { addedFile, baseFile, modifiedFile } from '../package/accessors.ts';
import { mapPath, type PathMap } from '../package/manifest/path-map.ts';
import type { SkillPackage } from '../package/package.ts';
import { structuredKind } from '../structured/structured-kind.ts';
import type { ComposedTree } from './composition.ts';
import { decidedKey, type LostChange } from './files/deleted-file.ts';
import { followImports } from './follow-imports.ts';
import type { MergeContext } from './merge-context.ts';
import { RELEASE, type ResolvedConflict } from './resolve-conflict.ts';

/** Returns a layer's change of a file that it modifies, updated for the moves of the releases since. */
export function changeOf(context: MergeContext, layer: SkillPackage, named: string) {
  const base = baseFile(layer, named) ?? ownRenamedBase(layer, named);
  return followed(context, layer, named, { base, theirs: modifiedFile(layer, named) });
}

/** Returns a layer's change as its author would write it now, after the moves of the releases since. */
export function followed(
  { tree, mapped, isMapped }: MergeContext,
  layer: SkillPackage,
  named: string,
  change: Omit<Versions<TreeFile | null>, 'ours'>,
): Omit<Versions<TreeFile | null>, 'ours'> {
  if (!isMapped(layer)) return change;
  const { base, theirs } = change;
  const moved = (path: string) => mapped(path, layer);
  const own = new Set(layer.manifest.adds.map(moved));
  const to = moved(named);
  const has = (path: string) => own.has(path) || tree.file(path) !== null;
  const places = { from: named, to, moved, has };
  const before = base && followImports(base, places);
  const after = theirs && followImports(theirs, places);
  const known = new Set(before?.followed.map(({ from }) => from));
  const news = after?.followed.filter(({ from }) => !known.has(from)) ?? [];
  tree.follow(layer.manifest.skill, to, news);
  return { base: before?.file ?? null, theirs: after?.file ?? null };
}

// A package that renames and changes one file may carry the base under either name.
function ownRenamedBase(layer: SkillPackage, path: string): TreeFile | null {
  for (const op of layer.manifest.fileOps) {
    if (op.type !== 'delete' && op.to === path) return baseFile(layer, op.from);
  }
  return null;
}

type Composing = {
  readonly tree: ComposedTree;
  readonly merge: typeof mergeFiles;
  /** Layers whose work on a path was taken together with that of an earlier one, by `decidedKey`. */
  readonly decided: Set<string>;
};

/** The work of one layer on a file; null where the file is not there. */
export type LayerChange = {
  readonly skill: string;
  readonly base: TreeFile | null;
  readonly theirs: TreeFile | null;
};

/**
 * Takes the work of several layers on a file as one change, as `git merge` takes a branch, if the first layer
 * disagrees with the present text but all together do not: a later layer already turns the lines into the release's
 * text.
 *
 * @param changes of the layers that change the file, from the first that disagrees on, in canonical order
 * @returns whether it was taken; not where a layer takes back what another did to lines that the release has changed,
 *   since then nothing of the layers would speak for them
 */
export function takeWholeChange(
  { tree, merge, decided }: Composing,
  path: string,
  changes: readonly LayerChange[],
): boolean {
  const [first, ...later] = changes;
  if (first === undefined || later.length === 0) return false;
  const steps = [first.theirs];
  for (const { base, theirs } of later) {
    const merged = merge({ base, ours: steps.at(-1) ?? null, theirs }, { path });
    if (merged.kind !== 'clean') return false;
    steps.push(merged.file);
  }
  const [base, ours] = [first.base, tree.file(path)];
  const onto = (theirs: TreeFile | null) => merge({ base, ours, theirs }, { path });
  const isClean = onto(steps.at(-1) ?? null).kind === 'clean';
  if (!isClean || isTakenBack({ base, ours, steps })) return false;
  for (const [at, { skill }] of changes.entries()) {
    tree.put(path, asFarAsAgreed(onto(steps[at] ?? null), ours), skill);
    decided.add(decidedKey(path, skill));
  }
  return true;
}

/**
 * Returns what a part of the layers makes of the file; where they still disagree, what is there: those lines come with
 * the layer that ends it.
 */
function asFarAsAgreed(merged: FileMerge, ours: TreeFile | null): TreeFile | null {
  if (merged.kind === 'clean') return merged.file;
  if (merged.conflict !== 'content' || ours === null) return ours;
  const lines = merged.hunks.flatMap((hunk) => (hunk.kind === 'resolved' ? hunk.lines : hunk.ours));
  return { ...ours, bytes: Buffer.from(lines.join(''), 'latin1') };
}

type Chain = {
  readonly base: TreeFile | null;
  readonly ours: TreeFile | null;
  /** The file after each of the layers. */
  readonly steps: readonly (TreeFile | null)[];
};

/** Tells whether layers changed lines that are as before after the last of them, and that ours has otherwise. */
function isTakenBack({ base, ours, steps }: Chain): boolean {
  const whole = steps.at(-1) ?? null;
  if (base === null || ours === null || whole === null) return !isSameFile(ours, whole);
  const changed = (file: TreeFile | null) => changedLines(file?.bytes ?? null, base.bytes);
  const [kept, news] = [changed(whole), changed(ours)];
  const touched = steps.flatMap((step) => changed(step));
  return touched.some((range) => !meets(range, kept) && meets(range, news));
}

function meets([from, to]: LineRange, ranges: readonly LineRange[]): boolean {
  return ranges.some(([first, last]) => from <= last && first <= to);
}

/**
 * Returns the changes that a skill and the layers after it make to a path of the release. Empty if an earlier layer
 * also changed the path, or if a change has no base.
 */
export function changesTogether(
  context: MergeContext,
  layer: SkillPackage,
  path: string,
): readonly LostChange[] {
  const { tree, skills, mapped, ownStructured } = context;
  const isUntouched = tree.touches(path).length === 0 && !tree.isConflicted(path);
  if (!isUntouched || structuredKind(path, ownStructured) !== null) return [];
  const changes: LostChange[] = [];
  for (const one of skills.slice(Math.max(0, skills.indexOf(layer)))) {
    for (const named of one.manifest.modifies) {
      if (mapped(named, one) !== path) continue;
      if (one.withoutBase.has(named)) return [];
      const { base, theirs } = changeOf(context, one, named);
      if (base === null || theirs === null) return [];
      changes.push({ skill: one.manifest.skill, base, theirs });
    }
  }
  return changes[0]?.skill === layer.manifest.skill ? changes : [];
}

/**
 * Returns the changes that a layer and those after it make to a path. Empty if one of them moves it, or if its change
 * has no base.
 */
export function changesFrom(
  context: MergeContext,
  layer: SkillPackage,
  path: string,
): readonly LayerChange[] {
  const { layers, mapped, ownStructured } = context;
  if (structuredKind(path, ownStructured) !== null) return [];
  const changes: LayerChange[] = [];
  for (const one of layers.slice(layers.indexOf(layer))) {
    const { skill, adds, modifies, fileOps } = one.manifest;
    const isThere = (named: string) => mapped(named, one) === path;
    for (const op of fileOps) {
      if (op.type !== 'delete') {
        // The release may have made the very move.
        if (isThere(op.from) !== isThere(op.to)) return [];
        continue;
      }
      if (!isThere(op.path)) continue;
      const base = baseFile(one, op.path);
      if (base === null) return [];
      changes.push({ skill, ...followed(context, one, op.path, { base, theirs: null }) });
    }
    for (const named of adds.filter(isThere)) {
      const change = { base: null, theirs: addedFile(one, named) };
      changes.push({ skill, ...followed(context, one, named, change) });
    }
    for (const named of modifies.filter(isThere)) {
      const change = changeOf(context, one, named);
      if (one.withoutBase.has(named) || change.base === null || change.theirs === null) return [];
      changes.push({ skill, ...change });
    }
  }
  return changes[0]?.skill === layer.manifest.skill ? changes : [];
}

/** Changes of a layer to one file that a release contains, though not all that the layer does. */
type ContainedPart = {
  readonly layer: string;
  /** The file's path in the release. */
  readonly path: string;
  /** The changes that the layer makes to the file. */
  readonly changes: number;
  /** The lines of the release's file that are such a change already. */
  readonly lines: readonly LineRange[];
};

type Release = {
  readonly releaseFile: (path: string) => TreeFile | null;
  readonly pathMaps: readonly PathMap[];
  /** The files that it changes: of others it contains nothing new. */
  readonly changed: readonly string[];
};

/** Finds the changes of layers that a release contains, change by change. */
export function findContainedParts(
  layers: readonly SkillPackage[],
  { releaseFile, pathMaps, changed }: Release,
): readonly ContainedPart[] {
  const news = new Set(changed);
  return layers.flatMap((layer) => {
    const { skill, modifies, coreVersion } = layer.manifest;
    return modifies.flatMap((named): readonly ContainedPart[] => {
      const path = mapPath(named, coreVersion, pathMaps);
      const [base, theirs] = [baseFile(layer, named), modifiedFile(layer, named)];
      const ours = news.has(path) ? releaseFile(path) : null;
      if (base === null || ours === null || theirs === null) return [];
      const { changes, contained: lines } = containedChanges({ base, ours, theirs });
      return lines.length === 0 ? [] : [{ layer: skill, path, changes, lines }];
    });
  });
}

/**
 * Returns notes on layers that gave way to the release, because it has their commits and developed them further.
 *
 * @param recorded where an earlier command may have noted it
 */
export function gaveWayNotes(
  resolved: readonly ResolvedConflict[],
  recorded: readonly Resolution[] = [],
): readonly string[] {
  const noted = new Set(recorded.filter(({ origin }) => origin === RELEASE).map(({ key }) => key));
  const places = resolved.flatMap(({ conflict: { path, layers }, decision, keys }) =>
    decision?.origin === RELEASE || keys.some((key) => noted.has(key))
      ? [{ layer: layers[1], path }]
      : [],
  );
  return [...Map.groupBy(places, ({ layer }) => layer)].map(([layer, own]) => {
    const paths = [...new Set(own.map(({ path }) => path))].join(', ');
    return (
      `The release contains the commits of ${layer} and has changed the same lines since: there it is as the release ` +
      `has it, in ${paths}. --keep ${layer} asks about them.`
    );
  });
}

/**
 * Returns notes on layers that are asked about although the release has their commits, because the owner keeps them.
 */
export function keptNotes(
  conflicts: readonly Conflict[],
  kept: readonly string[],
): readonly string[] {
  const asked = new Set(
    conflicts.flatMap(({ layers }) => layers.flatMap((one) => one.split(', '))),
  );
  return kept
    .filter((name) => asked.has(name))
    .map(
      (name) =>
        `The release contains the commits of ${name}, which you keep: you are asked about each line that it has ` +
        'changed since. Without that word the release’s lines stay there, and nothing is asked.',
    );
}

/** Returns notes on the parts of each layer that a release contains. */
export function containedNotes(parts: readonly ContainedPart[]): readonly string[] {
  return [...Map.groupBy(parts, ({ layer }) => layer)].map(([layer, own]) => {
    const files = own.map(({ path, changes, lines }) => {
      const places = lines.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
      const word = places.length === 1 && lines[0]?.[0] === lines[0]?.[1] ? 'line' : 'lines';
      return `${lines.length} of ${changes} in ${path} (${word} ${places.join(', ')} there)`;
    });
    return `The release contains changes of ${layer}, which are taken once: ${files.join('; ')}.`;
  });
}
