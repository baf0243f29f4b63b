import type { Versions } from './tree.ts';

/**
 * Merges a value that has no parts: the side that changed it wins, ours where both did.
 *
 * For attributes such as a file's mode or the end of a line, never for anyone's words.
 */
export function mergeValue<T>({ base, ours, theirs }: Versions<T>): T {
  return ours === base ? theirs : ours;
}

/**
 * Returns the side that needs no merge: only that side changed, or both made the same change. Null where both
 * changed, differently.
 */
export function mergeWhole<T>(
  { base, ours, theirs }: Versions<T>,
  isSame: (one: T, other: T) => boolean,
): 'ours' | 'theirs' | null {
  if (isSame(ours, theirs) || isSame(theirs, base)) return 'ours';
  return isSame(ours, base) ? 'theirs' : null;
}
