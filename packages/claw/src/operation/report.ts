import type { Composition } from '../compose/composition.ts';
import type { FileChange } from '../compose/plan.ts';
import type { Change } from '../contract/result.ts';

/**
 * Reports the changes of a plan, as commands show them: one line per path, renames as one.
 *
 * @param target the composition, for the layers on each file; null where the subject alone causes all changes
 * @param subject the cause of changes that no layer of the new composition makes (the verb and its skills)
 */
export function reportChanges(
  changes: readonly FileChange[],
  target: Composition | null,
  subject: string,
): readonly Change[] {
  const sources = new Set(changes.flatMap(({ movedFrom }) => movedFrom ?? []));
  return changes
    .filter(({ path, after }) => !(after === null && sources.has(path)))
    .map((change) => ({
      path: change.path,
      kind: kindOf(change),
      cause: target?.files.get(change.path)?.layers.join(', ') || subject,
    }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

function kindOf({ before, after, movedFrom }: FileChange): Change['kind'] {
  if (movedFrom !== null) return 'rename';
  if (before === null) return 'add';
  return after === null ? 'delete' : 'modify';
}
