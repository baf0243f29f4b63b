import { at, type Box, type Edits, isOneSided, markAll, trimBox } from './edits.ts';

/** Boxes within boxes; deeper ones only come from texts made to be slow. */
const MAX_DEPTH = 32;

/** Pairs of places of lines that are unique on both sides of a box, in order of `a`. */
type Unique = { readonly a: Int32Array; readonly b: Int32Array };

/**
 * Splits a box at lines that are unique on both sides, again and again. Returns the boxes that hold none, and
 * marks on the way what needs no search.
 *
 * A reader would line up unique lines first. Braces and blank lines, which a shortest edit matches as gladly,
 * go with their surroundings.
 *
 * Source: Bram Cohen's patience diff (2008)
 * @param size all numbers in the sequences are below it
 */
export function splitAtAnchors(edits: Edits, whole: Box, size: number): readonly Box[] {
  const counts = { a: new Int32Array(size), b: new Int32Array(size), place: new Int32Array(size) };
  const rest: Box[] = [];
  const todo = [{ box: whole, depth: 0 }];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const depth = next.depth + 1;
    const box = trimBox(edits, next.box);
    if (isOneSided(box)) {
      markAll(edits, box);
      continue;
    }
    const anchors = longestIncreasing(findUnique(edits, box, counts));
    if (anchors.a.length === 0 || depth > MAX_DEPTH) rest.push(box);
    else for (const gap of gapsBetween(anchors, box)) todo.push({ box: gap, depth });
  }
  return rest;
}

/** Leaves `a` and `b` of the counts as it found them: all zero. */
function findUnique(
  edits: Edits,
  { aStart, aEnd, bStart, bEnd }: Box,
  counts: { readonly a: Int32Array; readonly b: Int32Array; readonly place: Int32Array },
): Unique {
  const places: number[] = [];
  const partners: number[] = [];
  for (let i = aStart; i < aEnd; i++) increment(counts.a, at(edits.a, i));
  for (let j = bStart; j < bEnd; j++) {
    increment(counts.b, at(edits.b, j));
    counts.place[at(edits.b, j)] = j;
  }
  for (let i = aStart; i < aEnd; i++) {
    const line = at(edits.a, i);
    if (counts.a[line] !== 1 || counts.b[line] !== 1) continue;
    places.push(i);
    partners.push(at(counts.place, line));
  }
  for (let i = aStart; i < aEnd; i++) counts.a[at(edits.a, i)] = 0;
  for (let j = bStart; j < bEnd; j++) counts.b[at(edits.b, j)] = 0;
  return { a: Int32Array.from(places), b: Int32Array.from(partners) };
}

function increment(counts: Int32Array, line: number): void {
  counts[line] = at(counts, line) + 1;
}

/** Returns the longest choice of pairs that are in order on both sides, by patience sorting. */
function longestIncreasing({ a, b }: Unique): Unique {
  const tops = new Int32Array(b.length);
  const previous = new Int32Array(b.length);
  let piles = 0;
  for (let index = 0; index < b.length; index++) {
    let low = 0;
    let high = piles;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at(b, at(tops, middle)) < at(b, index)) low = middle + 1;
      else high = middle;
    }
    previous[index] = low === 0 ? -1 : at(tops, low - 1);
    tops[low] = index;
    if (low === piles) piles++;
  }
  const chosen = { a: new Int32Array(piles), b: new Int32Array(piles) };
  for (let pile = piles - 1, index = at(tops, pile); pile >= 0; pile--) {
    chosen.a[pile] = at(a, index);
    chosen.b[pile] = at(b, index);
    index = at(previous, index);
  }
  return chosen;
}

/** Lists the boxes between anchors. Most of these follow each other, with nothing between them. */
function gapsBetween({ a, b }: Unique, { aStart, aEnd, bStart, bEnd }: Box): readonly Box[] {
  const gaps: Box[] = [];
  let [aFrom, bFrom] = [aStart, bStart];
  for (let index = 0; index <= a.length; index++) {
    const aTo = index < a.length ? at(a, index) : aEnd;
    const bTo = index < a.length ? at(b, index) : bEnd;
    if (aTo > aFrom || bTo > bFrom) {
      gaps.push({ aStart: aFrom, aEnd: aTo, bStart: bFrom, bEnd: bTo });
    }
    [aFrom, bFrom] = [aTo + 1, bTo + 1];
  }
  return gaps;
}
