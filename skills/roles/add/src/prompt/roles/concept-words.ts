/** A word of a term or a message. */
export type Word = {
  readonly shown: string;
  /** Without case and accents. */
  readonly folded: string;
  /** The key of an index: words that agree have the same. */
  readonly beginning: string;
};

/** Scripts without spaces between words: each sign is a word, and a term is a row of them. */
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const WORD = new RegExp(
  `${UNSPACED.source}\\p{M}*|(?:(?!${UNSPACED.source})[\\p{L}\\p{N}\\p{M}])+`,
  'gu',
);
/** Shorter words agree only where they are the same. */
const STEM = 4;

/** Returns the words of a text, in its order. */
export function wordsOf(text: string): readonly Word[] {
  return [...text.normalize('NFC').matchAll(WORD)].map(([shown]) => {
    const folded = foldedWord(shown);
    return { shown, folded, beginning: folded.slice(0, STEM) };
  });
}

function foldedWord(word: string): string {
  const plain = word
    .normalize('NFKD')
    .replace(/\p{Mn}+/gu, '')
    .toLowerCase();
  // The one plural of English whose stem changes.
  return plain.length > STEM && plain.endsWith('ies') ? `${plain.slice(0, -3)}y` : plain;
}

/**
 * Tells whether two words are the same, or forms of one: tomato and tomatoes, Rose and Rosen, pomodoro and pomodori. It
 * knows no language, so that it works in all that inflect at the end; plan and plant pass for forms of one word.
 */
export function agreementOf(
  { folded: one }: Word,
  { folded: other }: Word,
): 'same' | 'form' | 'none' {
  if (one === other) return 'same';
  if (one.length < STEM || other.length < STEM || /\p{N}/u.test(one + other)) return 'none';
  let common = 0;
  while (common < one.length && one[common] === other[common]) common += 1;
  const [shorter, longer] = [
    Math.min(one.length, other.length),
    Math.max(one.length, other.length),
  ];
  if (longer - common > 2) return 'none';
  return common === shorter || common > STEM ? 'form' : 'none';
}
