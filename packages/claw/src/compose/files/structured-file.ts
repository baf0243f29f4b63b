import { isSameFile, type TreeFile, type Versions } from '@patchclaw/merge';
import type { Conflict } from '../../conflict.ts';
import { readOwnStructured } from '../../installed/config.ts';
import { mergeStructured } from '../../structured/merge.ts';
import { type StructuredKind, structuredKind } from '../../structured/structured-kind.ts';
import { answeredFile } from '../answer.ts';
import type { ConflictOutcome } from '../resolve-conflict.ts';

/** Returns the kind of a file in a tree based on a release; null if it is merged as text. */
export function findKind(
  path: string,
  release: (path: string) => TreeFile | null,
): StructuredKind | null {
  return structuredKind(path, readOwnStructured(release));
}

/**
 * Merges two edits of a structured file by key. The owner is asked about a disputed key as a value, and about a file
 * that cannot be parsed as a whole.
 */
export function mergeByKey(
  { path, kind }: { readonly path: string; readonly kind: StructuredKind },
  versions: Versions<TreeFile | null>,
  layers: readonly [ours: string, theirs: string],
  resolve: (conflict: Conflict) => ConflictOutcome,
): { readonly file: TreeFile | null; readonly conflicts: readonly Conflict[] } {
  const { base, ours, theirs } = versions;
  if (isSameFile(base, theirs) || isSameFile(ours, theirs)) return { file: ours, conflicts: [] };
  if (isSameFile(base, ours)) return { file: theirs, conflicts: [] };
  const merged = mergeStructured({
    path,
    kind,
    versions: {
      base: base?.bytes ?? null,
      ours: ours?.bytes ?? null,
      theirs: theirs?.bytes ?? null,
    },
    layers,
    decide: (conflict) => {
      const outcome = resolve(conflict);
      const isValue = outcome.kind === 'resolved' && outcome.resolved.answer.kind === 'value';
      return isValue ? { value: answeredValue(outcome) } : null;
    },
  });
  const [first] = merged.conflicts;
  if (first !== undefined && first.kind !== 'structured') {
    const outcome = resolve(first);
    if (outcome.kind === 'open') return { file: null, conflicts: [outcome.conflict] };
    return { file: answeredFile(first, outcome.resolved.answer), conflicts: [] };
  }
  const isExecutable = (ours ?? theirs)?.isExecutable ?? false;
  const file = merged.bytes === null ? null : { bytes: merged.bytes, isExecutable };
  return { file, conflicts: merged.conflicts };
}

function answeredValue(outcome: ConflictOutcome): unknown {
  if (outcome.kind === 'open') return null;
  const { answer } = outcome.resolved;
  return answer.kind === 'value' ? answer.value : null;
}
