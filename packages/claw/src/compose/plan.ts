import { type Hunk, isSameFile, mergeFiles, type TreeFile, type Versions } from '@patchclaw/merge';
import { type Conflict, conflictFile, OWNER } from '../conflict.ts';
import { structuredKind } from '../structured/structured-kind.ts';
import { answeredFile } from './answer.ts';
import { authorOf } from './blame/attribution.ts';
import type { Composition } from './composition.ts';
import { conflictHunks, faultTogether } from './conflict-hunks.ts';
import { mergeByKey } from './files/structured-file.ts';
import {
  type KnownAnswers,
  NO_ANSWERS,
  type ResolvedConflict,
  resolveConflict,
} from './resolve-conflict.ts';

/** One file of the project that has to change; null means that there is no file. */
export type FileChange = {
  readonly path: string;
  readonly before: TreeFile | null;
  readonly after: TreeFile | null;
  /** The path that the content came from, where it moved. */
  readonly movedFrom: string | null;
};

/** Changes of the project's files, and conflicts that only the owner can decide. */
export type TreePlan = {
  readonly changes: readonly FileChange[];
  readonly conflicts: readonly Conflict[];
  /** Disagreements with the owner's edits that decisions resolved. */
  readonly resolvedConflicts: readonly ResolvedConflict[];
};

type Lookup = (path: string) => TreeFile | null;

export type PlanInput = {
  /** The result of the last command: files as published, paths it touched, moves it made. */
  readonly old: {
    readonly file: Lookup;
    readonly paths: Iterable<string>;
    readonly renames: ReadonlyMap<string, string>;
  };
  readonly disk: Lookup;
  readonly release: Lookup;
  readonly target: Composition;
  /** Moves that the release itself made since the installed one; none by default. */
  readonly coreMoves?: ReadonlyMap<string, string>;
  /** The core's name as the other side of the owner's edits; `core` by default. */
  readonly coreName?: string;
  /** Decisions on disagreements with the owner's edits. */
  readonly answers?: KnownAnswers;
};

/**
 * Merges the wanted composition with the owner's files on disk: `merge3(published, disk, target)` for every path that
 * either composition touches. The owner's edits follow renames in both directions. Pure; the conflicts of the
 * composition are passed on.
 */
export function planTree(input: PlanInput): TreePlan {
  const { old, target } = input;
  const moves = movesBetween(old.renames, target.renames, input.coreMoves ?? new Map());
  const handled = new Set<string>();
  for (const { from, to } of moves) handled.add(from).add(to);
  const arriving = new Set(moves.map(({ to }) => to));
  const parts: TreePlan[] = [...arriving].map((to) => moveTo(input, to, moves));
  const paths = new Set([...old.paths, ...target.files.keys()]);
  for (const path of [...paths].sort()) {
    if (!handled.has(path)) parts.push(mergePath(input, path));
  }
  return {
    changes: parts.flatMap((part) => part.changes),
    conflicts: [...target.conflicts, ...parts.flatMap((part) => part.conflicts)],
    resolvedConflicts: parts.flatMap((part) => part.resolvedConflicts),
  };
}

type Move = { readonly from: string; readonly to: string };

const NOTHING: TreePlan = { changes: [], conflicts: [], resolvedConflicts: [] };

function movesBetween(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  core: ReadonlyMap<string, string>,
): readonly Move[] {
  // The layers of the new tree name files as the new core does, those of the old tree as the old one.
  const oldNames = new Map([...core].map(([old, now]) => [now, old]));
  const origins = new Set([
    ...before.keys(),
    ...core.keys(),
    ...[...after.keys()].map((path) => oldNames.get(path) ?? path),
  ]);
  const moves = new Map<string, Move>();
  for (const origin of origins) {
    const renamed = core.get(origin) ?? origin;
    const from = before.get(origin) ?? origin;
    const to = after.get(renamed) ?? renamed;
    if (from !== to) moves.set(from, { from, to });
  }
  return [...moves.values()];
}

function mergePath(input: PlanInput, path: string): TreePlan {
  const versions = {
    base: input.old.file(path),
    ours: input.disk(path),
    theirs: wanted(input, path),
  };
  return resolve(input, path, versions, (after) => changeOf(path, versions.ours, after, null));
}

/**
 * Plans a path that files move to. Files may change places in one plan, and two may become one: the text at
 * each old path is merged into the wanted text of the new path.
 */
function moveTo(input: PlanInput, to: string, moves: readonly Move[]): TreePlan {
  const isLeaving = moves.some(({ from }) => from === to);
  const came = moves.filter((move) => move.to === to).map(({ from }) => from);
  const there = input.disk(to);
  const known = input.old.file(to);
  const isForeign = !isLeaving && known === null && there !== null;
  const [only] = came;
  if (isForeign && only !== undefined && came.length === 1 && isGone(input, only)) {
    return followMove(input, { from: only, to });
  }
  const resolvedConflicts: ResolvedConflict[] = [];
  let after = wanted(input, to);
  for (const from of isLeaving || known === null ? came : [to, ...came]) {
    const versions = { base: input.old.file(from), ours: input.disk(from), theirs: after };
    const part = resolve(input, to, versions, (merged) => [asChange(to, there, merged)]);
    const [merged] = part.changes;
    // Open, or part of a conflict of the composition: then nothing of the move is planned.
    if (merged === undefined) return part;
    after = merged.after;
    resolvedConflicts.push(...part.resolvedConflicts);
  }
  const isTaken = [wanted(input, to), after].every((file) => !isSameFile(there, file));
  if (isForeign && isTaken) {
    const occupied = resolveOccupied(input, to, { came, arriving: after });
    resolvedConflicts.push(...occupied.resolvedConflicts);
    if (occupied.conflict !== null) {
      return { changes: [], conflicts: [occupied.conflict], resolvedConflicts };
    }
    after = occupied.file;
  }
  const changes = [...leave(input, came, moves), ...changeOf(to, there, after, came[0] ?? null)];
  return { changes, conflicts: [], resolvedConflicts };
}

/** Plans the paths that files moved away from, if no other file moves there. */
function leave(
  input: PlanInput,
  came: readonly string[],
  moves: readonly Move[],
): readonly FileChange[] {
  const left = came.filter((from) => !moves.some((move) => move.to === from));
  return left.flatMap((from) => changeOf(from, input.disk(from), wanted(input, from), null));
}

/** Tells whether the owner deleted a published file. */
function isGone(input: PlanInput, path: string): boolean {
  return input.old.file(path) !== null && input.disk(path) === null;
}

/** Plans a move that the owner made by hand: the file at the new path is their version of the old one. */
function followMove(input: PlanInput, { from, to }: Move): TreePlan {
  const there = input.disk(to);
  const versions = { base: input.old.file(from), ours: there, theirs: wanted(input, to) };
  const part = resolve(input, to, versions, (after) => changeOf(to, there, after, null));
  const back = changeOf(from, null, wanted(input, from), null);
  return part.conflicts.length > 0 ? part : { ...part, changes: [...part.changes, ...back] };
}

type Occupied = {
  readonly file: TreeFile | null;
  readonly conflict: Conflict | null;
  readonly resolvedConflicts: readonly ResolvedConflict[];
};

/**
 * Resolves a move to a path where the owner has another file. The arriving file holds their edits of the
 * moved one.
 */
function resolveOccupied(
  input: PlanInput,
  to: string,
  { came, arriving }: { readonly came: readonly string[]; readonly arriving: TreeFile | null },
): Occupied {
  const sides = { base: null, ours: input.disk(to), theirs: arriving };
  const layers = [OWNER, otherParty(input, to, [])] as const;
  const reason = `${came.join(', ')} moves to ${to}, where you have another file.`;
  const kind = 'add-add' as const;
  const conflict = { path: to, kind, layers, reason, hunks: [], sides, values: null };
  const answered = resolveConflict(conflict, input.answers ?? NO_ANSWERS);
  if (answered.kind === 'open')
    return { file: null, conflict: answered.conflict, resolvedConflicts: [] };
  const { resolved } = answered;
  const file = answeredFile(conflict, resolved.answer);
  return { file, conflict: null, resolvedConflicts: [resolved] };
}

function resolve(
  input: PlanInput,
  path: string,
  versions: Versions<TreeFile | null>,
  accept: (after: TreeFile | null) => readonly FileChange[],
): TreePlan {
  if (input.target.conflicts.some((conflict) => conflictFile(conflict) === path)) return NOTHING;
  const resolvedConflicts: ResolvedConflict[] = [];
  const ask = (conflict: Conflict) => {
    const answered = resolveConflict(conflict, input.answers ?? NO_ANSWERS);
    if (answered.kind === 'resolved') resolvedConflicts.push(answered.resolved);
    return answered;
  };
  const kind = structuredKind(path, input.target.ownStructured);
  if (kind !== null) {
    const outcome = mergeByKey({ path, kind }, versions, [OWNER, otherParty(input, path, [])], ask);
    return outcome.conflicts.length > 0
      ? { ...NOTHING, conflicts: outcome.conflicts }
      : { changes: accept(outcome.file), conflicts: [], resolvedConflicts };
  }
  const outcome = mergeFiles(versions, { path });
  if (outcome.kind === 'clean') return { ...NOTHING, changes: accept(outcome.file) };
  const author = otherParty(input, path, outcome.hunks);
  const conflict = {
    path,
    kind: outcome.conflict,
    layers: [OWNER, author] as const,
    reason: reasonOf(path, { kind: outcome.conflict, versions, author }),
    hunks: conflictHunks(outcome, versions),
    sides: versions,
    values: null,
  };
  const answered = ask(conflict);
  if (answered.kind === 'open') return { ...NOTHING, conflicts: [answered.conflict] };
  const after = answeredFile(conflict, answered.resolved.answer);
  return { changes: accept(after), conflicts: [], resolvedConflicts };
}

function wanted(input: PlanInput, path: string): TreeFile | null {
  const composed = input.target.files.get(path);
  return composed ? composed.file : input.release(path);
}

/**
 * Returns the layer on the other side: the author of the lines, else the last layer that touched the path.
 */
function otherParty(input: PlanInput, path: string, hunks: readonly Hunk[]): string {
  const author = authorOf(input.target.files.get(path)?.touches ?? [], hunks, 'theirs');
  return author === 'core' ? (input.coreName ?? author) : author;
}

function changeOf(
  path: string,
  before: TreeFile | null,
  after: TreeFile | null,
  movedFrom: string | null,
): readonly FileChange[] {
  return isSameFile(before, after) ? [] : [{ path, before, after, movedFrom }];
}

function asChange(path: string, before: TreeFile | null, after: TreeFile | null): FileChange {
  return { path, before, after, movedFrom: null };
}

type Disputed = {
  readonly kind: Conflict['kind'];
  readonly versions: Versions<TreeFile | null>;
  readonly author: string;
};

function reasonOf(path: string, { kind, versions, author }: Disputed): string {
  const { ours, theirs } = versions;
  if (kind === 'binary') return `You and ${author} both changed this binary file.`;
  if (kind === 'add-add') return `${author} brings this file, and you have another one there.`;
  if (kind === 'modify-delete') {
    if (theirs === null) return 'This would delete the file, but you have changed it.';
    return ours === null
      ? `${author} changes this file, but you have deleted it.`
      : `You and ${author} disagree on this file.`;
  }
  const together = faultTogether(path, versions);
  return together === null
    ? `You and ${author} changed the same lines.`
    : `You and ${author} changed different lines, but with both the file ${together}.`;
}
