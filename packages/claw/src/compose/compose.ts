import { isSameFile, mergeFiles, type TreeFile } from '@patchclaw/merge';
import type { Conflict } from '../conflict.ts';
import { readOwnStructured } from '../installed/config.ts';
import { hasMoves, mapPath, type PathMap } from '../package/manifest/path-map.ts';
import type { SkillPackage } from '../package/package.ts';
import { composeStructured } from '../structured/declared-file.ts';
import {
  type OwnStructured,
  type StructuredKind,
  structuredKind,
  structuredPaths,
} from '../structured/structured-kind.ts';
import { ComposedTree, type Composition } from './composition.ts';
import { Renames } from './files/renames.ts';
import { mergeLayer } from './layer.ts';
import type { MergeContext } from './merge-context.ts';
import { type KnownAnswers, NO_ANSWERS, resolveConflict } from './resolve-conflict.ts';

export type ComposeInput = {
  /** The release's file at a path, or null. */
  readonly release: (path: string) => TreeFile | null;
  /** In canonical order. */
  readonly layers: readonly SkillPackage[];
  /** Recorded resolutions and decisions; none by default. */
  readonly answers?: KnownAnswers;
  /** Moves of core files by releases, in the order of their versions; none by default. */
  readonly pathMaps?: readonly PathMap[];
  /**
   * True if a layer that gives way (`answers.released`) does so in all of a file that the release has otherwise than the
   * layer found it, and not only where they disagree; no by default.
   */
  readonly yieldsFiles?: boolean;
  /** True if layers that disagree in one file, far from each other, are asked about at once; no by default. */
  readonly isJoint?: boolean;
  /** Merges two files of the layers, or knows what that gives. */
  readonly merge?: typeof mergeFiles;
};

/**
 * Returns the release with each layer merged on in order; recorded resolutions resolve what a merge leaves
 * open. A pure function of file contents: no clock, no disk, no network. Disagreement is a conflict in the
 * result, never an exception.
 *
 * Structured files are recomputed from the declarations of all skills; then come the customisations,
 * which carry such files and are merged by key.
 */
export function compose(input: ComposeInput): Composition {
  const { release, layers, answers = NO_ANSWERS, pathMaps = [], merge = mergeFiles } = input;
  const { isJoint = false, yieldsFiles = false } = input;
  const { released: _, ...byOwner } = answers;
  const ownStructured = readOwnStructured(release);
  const tree = new ComposedTree(release);
  const renames = new Renames();
  const skills = layers.filter(({ kind }) => kind === 'skill');
  const context: MergeContext = {
    tree,
    renames,
    mapped: (path, layer) => mapPath(path, layer.manifest.coreVersion, pathMaps),
    isMapped: (layer) => hasMoves(layer.manifest.coreVersion, pathMaps),
    resolve: (conflict: Conflict) => resolveConflict(conflict, answers),
    resolveMove: (conflict: Conflict) => resolveConflict(conflict, byOwner),
    isReleasedMove: (from, to) =>
      release(from) === null &&
      release(to) !== null &&
      tree.touches(from).every(({ layer }) => answers.released?.has(layer)),
    merge,
    isJoint,
    yields: (skill, path, base) =>
      yieldsFiles && answers.released?.has(skill) === true && !isSameFile(release(path), base),
    ownStructured,
    skills,
    layers,
    decided: new Set(),
  };
  for (const layer of skills) mergeLayer(context, layer);
  const structured = composeDeclarations(context, release, skills);
  for (const layer of layers) if (layer.kind === 'customisation') mergeLayer(context, layer);
  return { ...tree.result(), renames: renames.all(), structured, ownStructured };
}

/**
 * Recomputes every structured file that a skill declares something for.
 *
 * @returns resolved ranges, ports and settings, by file
 */
function composeDeclarations(
  context: MergeContext,
  release: (path: string) => TreeFile | null,
  skills: readonly SkillPackage[],
): Composition['structured'] {
  const outcomes: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const { path, kind } of structuredTargets(release, context.ownStructured)) {
    const concerned = skills.filter((layer) => declares(layer, kind));
    if (concerned.length === 0) continue;
    outcomes[path] = composeFile(context, { path, kind, file: release(path) }, concerned);
  }
  return outcomes;
}

function composeFile(
  { tree, resolve }: MergeContext,
  { path, kind, file }: Target & { readonly file: TreeFile | null },
  skills: readonly SkillPackage[],
): Readonly<Record<string, unknown>> {
  const composed = composeStructured({
    path,
    kind,
    release: file?.bytes ?? null,
    declarations: skills.map(({ manifest }) => ({
      layer: manifest.skill,
      structured: manifest.structured,
    })),
    decide: (conflict) => {
      const outcome = resolve(conflict);
      if (outcome.kind === 'open' || outcome.resolved.answer.kind !== 'value') return null;
      tree.addResolved(outcome.resolved);
      return { value: outcome.resolved.answer.value };
    },
  });
  for (const conflict of composed.conflicts) tree.conflict(conflict);
  if (composed.bytes !== null) {
    const made = { bytes: composed.bytes, isExecutable: file?.isExecutable ?? false };
    for (const { manifest } of skills) tree.put(path, made, manifest.skill);
  }
  return composed.outcome;
}

type Target = { readonly path: string; readonly kind: StructuredKind };

/**
 * Returns the structured files to compose. Of the four names of a compose file, the release's one counts,
 * else the first.
 */
function structuredTargets(
  release: (path: string) => TreeFile | null,
  own: OwnStructured,
): readonly Target[] {
  const all = structuredPaths(own).flatMap((path): readonly Target[] => {
    const kind = structuredKind(path, own);
    return kind === null ? [] : [{ path, kind }];
  });
  const composeFiles = all.filter(({ kind }) => kind === 'compose');
  const present = composeFiles.find(({ path }) => release(path) !== null) ?? composeFiles[0];
  return all.filter((target) => target.kind !== 'compose' || target === present);
}

function declares({ manifest }: SkillPackage, kind: StructuredKind): boolean {
  const { npmDependencies, envAdditions, composeServices, container } = manifest.structured;
  switch (kind) {
    case 'npm':
      return Object.keys(npmDependencies).length > 0;
    case 'env':
      return envAdditions.length > 0;
    case 'compose':
      return Object.keys(composeServices).length > 0;
    case 'container':
      return container.aptPackages.length > 0 || Object.keys(container.npmDependencies).length > 0;
    default:
      return false;
  }
}
