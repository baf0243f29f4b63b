/** A regular file: its bytes, never mutated, and whether its owner may execute it. */
export type TreeFile = { readonly bytes: Buffer; readonly isExecutable: boolean };

/** Files by canonical relative path (forward slashes, NFC as found, no leading `./`). */
export type Tree = ReadonlyMap<string, TreeFile>;

/** The three sides of a merge: what both came from, what is there, what is wanted. */
export type Versions<T> = { readonly base: T; readonly ours: T; readonly theirs: T };

/** Tells whether two files, or two absences, are the same to the byte and the mode. */
export function isSameFile(one: TreeFile | null, other: TreeFile | null): boolean {
  if (one === null || other === null) return one === other;
  return one.isExecutable === other.isExecutable && one.bytes.equals(other.bytes);
}
