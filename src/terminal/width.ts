import fastStringWidth from 'fast-string-width';

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Returns the number of terminal columns of a text; escape sequences take none. */
export function widthOf(text: string): number {
  return fastStringWidth(text);
}

/** Splits a text into characters as a reader sees them: an accent or a skin tone stays with its base. */
export function graphemesOf(text: string): readonly string[] {
  return [...GRAPHEMES.segment(text)].map(({ segment }) => segment);
}
