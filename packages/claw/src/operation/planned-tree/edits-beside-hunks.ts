import { isSameFile, mergeFiles, type TreeFile, type Versions } from '@patchclaw/merge';
import { answeredFile } from '../../compose/answer.ts';
import type { FileChange } from '../../compose/plan.ts';
import {
  type KnownAnswers,
  type ResolvedConflict,
  resolveConflict,
} from '../../compose/resolve-conflict.ts';
import { type Conflict, OWNER } from '../../conflict.ts';

type Amended = {
  readonly changes: readonly FileChange[];
  readonly conflicts: readonly Conflict[];
  readonly resolvedConflicts: readonly ResolvedConflict[];
};

/**
 * Turns the owner's changes outside the hunks, made while they resolved a conflict, into edits in the same
 * transaction. If such an edit meets other changes, it is a conflict like any other.
 *
 * @param renames moves of the conflict's file by later layers
 */
export function mergeEditsBesideHunks(
  {
    changes,
    resolvedConflicts,
  }: {
    readonly changes: readonly FileChange[];
    readonly resolvedConflicts: readonly ResolvedConflict[];
  },
  {
    disk,
    renames,
    answers,
  }: {
    readonly disk: (path: string) => TreeFile | null;
    readonly renames: ReadonlyMap<string, string>;
    readonly answers: KnownAnswers;
  },
): Amended {
  const amended = new Map(changes.map((change) => [change.path, change]));
  const conflicts: Conflict[] = [];
  const made: ResolvedConflict[] = [];
  for (const { conflict, answer, decision } of resolvedConflicts) {
    const answered = decision?.amended == null ? null : answeredFile(conflict, answer);
    if (decision?.amended == null || answered === null) continue;
    const path = renames.get(conflict.path) ?? conflict.path;
    const change = amended.get(path);
    const planned = change ? change.after : disk(path);
    const sides = {
      base: answered,
      ours: planned,
      theirs: { ...answered, bytes: decision.amended },
    };
    const merged = mergeAmended(path, sides, answers);
    if (merged.kind === 'open') {
      conflicts.push(merged.conflict);
      continue;
    }
    if (merged.resolved) made.push(merged.resolved);
    const before = change ? change.before : planned;
    amended.delete(path);
    if (isSameFile(before, merged.file)) continue;
    amended.set(path, { path, before, after: merged.file, movedFrom: change?.movedFrom ?? null });
  }
  return { changes: [...amended.values()], conflicts, resolvedConflicts: made };
}

type MergeOutcome =
  | {
      readonly kind: 'merged';
      readonly file: TreeFile | null;
      readonly resolved: ResolvedConflict | null;
    }
  | { readonly kind: 'open'; readonly conflict: Conflict };

function mergeAmended(
  path: string,
  sides: Versions<TreeFile | null>,
  { decisions }: KnownAnswers,
): MergeOutcome {
  const merged = mergeFiles(sides, { path });
  if (merged.kind === 'clean') return { kind: 'merged', file: merged.file, resolved: null };
  const conflict = {
    path,
    kind: merged.conflict,
    layers: [OWNER, 'your resolution'] as const,
    reason: 'Your changes outside the conflict touch lines that this command changes as well.',
    hunks: merged.hunks,
    sides,
    values: null,
  };
  const outcome = resolveConflict(conflict, { decisions, resolutions: [] });
  if (outcome.kind === 'open') return outcome;
  const { resolved } = outcome;
  const file = answeredFile(conflict, resolved.answer);
  const text = resolved.decision?.amended ?? null;
  return { kind: 'merged', file: file && text ? { ...file, bytes: text } : file, resolved };
}
