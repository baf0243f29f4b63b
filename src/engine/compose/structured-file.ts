import type { Conflict } from '../conflict.ts';
import { mergeStructured } from '../structured/merge.ts';
import { isSameFile, type TreeFile, type Versions } from '../tree.ts';
import { answeredFile } from './answer.ts';
import type { Settled } from './settle.ts';

/**
 * Merges two edits of a structured file by key, and asks about what they disagree on: about a key for
 * a value, about a file that cannot be taken apart for the whole of it.
 */
export function mergeByKey(
  path: string,
  versions: Versions<TreeFile | null>,
  layers: readonly [ours: string, theirs: string],
  settle: (conflict: Conflict) => Settled,
): { readonly file: TreeFile | null; readonly conflicts: readonly Conflict[] } {
  const { base, ours, theirs } = versions;
  if (isSameFile(base, theirs) || isSameFile(ours, theirs)) return { file: ours, conflicts: [] };
  if (isSameFile(base, ours)) return { file: theirs, conflicts: [] };
  const merged = mergeStructured({
    path,
    versions: {
      base: base?.bytes ?? null,
      ours: ours?.bytes ?? null,
      theirs: theirs?.bytes ?? null,
    },
    layers,
    decide: (conflict) => {
      const settled = settle(conflict);
      const isValue = settled.kind === 'settled' && settled.settlement.answer.kind === 'value';
      return isValue ? { value: answeredValue(settled) } : null;
    },
  });
  const [first] = merged.conflicts;
  if (first !== undefined && first.kind !== 'structured') {
    const settled = settle(first);
    if (settled.kind === 'open') return { file: null, conflicts: [settled.conflict] };
    return { file: answeredFile(first, settled.settlement.answer), conflicts: [] };
  }
  const isExecutable = (ours ?? theirs)?.isExecutable ?? false;
  const file = merged.bytes === null ? null : { bytes: merged.bytes, isExecutable };
  return { file, conflicts: merged.conflicts };
}

function answeredValue(settled: Settled): unknown {
  if (settled.kind === 'open') return null;
  const { answer } = settled.settlement;
  return answer.kind === 'value' ? answer.value : null;
}
