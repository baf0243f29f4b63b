import { isSameFile, mergeFiles, type TreeFile } from '@patchclaw/merge';

/** One edited file, and the skill's work on it. */
export type EditedFile = {
  readonly path: string;
  /** As all layers compose it. */
  readonly composed: TreeFile | null;
  /** As the owner has it. */
  readonly wanted: TreeFile | null;
  /** As the skill alone makes it, on the core and what it depends on. */
  readonly present: TreeFile | null;
};

/** The file as the skill alone is to make it; `isWhole` unless a part of the edit stays out. */
export type Folded = { readonly after: TreeFile | null; readonly isWhole: boolean };

/**
 * Carries an edit over from the composed file to the one that the skill alone makes. The parts of it in lines
 * of another layer cannot be carried over.
 *
 * @returns null where no part of the edit can
 */
export function foldEdit({ path, composed, wanted, present }: EditedFile): Folded | null {
  const merged = mergeFiles({ base: composed, ours: present, theirs: wanted }, { path });
  if (merged.kind === 'clean') return { after: merged.file, isWhole: true };
  if (merged.conflict !== 'content') return null;
  const lines = merged.hunks.flatMap((hunk) => (hunk.kind === 'resolved' ? hunk.lines : hunk.ours));
  const after = { bytes: Buffer.from(lines.join(''), 'latin1'), isExecutable: merged.isExecutable };
  return isSameFile(after, present) ? null : { after, isWhole: false };
}
