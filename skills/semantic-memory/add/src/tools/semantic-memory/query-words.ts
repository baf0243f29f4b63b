import { folded } from './hash-embedder.ts';

const WORD = /[\p{L}\p{N}]+/gu;
/** The full-text index finds words by the spaces between them, which these scripts do not write. */
const UNSPACED =
  /([\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}])/gu;

/** Returns a text as the full-text index gets it: signs of scripts without spaces are words of their own. */
export function spaced(text: string): string {
  return text.replace(UNSPACED, ' $1 ');
}

/** Returns the words of a text as the index keeps them, each once. */
export function wordsOf(text: string): readonly string[] {
  const words = [...folded(spaced(text)).matchAll(WORD)].map(([word]) => word);
  return [...new Set(words)];
}

/** A word and the number of notes that have it. */
export type CountedWord = { readonly word: string; readonly notes: number };

/**
 * Chooses the words that tell notes apart: the rarest first, as many as the index can rank at once. A word
 * that half of the notes have would cost most of the time and change nothing in the order.
 */
export function tellingWords(words: readonly CountedWord[], mostNotes: number): readonly string[] {
  let left = mostNotes;
  const chosen: string[] = [];
  const known = words.filter(({ notes }) => notes > 0);
  for (const { word, notes } of known.toSorted((one, other) => one.notes - other.notes)) {
    if (notes > left) break;
    left -= notes;
    chosen.push(word);
  }
  return chosen;
}
