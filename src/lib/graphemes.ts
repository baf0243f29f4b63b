const SEGMENTER = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Splits a text into characters as a reader sees them: an accent or a skin tone stays with its base. */
export function graphemesOf(text: string): readonly string[] {
  return [...SEGMENTER.segment(text)].map(({ segment }) => segment);
}

/**
 * Returns the beginning of a text, at most `length` UTF-16 units. No emoji sequence, flag or accented letter is cut; one
 * that is longer than `length` itself is cut between code points.
 */
export function beginningOf(text: string, length: number): string {
  if (text.length <= length) return text;
  if (length <= 0) return '';
  // The boundary at `length` depends on the code point that follows it, and on nothing further on.
  const start = SEGMENTER.segment(text.slice(0, length + 2)).containing(length)?.index ?? length;
  if (start > 0) return text.slice(0, start);
  return text.slice(0, /[\uD800-\uDBFF]/.test(text.charAt(length - 1)) ? length - 1 : length);
}

/** Shortens a text to `length` UTF-16 units, with `…` at its end; a text that fits stays as it is. */
export function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${beginningOf(text, length - 1).trimEnd()}…`;
}
