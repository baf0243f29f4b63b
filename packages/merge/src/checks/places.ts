import { at, type Interned } from '../lines/intern.ts';

const WORD = /[\p{L}\p{N}]/u;

/** A text of numbered lines, and the places of each of them. */
export type Places = {
  readonly lines: Int32Array;
  /** The places in the order of the lines' numbers, and those of one line in order. */
  readonly sorted: Int32Array;
  /** Where the places of each line begin among these, and after the last line their number. */
  readonly starts: Int32Array;
};

/** Lists the places of every line of a text; numbers below 0 are no lines. */
export function listPlaces(lines: Int32Array, size: number): Places {
  // Counted one further on: each count then moves to where its line begins while the places are put in.
  const starts = new Int32Array(size + 2);
  for (let place = 0; place < lines.length; place++) {
    const line = at(lines, place);
    if (line >= 0) starts[line + 2] = at(starts, line + 2) + 1;
  }
  for (let line = 2; line < starts.length; line++) {
    starts[line] = at(starts, line) + at(starts, line - 1);
  }
  const sorted = new Int32Array(at(starts, size + 1));
  for (let place = 0; place < lines.length; place++) {
    const line = at(lines, place);
    if (line < 0) continue;
    sorted[at(starts, line + 1)] = place;
    starts[line + 1] = at(starts, line + 1) + 1;
  }
  return { lines, sorted, starts };
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
