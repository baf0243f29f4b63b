/** Commits by their ids: the recorded core, HEAD, and the new release. Null where there is none. */
type Tips = {
  readonly core: string | null;
  readonly head: string | null;
  readonly release: string;
};

/** Returns the best common ancestor of two commits, as `git merge-base` does; null where there is none. */
export type MergeBase = (one: string, other: string) => Promise<string | null>;

/**
 * Finds the newest commit that is part of the new release and of what this tree was made from: as git knows it, or by
 * what was recorded as the core, since an update without a merge commit is unknown to git. It is always an ancestor of
 * the new release, or that itself. So no line that the owner has added is in it, and each counts as an edit.
 *
 * @returns null where the histories have no commit in common
 */
export async function partingPoint(
  { core, head, release }: Tips,
  mergeBase: MergeBase,
): Promise<string | null> {
  const ofCore = core === null ? null : await mergeBase(core, release);
  if (ofCore === release) return release;
  const ofHead = head === null ? null : await mergeBase(head, release);
  if (ofCore === null || ofHead === null) return ofHead ?? ofCore;
  return (await mergeBase(ofHead, ofCore)) === ofCore ? ofHead : ofCore;
}
