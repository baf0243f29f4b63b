import { mergeFiles } from '../merge/file.ts';
import { mergeFault, tellFault } from '../merge/syntax/faults/text-fault.ts';
import type { TreeFile, Versions } from '../tree.ts';

/**
 * Explains why changes of different lines are a conflict: together they would have a name twice that no input
 * has twice, or would not parse.
 *
 * @returns the end of a sentence about the file; null where the lines themselves disagree
 */
export function faultTogether(path: string, versions: Versions<TreeFile | null>): string | null {
  // Without a path they are merged by lines alone.
  const merged = mergeFiles(versions);
  if (merged.kind === 'conflict' || merged.file === null) return null;
  const fault = mergeFault(path, merged.file, versions);
  return fault && tellFault(fault);
}
