import type { Conflict } from '../conflict.ts';
import { mergeFiles } from '../merge/file.ts';
import { structuredKind } from '../structured/kind.ts';
import { mergeStructured } from '../structured/merge.ts';
import { isSameFile, type TreeFile, type Versions } from '../tree.ts';
import type { Composition } from './composition.ts';

/** The name that the owner's side of a conflict goes by. */
export const OWNER = 'your edits';

/** One file of the project that has to become another; null means that nothing is there. */
export type FileChange = {
  readonly path: string;
  readonly before: TreeFile | null;
  readonly after: TreeFile | null;
  /** The path that the content came from, where it moved. */
  readonly movedFrom: string | null;
};

/** What has to happen to the project's files, and what cannot be decided without the owner. */
export type TreePlan = {
  readonly changes: readonly FileChange[];
  readonly conflicts: readonly Conflict[];
};

type Lookup = (path: string) => TreeFile | null;

export type PlanInput = {
  /** What the last command published, the paths it touched, and where it had moved files. */
  readonly old: {
    readonly file: Lookup;
    readonly paths: Iterable<string>;
    readonly renames: ReadonlyMap<string, string>;
  };
  readonly disk: Lookup;
  readonly release: Lookup;
  readonly target: Composition;
};

/**
 * Merges what layers want with what the owner has on disk: `merge3(published, disk, target)` for
 * every path that either composition touches. The owner's edits follow renames in both directions.
 * Pure; the conflicts of the composition are carried along.
 */
export function planTree(input: PlanInput): TreePlan {
  const { old, target } = input;
  const moves = movesBetween(old.renames, target.renames);
  const settled = new Set<string>();
  const drafts: Draft[] = moves.map((move) => moveFile(input, move));
  for (const { from, to } of moves) settled.add(from).add(to);
  const paths = new Set([...old.paths, ...target.files.keys()]);
  for (const path of [...paths].sort()) {
    if (!settled.has(path)) drafts.push(mergePath(input, path));
  }
  return {
    changes: drafts.flatMap((draft) => draft.changes),
    conflicts: [...target.conflicts, ...drafts.flatMap((draft) => draft.conflicts)].filter(
      (conflict, index, all) => all.findIndex(({ path }) => path === conflict.path) === index,
    ),
  };
}

type Move = { readonly from: string; readonly to: string };
type Draft = TreePlan;

const NOTHING: Draft = { changes: [], conflicts: [] };

function movesBetween(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly Move[] {
  const origins = new Set([...before.keys(), ...after.keys()]);
  const moves = new Map<string, Move>();
  for (const origin of origins) {
    const from = before.get(origin) ?? origin;
    const to = after.get(origin) ?? origin;
    if (from !== to) moves.set(from, { from, to });
  }
  return [...moves.values()];
}

function mergePath(input: PlanInput, path: string): Draft {
  const versions = {
    base: input.old.file(path),
    ours: input.disk(path),
    theirs: wanted(input, path),
  };
  return settle(input, path, versions, (after) => changeOf(path, versions.ours, after, null));
}

function moveFile(input: PlanInput, { from, to }: Move): Draft {
  const versions = {
    base: input.old.file(from),
    ours: input.disk(from),
    theirs: wanted(input, to),
  };
  const there = input.disk(to);
  const isForeign = there !== null && !isSameFile(there, input.old.file(to));
  if (isForeign && !isSameFile(there, versions.theirs)) {
    const sides = { base: null, ours: there, theirs: versions.theirs };
    return {
      changes: [],
      conflicts: [
        {
          path: to,
          kind: 'add-add',
          layers: [OWNER, authorOf(input, to)],
          reason: `${from} moves to ${to}, where you have another file.`,
          hunks: [],
          sides,
          values: null,
        },
      ],
    };
  }
  return settle(input, to, versions, (after) => [
    ...changeOf(from, versions.ours, wanted(input, from), null),
    ...changeOf(to, there, after, from),
  ]);
}

function settle(
  input: PlanInput,
  path: string,
  versions: Versions<TreeFile | null>,
  accept: (after: TreeFile | null) => readonly FileChange[],
): Draft {
  const names: [string, string] = [OWNER, authorOf(input, path)];
  if (input.target.conflicts.some((conflict) => conflict.path.split('#')[0] === path))
    return NOTHING;
  if (structuredKind(path) !== null) {
    const outcome = mergeByKey(path, versions, names);
    return outcome.conflicts.length > 0
      ? { changes: [], conflicts: outcome.conflicts }
      : { changes: accept(outcome.file), conflicts: [] };
  }
  const outcome = mergeFiles(versions);
  if (outcome.kind === 'clean') return { changes: accept(outcome.file), conflicts: [] };
  return {
    changes: [],
    conflicts: [
      {
        path,
        kind: outcome.conflict,
        layers: names,
        reason: reasonOf(outcome.conflict, versions, names[1]),
        hunks: outcome.hunks,
        sides: versions,
        values: null,
      },
    ],
  };
}

function mergeByKey(
  path: string,
  versions: Versions<TreeFile | null>,
  layers: [string, string],
): { readonly file: TreeFile | null; readonly conflicts: readonly Conflict[] } {
  const { base, ours, theirs } = versions;
  if (isSameFile(base, theirs) || isSameFile(ours, theirs)) return { file: ours, conflicts: [] };
  if (isSameFile(base, ours)) return { file: theirs, conflicts: [] };
  const { bytes, conflicts } = mergeStructured({
    path,
    versions: {
      base: base?.bytes ?? null,
      ours: ours?.bytes ?? null,
      theirs: theirs?.bytes ?? null,
    },
    layers,
  });
  const isExecutable = (ours ?? theirs)?.isExecutable ?? false;
  return { file: bytes === null ? null : { bytes, isExecutable }, conflicts };
}

function wanted(input: PlanInput, path: string): TreeFile | null {
  const composed = input.target.files.get(path);
  return composed ? composed.file : input.release(path);
}

function authorOf(input: PlanInput, path: string): string {
  return input.target.files.get(path)?.layers.at(-1) ?? 'core';
}

function changeOf(
  path: string,
  before: TreeFile | null,
  after: TreeFile | null,
  movedFrom: string | null,
): readonly FileChange[] {
  return isSameFile(before, after) ? [] : [{ path, before, after, movedFrom }];
}

function reasonOf(
  kind: Conflict['kind'],
  { ours, theirs }: Versions<TreeFile | null>,
  author: string,
): string {
  if (kind === 'binary') return `You and ${author} both changed this binary file.`;
  if (kind === 'add-add') return `${author} brings this file, and you have another one there.`;
  if (kind === 'modify-delete') {
    if (theirs === null) return 'This would delete the file, but you have changed it.';
    return ours === null
      ? `${author} changes this file, but you have deleted it.`
      : `You and ${author} disagree on this file.`;
  }
  return `You and ${author} changed the same lines.`;
}
