import { at, type Box, type Edits } from './edits.ts';

/** A box reduced to the lines that both of its sides have, and their places in the original. */
export type Condensed = {
  readonly edits: Edits;
  readonly places: { readonly a: Int32Array; readonly b: Int32Array };
};

/** Scratch memory for the lines that each side has; all zero between two uses. */
export type Seen = { readonly a: Uint8Array; readonly b: Uint8Array };

/**
 * Marks the lines of a box that its other side does not have, and returns the rest as a diff of its own.
 *
 * The fewest edits of the rest are the fewest of the whole, and most of a rewritten stretch never has to be
 * searched.
 *
 * @param seen a place for every number in the sequences, shared by the boxes of one diff: clearing it again
 *   for each of many small boxes would take longer than the search
 */
export function condenseBox(
  edits: Edits,
  { aStart, aEnd, bStart, bEnd }: Box,
  seen: Seen,
): Condensed {
  for (let i = aStart; i < aEnd; i++) seen.a[at(edits.a, i)] = 1;
  for (let j = bStart; j < bEnd; j++) seen.b[at(edits.b, j)] = 1;
  const places = {
    a: keepShared(edits.a, {
      start: aStart,
      end: aEnd,
      isShared: seen.b,
      isEdited: edits.isRemoved,
    }),
    b: keepShared(edits.b, { start: bStart, end: bEnd, isShared: seen.a, isEdited: edits.isAdded }),
  };
  for (let i = aStart; i < aEnd; i++) seen.a[at(edits.a, i)] = 0;
  for (let j = bStart; j < bEnd; j++) seen.b[at(edits.b, j)] = 0;
  const condensed: Edits = {
    a: places.a.map((place) => at(edits.a, place)),
    b: places.b.map((place) => at(edits.b, place)),
    isRemoved: new Uint8Array(places.a.length),
    isAdded: new Uint8Array(places.b.length),
  };
  return { edits: condensed, places };
}

/** Carries the marks of a condensed box over to where its lines came from. */
export function applyCondensed(edits: Edits, { edits: { isRemoved, isAdded }, places }: Condensed) {
  places.a.forEach((place, index) => {
    edits.isRemoved[place] = at(isRemoved, index);
  });
  places.b.forEach((place, index) => {
    edits.isAdded[place] = at(isAdded, index);
  });
}

function keepShared(
  lines: Int32Array,
  part: {
    readonly start: number;
    readonly end: number;
    readonly isShared: Uint8Array;
    readonly isEdited: Uint8Array;
  },
): Int32Array {
  const kept = new Int32Array(part.end - part.start);
  let length = 0;
  for (let index = part.start; index < part.end; index++) {
    if (at(part.isShared, at(lines, index)) === 1) kept[length++] = index;
    else part.isEdited[index] = 1;
  }
  return kept.subarray(0, length);
}
