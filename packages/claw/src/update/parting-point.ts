/** Commits by their ids: the recorded core, HEAD, and the new release. Null where there is none. */
type Tips = {
  readonly core: string | null;
  readonly head: string | null;
  readonly release: string;
  /** True for a core that came by `update`: it is a release, on whatever branch, and none of it is the owner's. */
  readonly isUpdated?: boolean;
};

/** Returns the best common ancestor of two commits, as `git merge-base` does; null where there is none. */
export type MergeBase = (one: string, other: string) => Promise<string | null>;

/**
 * Finds the newest commit that is part of the new release and of what this tree was made from: as git knows it, or by
 * what was recorded as the core, since an update without a merge commit is unknown to git. It is an ancestor of the new
 * release, or that itself, or a release that came by `update`. So no line that the owner has added is in it, and each
 * counts as an edit.
 *
 * @returns null where the histories have no commit in common
 */
export async function partingPoint(
  { core, head, release, isUpdated = false }: Tips,
  mergeBase: MergeBase,
): Promise<string | null> {
  const ofCore = core === null ? null : await mergeBase(core, release);
  if (ofCore === release) return release;
  const ofHead = head === null ? null : await mergeBase(head, release);
  if (isUpdated && core !== null) {
    // The owner may have merged what is newer with git.
    const isNewer = ofHead !== null && (await mergeBase(ofHead, core)) === core;
    return isNewer ? ofHead : core;
  }
  if (ofCore === null || ofHead === null) return ofHead ?? ofCore;
  return (await mergeBase(ofHead, ofCore)) === ofCore ? ofHead : ofCore;
}
