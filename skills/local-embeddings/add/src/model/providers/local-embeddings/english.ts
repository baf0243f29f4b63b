/** English words that other languages written in Latin letters do not have. */
const ENGLISH =
  /\b(?:the|and|to|for|with|that|it|my|our|you|your|are|not|from|when|where|what|who|how|has|have|at|by|this|there|which|should)\b/i;

/** Letters for each piece: below the first the text is in another language, from the second on it is English. */
const FOREIGN = 2.2;
const CERTAIN = 3;
/** A shorter text need not have one of the words above. */
const FEW_WORDS = 3;

/**
 * Tells whether a text is in English, by the pieces in which the model's vocabulary takes it apart: English comes in
 * whole words, other languages in syllables and letters. To the model all texts of another language look alike, so that
 * it would find any of them for each.
 */
export function isEnglish(text: string, pieces: readonly string[]): boolean {
  const letters = lettersIn(text);
  const known = pieces.map(lettersIn).filter((count) => count > 0);
  // Letters that are in no piece are of a script that the model does not know: each counts as a piece.
  const unknown = Math.max(0, letters - known.reduce((sum, count) => sum + count, 0));
  const lettersEach = letters / Math.max(1, known.length + unknown);
  if (lettersEach < FOREIGN) return false;
  const words = text.match(/\p{L}+/gu)?.length ?? 0;
  return lettersEach >= CERTAIN || words <= FEW_WORDS || ENGLISH.test(text);
}

function lettersIn(text: string): number {
  return text.match(/\p{L}/gu)?.length ?? 0;
}
