import {
  type FileMerge,
  formatOf,
  type Hunk,
  mapVersions,
  mergeFault,
  mergeFiles,
  openNewPlaces,
  type Reopening,
  reopeningOf,
  splitLines,
  type TreeFile,
  tellFault,
  type Versions,
} from '@patchclaw/merge';

/**
 * Returns the hunks of a conflicting merge as the owner is asked about them: places that belong together are one
 * question.
 */
export function conflictHunks(
  outcome: Extract<FileMerge, { kind: 'conflict' }>,
  { base, ours, theirs }: Versions<TreeFile | null>,
): readonly Hunk[] {
  const { conflict, hunks } = outcome;
  if (conflict !== 'content' || base === null || ours === null || theirs === null) return hunks;
  const lines = mapVersions({ base, ours, theirs }, ({ bytes }) =>
    splitLines(bytes.toString('latin1')),
  );
  return openNewPlaces(hunks, lines);
}

const TOLD: Readonly<Record<Reopening, string>> = {
  repeated: 'has twice the lines that both bring',
  misplaced: 'has a change in another place than the one that it was made for',
};

/**
 * Explains why changes of different lines are a conflict: the result would have a name twice that no input has twice,
 * would not parse, would have a block twice, or would have an edit in the wrong declaration.
 *
 * @returns the end of a sentence about the file; null where the lines themselves disagree
 */
export function faultTogether(path: string, versions: Versions<TreeFile | null>): string | null {
  // Without a path they are merged by lines alone.
  const merged = mergeFiles(versions);
  const file = merged.kind === 'clean' ? merged.file : null;
  const fault = file && mergeFault(path, file, versions);
  if (fault !== null) return tellFault(fault);
  const { base, ours, theirs } = versions;
  if (base === null || ours === null || theirs === null) return null;
  const linesOf = ({ bytes }: TreeFile) => splitLines(bytes.toString('latin1'));
  const lines = { base: linesOf(base), ours: linesOf(ours), theirs: linesOf(theirs) };
  const reopening = reopeningOf(lines, formatOf(path));
  return reopening && TOLD[reopening];
}
