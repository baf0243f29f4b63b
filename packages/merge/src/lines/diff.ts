import { at, type Box, type Edits, isOneSided, markAll, trimBox } from './interned-lines.ts';
import { markShortestEdits } from './myers.ts';
import { slideEdits } from './slide-edits.ts';

/** Steps that all searches of one diff may take together: a tenth of a second or two. */
const SEARCH_BUDGET = 8_000_000;
/** Searches are exact at least up to this many edits, however long the texts. */
const MIN_COST = 64;

/**
 * Compares two texts of numbered lines. Pairs lines that are unique on both sides first, then the stretches
 * between them by a shortest edit. Edits then slide to where a reader expects them.
 *
 * No input is slow: past a cost that falls with the length of the texts, the edits are still correct but
 * maybe not the fewest.
 *
 * @param size all numbers are below it
 * @returns for each line of `a` the index of its partner in `b`, or -1; partners only increase
 */
export function diffLines(a: Int32Array, b: Int32Array, size: number): Int32Array {
  const edits: Edits = {
    a,
    b,
    isRemoved: new Uint8Array(a.length),
    isAdded: new Uint8Array(b.length),
  };
  const whole = trimBox(edits, { aStart: 0, aEnd: a.length, bStart: 0, bEnd: b.length });
  const maxCost = Math.max(MIN_COST, Math.floor(SEARCH_BUDGET / (a.length + b.length + 1)));
  const seen = { a: new Uint8Array(size), b: new Uint8Array(size) };
  for (const box of splitAtAnchors(edits, whole, size)) {
    const condensed = condenseBox(edits, box, seen);
    markShortestEdits(condensed.edits, maxCost);
    applyCondensed(edits, condensed);
  }
  slideEdits(edits);
  return pairKept(edits);
}

function pairKept({ a, isRemoved, isAdded }: Edits): Int32Array {
  const partners = new Int32Array(a.length).fill(-1);
  let partner = 0;
  for (let index = 0; index < a.length; index++) {
    if (at(isRemoved, index) === 1) continue;
    while (at(isAdded, partner) === 1) partner++;
    partners[index] = partner++;
  }
  return partners;
}

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
function splitAtAnchors(edits: Edits, whole: Box, size: number): readonly Box[] {
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

/** A box reduced to the lines that both of its sides have, and their places in the original. */
type Condensed = {
  readonly edits: Edits;
  readonly places: { readonly a: Int32Array; readonly b: Int32Array };
};

/** Scratch memory for the lines that each side has; all zero between two uses. */
type Seen = { readonly a: Uint8Array; readonly b: Uint8Array };

/**
 * Marks the lines of a box that its other side does not have, and returns the rest as a diff of its own.
 *
 * The fewest edits of the rest are the fewest of the whole, and most of a rewritten stretch never has to be
 * searched.
 *
 * @param seen a place for every number in the sequences, shared by the boxes of one diff: clearing it again
 *   for each of many small boxes would take longer than the search
 */
function condenseBox(edits: Edits, { aStart, aEnd, bStart, bEnd }: Box, seen: Seen): Condensed {
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
function applyCondensed(edits: Edits, { edits: { isRemoved, isAdded }, places }: Condensed) {
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
