import type { Composition } from '../compose/composition.ts';
import type { FileChange } from '../compose/plan.ts';
import type { Change } from './context.ts';

/**
 * What a plan does to the project, as commands report it: one line per path, renames as one.
 *
 * @param target who works on which file; null where the subject alone causes all of it
 * @param subject who causes what no layer of the new composition touches (the verb and its skills)
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
