import type { Versions } from '@patchclaw/merge';

/**
 * Orders the keys of a merged map as theirs does, where ours has the keys of base in their order. So the place
 * of a key that both added is that of theirs. A key that theirs does not have stays after the one that it
 * followed.
 *
 * @param merged all keys of the result, in the order of ours
 * @returns null where the order of ours stays
 */
export function orderOfTheirs(
  merged: readonly string[],
  { base, ours, theirs }: Versions<readonly string[]>,
): readonly string[] | null {
  // Settings may hold a key twice; then there is no one order.
  if ([merged, theirs].some((keys) => new Set(keys).size !== keys.length)) return null;
  const [inBase, inOurs, inTheirs] = [new Set(base), new Set(ours), new Set(theirs)];
  const before = base.filter((key) => inOurs.has(key) && inTheirs.has(key));
  const isAsBefore = isSameList(
    ours.filter((key) => inBase.has(key) && inTheirs.has(key)),
    before,
  );
  if (!isAsBefore || isSameOrder(ours, theirs)) return null;
  const present = new Set(merged);
  const ordered = theirs.filter((key) => present.has(key));
  for (const [at, key] of merged.entries()) {
    if (inTheirs.has(key)) continue;
    const previous = merged[at - 1];
    ordered.splice(previous === undefined ? 0 : ordered.indexOf(previous) + 1, 0, key);
  }
  return ordered;
}

/** Tells whether the keys that two maps share are in one order. */
export function isSameOrder(one: readonly string[], other: readonly string[]): boolean {
  const [inOne, inOther] = [new Set(one), new Set(other)];
  return isSameList(
    one.filter((key) => inOther.has(key)),
    other.filter((key) => inOne.has(key)),
  );
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, at) => key === other[at]);
}
