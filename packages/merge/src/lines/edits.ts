/**
 * A line diff in the making: two interned sequences, and which of their lines have no partner.
 * Unmarked lines pair up in order, so both sides always have equally many of them.
 */
export type Edits = {
  readonly a: Int32Array;
  readonly b: Int32Array;
  readonly isRemoved: Uint8Array;
  readonly isAdded: Uint8Array;
};

/** The part of both sequences that a step works on; ends are exclusive. */
export type Box = {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
};

/** Returns the box without the lines that both sides begin and end with. */
export function trimBox({ a, b }: Pick<Edits, 'a' | 'b'>, box: Box): Box {
  let { aStart, aEnd, bStart, bEnd } = box;
  while (aStart < aEnd && bStart < bEnd && a[aStart] === b[bStart]) {
    aStart++;
    bStart++;
  }
  while (aStart < aEnd && bStart < bEnd && a[aEnd - 1] === b[bEnd - 1]) {
    aEnd--;
    bEnd--;
  }
  return { aStart, aEnd, bStart, bEnd };
}

/** Tells whether one side of the box has no lines, so that all of the other are edits. */
export function isOneSided({ aStart, aEnd, bStart, bEnd }: Box): boolean {
  return aStart === aEnd || bStart === bEnd;
}

/** Marks every line of the box as removed or added. */
export function markAll(edits: Edits, { aStart, aEnd, bStart, bEnd }: Box): void {
  edits.isRemoved.fill(1, aStart, aEnd);
  edits.isAdded.fill(1, bStart, bEnd);
}

/** Returns an element that is known to be there; in a loop this costs nothing, unlike an iterator. */
export function at(sequence: Int32Array | Uint8Array, index: number): number {
  return sequence[index] ?? 0;
}
