import type { Versions } from '../versions.ts';
import { contentOf } from './lines.ts';

/** Three texts as numbers: equal numbers for lines of equal content, all below `size`. */
export type Interned = Versions<Int32Array> & {
  readonly size: number;
  /** The number of each content. */
  readonly numbers: ReadonlyMap<string, number>;
  /** The content of each number. */
  readonly contents: readonly string[];
};

/**
 * Numbers the lines of all three versions, so that comparing lines is comparing numbers.
 *
 * Line ends do not count: they are merged apart from the words.
 */
export function internLines({ base, ours, theirs }: Versions<readonly string[]>): Interned {
  const numbers = new Map<string, number>();
  const contents: string[] = [];
  const intern = (line: string) => {
    const content = contentOf(line);
    const known = numbers.get(content);
    if (known !== undefined) return known;
    const number = contents.push(content) - 1;
    numbers.set(content, number);
    return number;
  };
  const places: number[] = [];
  const baseNumbers = new Int32Array(base.length);
  for (let place = 0; place < base.length; place++) {
    const number = intern(base[place] ?? '');
    if (number === places.length) places.push(place);
    baseNumbers[place] = number;
  }
  // Most lines of a side are the base's next one, and to compare two lines takes less than to look one up.
  const internSide = (side: readonly string[]) => {
    const sideNumbers = new Int32Array(side.length);
    let next = 0;
    for (let index = 0; index < side.length; index++) {
      const line = side[index] ?? '';
      if (line === base[next]) sideNumbers[index] = at(baseNumbers, next++);
      else {
        const number = intern(line);
        const place = places[number] ?? -1;
        if (place >= next) next = place + 1;
        sideNumbers[index] = number;
      }
    }
    return sideNumbers;
  };
  return {
    base: baseNumbers,
    ours: internSide(ours),
    theirs: internSide(theirs),
    size: numbers.size,
    numbers,
    contents,
  };
}

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
