import { stripVTControlCharacters } from 'node:util';

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });
const INVISIBLE = /^[\p{M}\p{Cf}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\uFE0F/u;
const HALF_WIDTH = /^[\uff61-\uffdc]/u;
const EAST_ASIAN =
  /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Yi}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;

/** Returns the number of terminal columns of a text; escape sequences take none. */
export function widthOf(text: string): number {
  const visible = stripVTControlCharacters(text);
  if (/^[\x20-\x7e]*$/.test(visible)) return visible.length;
  return graphemesOf(visible).reduce((sum, grapheme) => sum + widthOfGrapheme(grapheme), 0);
}

/** Splits a text into characters as a reader sees them: an accent or a skin tone stays with its base. */
export function graphemesOf(text: string): readonly string[] {
  return [...GRAPHEMES.segment(text)].map(({ segment }) => segment);
}

function widthOfGrapheme(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0;
  if (EMOJI.test(grapheme)) return 2;
  return EAST_ASIAN.test(grapheme) && !HALF_WIDTH.test(grapheme) ? 2 : 1;
}
