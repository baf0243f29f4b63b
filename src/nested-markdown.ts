/** Marks of lists and quotes, and the spaces between them. */
const DEEP = /^(?:[ \t]|>|[*+-](?=[ \t])|\d{1,9}[.)](?=[ \t])){200}/m;

/**
 * Calls what reads Markdown, unless lists or quotes are nested deeper than anybody writes: reading that
 * takes minutes, or all of the stack, and it may be a model or a stranger who wrote it.
 *
 * @returns what `otherwise` makes of the text then
 */
export function unlessNested<T>(
  markdown: string,
  read: (markdown: string) => T,
  otherwise: (markdown: string) => T,
): T {
  if (DEEP.test(markdown)) return otherwise(markdown);
  try {
    return read(markdown);
  } catch (error) {
    if (error instanceof RangeError) return otherwise(markdown);
    throw error;
  }
}
