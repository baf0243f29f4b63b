import { at } from '../lines/edits.ts';
import type { Interned } from '../lines/intern.ts';

const WORD = /[\p{L}\p{N}]/u;

/** A text of numbered lines in which blocks of lines can be found. */
export type Places = {
  readonly lines: Int32Array;
  /** Counts the occurrences of a line in the text. */
  readonly countOf: (line: number) => number;
  /** The places of a line, in order. */
  readonly placesOf: (line: number) => Int32Array;
};

/** Lists the places of every line of a text; numbers below 0 are no lines. */
export function listPlaces(lines: Int32Array, size: number): Places {
  const ends = new Int32Array(size + 1);
  for (const line of lines) if (line >= 0) ends[line + 1] = at(ends, line + 1) + 1;
  for (let line = 0; line < size; line++) ends[line + 1] = at(ends, line + 1) + at(ends, line);
  const starts = ends.slice();
  const places = new Int32Array(at(ends, size));
  for (let place = 0; place < lines.length; place++) {
    const line = at(lines, place);
    if (line < 0) continue;
    places[at(starts, line)] = place;
    starts[line] = at(starts, line) + 1;
  }
  return {
    lines,
    countOf: (line) => at(ends, line + 1) - at(ends, line),
    placesOf: (line) => places.subarray(at(ends, line), at(ends, line + 1)),
  };
}

/** Finds where a block of lines begins in a text, and how many lines had to be compared for it at most. */
export function findBlock(
  text: Places,
  block: Int32Array,
): { readonly places: readonly number[]; readonly compared: number } {
  let rarest = 0;
  for (let offset = 1; offset < block.length; offset++) {
    if (text.countOf(at(block, offset)) < text.countOf(at(block, rarest))) rarest = offset;
  }
  const candidates = text.placesOf(at(block, rarest));
  const places: number[] = [];
  for (const place of candidates) {
    if (isBlockAt(text.lines, place - rarest, block)) places.push(place - rarest);
  }
  return { places, compared: block.length * (1 + candidates.length) };
}

function isBlockAt(lines: Int32Array, start: number, block: Int32Array): boolean {
  if (start < 0) return false;
  for (let offset = 0; offset < block.length; offset++) {
    if (lines[start + offset] !== block[offset]) return false;
  }
  return true;
}

/** Tells of lines, by their number, whether they have a letter or digit. */
export function findWords({ contents, size }: Interned): (line: number) => boolean {
  const [unknown, no, yes] = [0, 1, 2];
  const words = new Uint8Array(size);
  return (line) => {
    if (words[line] === unknown) words[line] = WORD.test(contents[line] ?? '') ? yes : no;
    return words[line] === yes;
  };
}
