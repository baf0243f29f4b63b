import { type FileChange, OWNER } from '../compose/plan.ts';
import { answeredFile, type Settlement } from '../compose/settle.ts';
import type { Conflict } from '../conflict.ts';
import { mergeFiles } from '../merge/file.ts';
import { isSameFile, type TreeFile } from '../tree.ts';

type Amended = { readonly changes: readonly FileChange[]; readonly conflicts: readonly Conflict[] };

/**
 * What the owner changed outside the hunks while they resolved a conflict becomes an edit of theirs in
 * the same transaction.
 */
export function amendChanges(
  changes: readonly FileChange[],
  settlements: readonly Settlement[],
  disk: (path: string) => TreeFile | null,
): Amended {
  const amended = new Map(changes.map((change) => [change.path, change]));
  const conflicts: Conflict[] = [];
  for (const { conflict, answer, decision } of settlements) {
    const answered = answer.kind === 'hunks' ? answeredFile(conflict, answer) : null;
    if (decision?.amended == null || answered === null) continue;
    const { path } = conflict;
    const change = amended.get(path);
    const planned = change ? change.after : disk(path);
    const theirs = { ...answered, bytes: decision.amended };
    const sides = { base: answered, ours: planned, theirs };
    const merged = mergeFiles(sides, { path });
    if (merged.kind === 'conflict') {
      const reason = 'What you changed outside the conflict meets other changes of this command.';
      const layers = [OWNER, 'your resolution'] as const;
      conflicts.push({
        path,
        kind: merged.conflict,
        layers,
        reason,
        hunks: merged.hunks,
        sides,
        values: null,
      });
      continue;
    }
    const before = change ? change.before : planned;
    amended.delete(path);
    if (isSameFile(before, merged.file)) continue;
    amended.set(path, { path, before, after: merged.file, movedFrom: change?.movedFrom ?? null });
  }
  return { changes: [...amended.values()], conflicts };
}
