const [BACKSLASH, NEWLINE, SLASH, SQUARE, SQUARE_END] = [92, 10, 47, 91, 93];
/** Characters before a slash that begins a pattern; after others it divides. */
const BEFORE_PATTERN = new Set([...'(,=:[!&|?{;+-*%>~^'].map((sign) => sign.charCodeAt(0)));
const WORD_BEFORE =
  /\b(?:return|typeof|case|in|of|void|delete|instanceof|throw|new|do|else|yield|await)\s*$/;

/**
 * Tells whether a slash begins a pattern, by the character before it, space and comments apart, and the word before it
 * on its line.
 */
export function isPatternAt(text: string, at: number, lineStart: number, last: number): boolean {
  if (BEFORE_PATTERN.has(last)) return true;
  return WORD_BEFORE.test(text.slice(Math.max(lineStart, at - 12), at));
}

/** Returns the place of the quote that ends a text in quotes; the same where the line has none, as in words of JSX. */
export function endOfText(text: string, at: number): number {
  const quote = text.charCodeAt(at);
  for (let end = at + 1; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === quote) return end;
    if (code === NEWLINE) break;
    if (code === BACKSLASH && text.charCodeAt(end + 1) !== NEWLINE) end++;
  }
  return at;
}

/** Returns the place of the slash that ends a pattern; the same where the line has none. */
export function endOfPattern(text: string, at: number): number {
  let isClass = false;
  for (let end = at + 1; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === SLASH && !isClass) return end;
    if (code === NEWLINE) break;
    if (code === BACKSLASH && text.charCodeAt(end + 1) !== NEWLINE) end++;
    else if (code === SQUARE) isClass = true;
    else if (code === SQUARE_END) isClass = false;
  }
  return at;
}
