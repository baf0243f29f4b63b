const [BACKSLASH, NEWLINE, SLASH, SQUARE, SQUARE_END] = [92, 10, 47, 91, 93];
/** Characters before a slash that begins a pattern; after others it divides. */
const BEFORE_PATTERN = new Set([...'(,=:[!&|?{;+-*%>~^'].map((sign) => sign.charCodeAt(0)));
const WORD_BEFORE =
  /\b(?:return|typeof|case|in|of|void|delete|instanceof|throw|new|do|else|yield|await)\s*$/;

/** Tells whether a slash begins a pattern, by the character before it, space and comments apart. */
export function isPatternAt(text: string, column: number, last: number): boolean {
  return BEFORE_PATTERN.has(last) || WORD_BEFORE.test(text.slice(Math.max(0, column - 12), column));
}

/** Returns the column of the quote that ends a text in quotes; the same where the line has none, as in words of JSX. */
export function endOfText(text: string, column: number): number {
  const quote = text.charCodeAt(column);
  for (let end = column + 1; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === quote) return end;
    if (code === NEWLINE) break;
    if (code === BACKSLASH) end++;
  }
  return column;
}

/** Returns the column of the slash that ends a pattern; the same where the line has none. */
export function endOfPattern(text: string, column: number): number {
  let isClass = false;
  for (let end = column + 1; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === SLASH && !isClass) return end;
    if (code === NEWLINE) break;
    if (code === BACKSLASH) end++;
    else if (code === SQUARE) isClass = true;
    else if (code === SQUARE_END) isClass = false;
  }
  return column;
}
