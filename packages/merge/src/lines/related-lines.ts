import type { Versions } from '../versions.ts';

/** A number with dots, as of a version, is one word. */
const WORD = /\d+(?:\.\d+)+|[\p{L}\p{N}_]+/gu;
/** Share of its words that a changed line has kept, at least: else it may be another line. */
const MIN_ALIKE = 0.5;
/** Matches words that mean more than a plain number, which may be equal by chance. */
const TELLING = /\p{L}|\./u;

/** Tells whether a line is a changed version of another, and not rather of one of some other lines. */
export function isChangedLine(before: string, after: string, others: readonly string[]): boolean {
  const alike = likenessOf(before, after);
  return alike >= MIN_ALIKE && others.every((line) => likenessOf(line, before) < alike);
}

/** Returns the words of a line without signs. */
export function wordsIn(line: string): readonly string[] {
  return line.match(WORD) ?? [];
}

/** Tells whether a word is more than a number. */
export function isTelling(word: string): boolean {
  return TELLING.test(word);
}

/** Returns the telling words that a line has lost. */
export function wordsLost(before: string, after: string): readonly string[] {
  const kept = new Set(wordsIn(after));
  return wordsIn(before).filter((word) => isTelling(word) && !kept.has(word));
}

/** Returns the share of words that two lines have in common, each as often as it is there: 0 to 1. */
function likenessOf(one: string, other: string): number {
  const [mine, its] = [wordsIn(one), wordsIn(other)];
  const left = new Map<string, number>();
  for (const word of mine) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of its) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    common++;
  }
  const all = mine.length + its.length;
  return all === 0 ? 0 : (2 * common) / all;
}

/** The words of a side, and those of its lines that the base has not. */
type Words = { readonly all: ReadonlySet<string>; readonly fresh: ReadonlySet<string> };

/** Tells whether words that one side removed everywhere are in lines that the other side adds. */
export type IsMissed = (words: readonly string[], side: 'ours' | 'theirs') => boolean;

/** Makes a test of words for one text. The text is read once, and only if needed. */
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
