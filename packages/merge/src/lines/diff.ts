import { applyCondensed, condenseBox } from './drop-unmatched.ts';
import { at, type Edits, trimBox } from './edits.ts';
import { splitAtAnchors } from './histogram.ts';
import { markShortestEdits } from './myers.ts';
import { slideEdits } from './slide.ts';

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
