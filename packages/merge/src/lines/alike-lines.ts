/** A number with dots, as of a version, is one word. */
const WORD = /\d+(?:\.\d+)+|[\p{L}\p{N}_]+/gu;
/** Share of its words that a changed line has kept, at least: else it may be another line. */
const MIN_ALIKE = 0.5;
/** What a word has that says more than a number, which is there by chance. */
const TELLING = /\p{L}|\./u;

/** Tells whether a line is another one changed, and not one of some other lines, which is more like it. */
export function isChangedLine(before: string, after: string, others: readonly string[]): boolean {
  const alike = likenessOf(before, after);
  return alike >= MIN_ALIKE && others.every((line) => likenessOf(line, before) < alike);
}

/** Returns the words of a line, signs left out. */
export function wordsIn(line: string): readonly string[] {
  return line.match(WORD) ?? [];
}

/** Tells whether a word is more than a number. */
export function isTelling(word: string): boolean {
  return TELLING.test(word);
}

/** Returns the telling words that a line has no more. */
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
