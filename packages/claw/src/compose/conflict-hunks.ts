import {
  type FileMerge,
  type Hunk,
  mapVersions,
  openNewPlaces,
  splitLines,
  type TreeFile,
  type Versions,
} from '@patchclaw/merge';

/** Returns the hunks of a merge in conflict as the owner is asked about them: the places that belong together. */
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
