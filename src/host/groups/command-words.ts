/** A word of a command. Text in quotes is one word, and never a keyword. */
export type Word = { readonly text: string; readonly isQuoted: boolean };

/** Splits a typed text at spaces; `"Family Chat"` and `“Family Chat”` are one word. */
export function wordsOf(typed: string): readonly Word[] {
  const found = typed.matchAll(/["“”„]([^"“”„]*)["“”„]|[^\s"“”„]+/gu);
  return [...found].map(([whole, quoted]) => ({
    text: (quoted ?? whole).trim(),
    isQuoted: quoted !== undefined,
  }));
}

export function joined(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(' ');
}

/**
 * Splits words after the longest beginning that means something: a chat's name can have several words, and so can the
 * text after it.
 *
 * @returns null when no beginning means anything
 */
export function longestMatchingPrefix<T>(
  words: readonly Word[],
  meaning: (typed: string) => T | null,
): { readonly meant: T; readonly rest: readonly Word[] } | null {
  for (let count = words.length; count > 0; count--) {
    const meant = meaning(joined(words.slice(0, count)));
    if (meant !== null) return { meant, rest: words.slice(count) };
  }
  return null;
}
