import { isSameFile, mergeFiles, type TreeFile, type Versions } from '@patchclaw/merge';
import { answeredFile } from '../compose/answer.ts';
import { conflictHunks } from '../compose/conflict-hunks.ts';
import { mergeByKey } from '../compose/files/structured-file.ts';
import {
  type Decision,
  type ResolvedConflict,
  resolveConflict,
} from '../compose/resolve-conflict.ts';
import { type Conflict, OWNER } from '../conflict.ts';
import { resultOf, type VerbResult } from '../contract/result.ts';
import { type Digest, digestBytes, digestFile } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { readOwnStructured } from '../installed/config.ts';
import { readTreeFile } from '../installed/disk.ts';
import { readState, stateDigest } from '../installed/state-file.ts';
import type { EngineContext, PlanningContext } from '../operation/context.ts';
import { reinstall } from '../operation/npm/npm.ts';
import { refuseOtherPlan } from '../operation/plan-digest.ts';
import { findOccupiedPlaces } from '../operation/planned-tree/planned-tree.ts';
import { refuseSpoiledDecisions } from '../operation/planned-tree/spoiled-files.ts';
import { stepOf } from '../operation/state-steps.ts';
import {
  clearPending,
  operationPending,
  readPending,
  replacedNotes,
  tidyUp,
} from '../pending/pending.ts';
import { hasDecisions, withDecided, writePending } from '../pending/waiting.ts';
import { type StructuredKind, structuredKind } from '../structured/structured-kind.ts';
import { commitSteps } from '../transaction/commit.ts';
import type { Step } from '../transaction/journal.ts';
import {
  dropTransaction,
  hasForeignRecords,
  listTransactions,
  readTransaction,
  type Transaction,
} from '../transaction/records.ts';
import { patchesOf } from './diff.ts';

/**
 * Takes back the last transaction: `merge3(what it wrote, disk, what was there before)` for every path, so later
 * edits of the owner stay. Packages and state go back with it.
 *
 * @throws ClawError NOTHING_TO_UNDO; STATE_CHANGED when `state.yaml` is not what it left;
 *   RESOLUTION_INVALID for a decision that spoils its file
 */
export async function undo(context: PlanningContext): Promise<VerbResult<'undo'>> {
  const { root, decisions = [] } = context;
  const { transaction, files, resolvedConflicts, report } = draftUndo(context);
  const { plan } = report.data;
  if (report.conflicts.length > 0) {
    const { cwd, allow } = context;
    const operation = { verb: 'undo', arguments: [], options: {}, cwd, allow, decisions };
    const waiting = withDecided(report.conflicts, resolvedConflicts);
    refuseOverDecisions(root);
    const warnings = replacedNotes(root, operation);
    writePending(root, { ...operation, state: stateDigest(root) }, waiting);
    return resultOf('undo', 'blocked', { ...report, warnings });
  }
  refuseOtherPlan(context, plan);
  if (context.isTrial === true) {
    return resultOf('undo', 'done', { ...report, data: { ...report.data, isTrial: true } });
  }
  const swaps = await undoSwaps(context, transaction, files);
  try {
    const steps = [
      ...files.map(({ path, before, after }) => stepOf(path, before, after)),
      ...swaps.steps,
    ];
    const { id, isEnded } = commitSteps(
      root,
      {
        verb: 'undo',
        summary: `undo ${transaction.summary}`,
        steps,
        stateBefore: transaction.stateAfter,
        stateAfter: transaction.stateBefore,
      },
      { now: context.now },
    );
    // First the older one: a kill in between leaves an undo that can itself be undone.
    if (isEnded) tidyUp(() => dropTransaction(root, transaction.id));
    if (isEnded) tidyUp(() => dropTransaction(root, id));
    const notes = hasDecisions(root) ? [] : replacedNotes(root, { verb: 'undo', arguments: [] });
    tidyUp(() => clearUndone(root));
    return resultOf('undo', 'done', { ...report, warnings: [...swaps.warnings, ...notes] });
  } finally {
    tidyUp(swaps.remove);
  }
}

/** Returns what an undo would do, as `plan` reports it. Changes nothing. */
export function planUndo(context: PlanningContext, withPatches: boolean): VerbResult<'plan'> {
  const { files, report } = draftUndo(context);
  const outcome = report.conflicts.length > 0 ? 'blocked' : 'done';
  const shown = files.filter(isShown).map((file) => ({ ...file, movedFrom: null }));
  const patches = withPatches ? { patches: patchesOf(shown) } : {};
  return resultOf('plan', outcome, {
    ...report,
    data: { verb: 'undo', ...report.data, ...patches },
  });
}

function draftUndo({ root, decisions = [] }: PlanningContext) {
  // One that cannot be read is said so, instead of being another branch's.
  readState(root);
  const transaction = lastTransaction(root);
  const drafts = undoFiles(root, transaction, decisions);
  const files = drafts.flatMap((draft) => draft.changes);
  const conflicts = [
    ...drafts.flatMap((draft) => draft.conflicts),
    ...findOccupiedPlaces(root, files),
  ];
  const changes = files.filter(isShown).map(({ path, before, after }) => {
    const kind = before === null ? 'add' : after === null ? 'delete' : 'modify';
    return { path, kind, cause: `undo ${transaction.summary}` } as const;
  });
  const data = { undone: transaction.summary, plan: undoDigest(files) };
  const resolvedConflicts = drafts.flatMap((draft) => draft.resolvedConflicts);
  refuseSpoiledDecisions(resolvedConflicts);
  return { transaction, files, resolvedConflicts, report: { changes, conflicts, data } };
}

/** The engine's own records are no files of the owner's. */
function isShown({ path }: Undone): boolean {
  return !path.startsWith('.claw/');
}

/** Computes the identity of an undo's outcome, as `planDigest` does for the other verbs. */
function undoDigest(files: readonly Undone[]): Digest {
  const lines = files.map(({ path, after }) => `${path} ${after ? digestFile(after) : 'gone'}`);
  return digestBytes(JSON.stringify(['undo', lines.sort()]));
}

/**
 * Forgets a waiting undo, and a waiting operation without decisions. Decisions of another operation stay,
 * although it was planned on another state.
 */
function clearUndone(root: string): void {
  if (readPending(root)?.verb === 'undo' || !hasDecisions(root)) clearPending(root);
}

/** An undo with conflicts would take the place of what waits, and with it the decisions made there. */
function refuseOverDecisions(root: string): void {
  const pending = readPending(root);
  if (pending === null || pending.verb === 'undo' || !hasDecisions(root)) return;
  throw operationPending(pending);
}

function lastTransaction(root: string): Transaction {
  const [last] = listTransactions(root);
  if (!last && hasForeignRecords(root)) {
    throw new ClawError(
      'NOTHING_TO_UNDO',
      'The commands that are kept here were recorded by an older claw, in another folder or by another user, ' +
        'so undo does not follow them. If they are your own, run `claw recover --adopt`, then `claw undo`.',
    );
  }
  if (!last) throw new ClawError('NOTHING_TO_UNDO', 'There is nothing to undo.');
  if (last.stateAfter !== stateDigest(root)) {
    throw new ClawError(
      'STATE_CHANGED',
      `.claw/state.yaml is not what "${last.summary}" left, so undoing it here could undo other work. ` +
        'Switch back to the branch that it ran on.',
      { path: '.claw/state.yaml' },
    );
  }
  return readTransaction(root, last.id);
}

type Undone = { path: string; before: TreeFile | null; after: TreeFile | null };
type Draft = {
  readonly changes: readonly Undone[];
  readonly conflicts: readonly Conflict[];
  readonly resolvedConflicts: readonly ResolvedConflict[];
};

function undoFiles(
  root: string,
  { files, moves }: Transaction,
  decisions: readonly Decision[],
): readonly Draft[] {
  const records = new Map(files.map((file) => [file.path, file]));
  const pairs = [...moves].flatMap(([to, from]) => {
    const [there, here] = [records.get(to), records.get(from)];
    return there && here ? [{ there, here }] : [];
  });
  const isLeaving = (path: string) => pairs.some(({ there }) => there.path === path);
  const isOccupied = ({ here: { path, after } }: MovedRecord) =>
    !isLeaving(path) && !isSameFile(readTreeFile(root, path), after);
  // Where another file blocks one of the moves, all are undone path by path, which reports the reason.
  const moved = pairs.some(isOccupied) ? [] : pairs;
  const drafts = moved.map((pair) => undoMove(root, pair, moved, decisions));
  for (const { there, here } of moved) {
    records.delete(there.path);
    records.delete(here.path);
  }
  return [...drafts, ...[...records.values()].map((file) => undoFile(root, file, decisions))];
}

type FileRecord = Transaction['files'][number];
/** A file at the place that it was moved to, and at the one that it came from. */
type MovedRecord = { readonly there: FileRecord; readonly here: FileRecord };

/** Moves a file back with the changes made since, also where two files have swapped paths. */
function undoMove(
  root: string,
  { there, here }: MovedRecord,
  moved: readonly MovedRecord[],
  decisions: readonly Decision[],
): Draft {
  const disk = readTreeFile(root, there.path);
  const versions = { base: there.after, ours: disk, theirs: here.before };
  const { file, conflicts, resolvedConflicts } = merge(
    fileAt(root, here.path),
    versions,
    decisions,
  );
  if (conflicts.length > 0) return { changes: [], conflicts, resolvedConflicts };
  const back = { path: here.path, before: readTreeFile(root, here.path), after: file };
  const left = { path: there.path, before: disk, after: there.before };
  const isTaken = moved.some((other) => other.here.path === there.path);
  const changes = [back, ...(isTaken ? [] : [left])];
  return {
    changes: changes.filter(({ before, after }) => !isSameFile(before, after)),
    conflicts,
    resolvedConflicts,
  };
}

function undoFile(
  root: string,
  file: Transaction['files'][number],
  decisions: readonly Decision[],
): Draft {
  const { path } = file;
  const disk = readTreeFile(root, path);
  const versions = { base: file.after, ours: disk, theirs: file.before };
  const merged = path.startsWith('.claw/')
    ? restored(path, versions)
    : merge(fileAt(root, path), versions, decisions);
  const { conflicts, resolvedConflicts } = merged;
  const isSame = conflicts.length > 0 || isSameFile(disk, merged.file);
  const changes = isSame ? [] : [{ path, before: disk, after: merged.file }];
  return { changes, conflicts, resolvedConflicts };
}

type MergeOutcome = {
  readonly file: TreeFile | null;
  readonly conflicts: readonly Conflict[];
  readonly resolvedConflicts: readonly ResolvedConflict[];
};

const CLEAN = { conflicts: [], resolvedConflicts: [] };

/** Restores one of the engine's own files, which must be unchanged. */
function restored(path: string, { base, ours, theirs }: Versions<TreeFile | null>): MergeOutcome {
  if (isSameFile(base, ours)) return { file: theirs, ...CLEAN };
  throw new ClawError(
    'DIGEST_MISMATCH',
    `${path} was changed since. Restore .claw/ from git, then undo.`,
    { path },
  );
}

/** Returns a path with its kind, by the configuration on disk: the tree that is taken back. */
function fileAt(root: string, path: string): StructuredPath {
  return {
    path,
    kind: structuredKind(
      path,
      readOwnStructured((one) => readTreeFile(root, one)),
    ),
  };
}

type StructuredPath = { readonly path: string; readonly kind: StructuredKind | null };

function merge(
  { path, kind }: StructuredPath,
  versions: Versions<TreeFile | null>,
  decisions: readonly Decision[],
): MergeOutcome {
  const { base, ours, theirs } = versions;
  if (isSameFile(base, ours)) return { file: theirs, ...CLEAN };
  const layers: [string, string] = [OWNER, 'undo'];
  if (kind === 'lock') return { file: ours, ...CLEAN };
  const resolvedConflicts: ResolvedConflict[] = [];
  const ask = (conflict: Conflict) => {
    const answered = resolveConflict(conflict, { decisions, resolutions: [] });
    if (answered.kind === 'resolved') resolvedConflicts.push(answered.resolved);
    return answered;
  };
  if (kind !== null) {
    return { ...mergeByKey({ path, kind }, versions, layers, ask), resolvedConflicts };
  }
  const outcome = mergeFiles(versions, { path });
  if (outcome.kind === 'clean') return { file: outcome.file, ...CLEAN };
  const reason = reasonOf(outcome.conflict, versions);
  const conflict = {
    path,
    kind: outcome.conflict,
    layers,
    reason,
    hunks: conflictHunks(outcome, versions),
    sides: versions,
    values: null,
  };
  const answered = ask(conflict);
  if (answered.kind === 'open') return { ...CLEAN, file: ours, conflicts: [answered.conflict] };
  const { decision, answer } = answered.resolved;
  const file = answeredFile(conflict, answer);
  const amended = file && decision?.amended ? { ...file, bytes: decision.amended } : file;
  return { file: amended, conflicts: [], resolvedConflicts };
}

/** Explains in a sentence why one file cannot be undone. */
function reasonOf(kind: Conflict['kind'], { ours, theirs }: Versions<TreeFile | null>): string {
  if (kind === 'binary') return 'You have changed this binary file since.';
  if (kind === 'add-add')
    return 'The undo would bring this file back, but you have another one there.';
  if (kind !== 'modify-delete') return 'You have changed the same lines since.';
  if (theirs === null) return 'The undo would delete this file, but you have changed it since.';
  return ours === null
    ? 'The undo would bring this file back, but you have deleted it since.'
    : 'The undo and you disagree on whether this file is there.';
}

type UndoneSwaps = {
  readonly steps: readonly Step[];
  readonly remove: () => void;
  readonly warnings: readonly string[];
};

async function undoSwaps(
  context: EngineContext,
  transaction: Transaction,
  files: readonly { path: string; after: TreeFile | null }[],
): Promise<UndoneSwaps> {
  const steps: Step[] = [];
  const warnings: string[] = [];
  let remove = () => {};
  for (const { path, hadFolder, kept } of transaction.swaps) {
    const isOwners =
      path === 'node_modules' && !isPackageAsBefore(context.root, transaction, files);
    if (hadFolder && kept === null && path !== 'node_modules') continue; // The present one serves.
    if (isOwners || (hadFolder && kept === null)) {
      if (context.skipsInstall === true) {
        warnings.push(
          'npm is passed over (--no-install): `npm install` brings node_modules up to date.',
        );
        continue;
      }
      const installed = await reinstall(context, files);
      steps.push(...installed.steps);
      remove = installed.remove;
    } else {
      steps.push({ kind: 'swap', path, prepared: hadFolder ? kept : null });
    }
  }
  return { steps, remove, warnings };
}

/** Tells whether undoing leads back to the very package.json that the kept node_modules was made for. */
function isPackageAsBefore(
  root: string,
  transaction: Transaction,
  files: readonly { path: string; after: TreeFile | null }[],
): boolean {
  const record = transaction.files.find(({ path }) => path === 'package.json');
  if (!record) return true;
  const change = files.find(({ path }) => path === 'package.json');
  return isSameFile(change ? change.after : readTreeFile(root, 'package.json'), record.before);
}
