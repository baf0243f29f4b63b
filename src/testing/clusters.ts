import fc from 'fast-check';

/** Characters as readers see them, of several code points each: emoji sequences, flags, and letters with marks. */
export const CLUSTERS = [
  '👨‍👩‍👧‍👦',
  '🏳️‍🌈',
  '🇩🇪',
  '👍🏽',
  '3️⃣',
  'é̱', // e with two marks
  'क्षि',
  'ᄒ\u1161\u11ab', // a Hangul syllable of three letters
  '🐢',
] as const;

/** Texts of such characters, with hardly any spaces. */
export const clusterText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...CLUSTERS, ...CLUSTERS, 'a', 'b', ' ', '**'), { maxLength: 60 })
  .map((pieces) => pieces.join(''));
