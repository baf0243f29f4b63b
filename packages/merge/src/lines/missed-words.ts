import type { Versions } from '../tree.ts';
import { wordsIn } from './alike-lines.ts';

/** The words of a side, and those of its lines that the base has not. */
type Words = { readonly all: ReadonlySet<string>; readonly fresh: ReadonlySet<string> };

/** Tells whether words that a side took out, and has nowhere now, are in lines that the other side brings. */
export type IsMissed = (words: readonly string[], side: 'ours' | 'theirs') => boolean;

/** Makes a test of words for one text, which is read once and where it is needed. */
export function findMissed(lines: Versions<readonly string[]>): IsMissed {
  const known: { ours?: Words; theirs?: Words } = {};
  const readWords = (side: 'ours' | 'theirs') => {
    known[side] ??= wordsOf(lines[side], lines.base);
    return known[side];
  };
  return (words, side) => {
    if (words.length === 0) return false;
    const [kept, brought] = [
      readWords(side).all,
      readWords(side === 'ours' ? 'theirs' : 'ours').fresh,
    ];
    return words.some((word) => !kept.has(word) && brought.has(word));
  };
}

function wordsOf(side: readonly string[], base: readonly string[]): Words {
  const known = new Set(base);
  return {
    all: new Set(side.flatMap(wordsIn)),
    fresh: new Set(side.filter((line) => !known.has(line)).flatMap(wordsIn)),
  };
}
