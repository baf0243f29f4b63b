/** A regular file: its bytes, never mutated, and whether its owner may execute it. */
export type TreeFile = { readonly bytes: Buffer; readonly isExecutable: boolean };

/** Files by canonical relative path (forward slashes, NFC as found, no leading `./`). */
export type Tree = ReadonlyMap<string, TreeFile>;

/** The three sides of a merge: `base` is the common ancestor, `ours` is there, `theirs` is wanted. */
export type Versions<T> = { readonly base: T; readonly ours: T; readonly theirs: T };

/** Tells whether two files, or two absences, are the same to the byte and the mode. */
export function isSameFile(one: TreeFile | null, other: TreeFile | null): boolean {
  if (one === null || other === null) return one === other;
  return one.isExecutable === other.isExecutable && one.bytes.equals(other.bytes);
}

/**
 * Merges a value that has no parts: the side that changed it wins, or ours if both did.
 *
 * For attributes such as a file's mode or a line end, never for text that people wrote.
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
