import { answeredFile } from '../../compose/answer.ts';
import { type FileChange, OWNER } from '../../compose/plan.ts';
import { type KnownAnswers, type Settlement, settleConflict } from '../../compose/settle.ts';
import type { Conflict } from '../../conflict.ts';
import { mergeFiles } from '../../merge/file.ts';
import { isSameFile, type TreeFile, type Versions } from '../../tree.ts';

type Amended = {
  readonly changes: readonly FileChange[];
  readonly conflicts: readonly Conflict[];
  readonly settlements: readonly Settlement[];
};

/**
 * What the owner changed outside the hunks while they resolved a conflict becomes an edit of theirs in
 * the same transaction. Where that meets other changes it is a conflict, decided like any other.
 *
 * @param renames where layers that came after the conflict moved its file
 */
export function amendChanges(
  {
    changes,
    settlements,
  }: {
    readonly changes: readonly FileChange[];
    readonly settlements: readonly Settlement[];
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
  const made: Settlement[] = [];
  for (const { conflict, answer, decision } of settlements) {
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
    if (merged.settlement) made.push(merged.settlement);
    const before = change ? change.before : planned;
    amended.delete(path);
    if (isSameFile(before, merged.file)) continue;
    amended.set(path, { path, before, after: merged.file, movedFrom: change?.movedFrom ?? null });
  }
  return { changes: [...amended.values()], conflicts, settlements: made };
}

type Merged =
  | {
      readonly kind: 'merged';
      readonly file: TreeFile | null;
      readonly settlement: Settlement | null;
    }
  | { readonly kind: 'open'; readonly conflict: Conflict };

function mergeAmended(
  path: string,
  sides: Versions<TreeFile | null>,
  { decisions }: KnownAnswers,
): Merged {
  const merged = mergeFiles(sides, { path });
  if (merged.kind === 'clean') return { kind: 'merged', file: merged.file, settlement: null };
  const conflict = {
    path,
    kind: merged.conflict,
    layers: [OWNER, 'your resolution'] as const,
    reason: 'What you changed outside the conflict meets other changes of this command.',
    hunks: merged.hunks,
    sides,
    values: null,
  };
  const settled = settleConflict(conflict, { decisions, resolutions: [] });
  if (settled.kind === 'open') return settled;
  const { settlement } = settled;
  const file = answeredFile(conflict, settlement.answer);
  const text = settlement.decision?.amended ?? null;
  return { kind: 'merged', file: file && text ? { ...file, bytes: text } : file, settlement };
}
