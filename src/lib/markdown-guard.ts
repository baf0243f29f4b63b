/** Marks of lists and quotes, and the spaces between them. */
const DEEP = /^(?:[ \t]|>|[*+-](?=[ \t])|\d{1,9}[.)](?=[ \t])){200}/m;

/** Longer runs of one sign are not Markdown that a person writes. */
const LONG_RUN = 1_000;
/** A reader looks for the end of each mark up to the end of its paragraph. */
const LONG_PARAGRAPH = 50_000;

/**
 * Calls a reader of Markdown, unless lists or quotes are nested deeper than people write, a paragraph is too long, or
 * one sign is repeated without end. Reading such a text takes minutes or overflows the stack, and a model or a
 * stranger may have written it.
 *
 * @returns what `otherwise` makes of the text then
 */
export function unlessNested<T>(
  markdown: string,
  read: (markdown: string) => T,
  otherwise: (markdown: string) => T,
): T {
  if (DEEP.test(markdown) || hasLongRun(markdown) || hasLongParagraph(markdown)) {
    return otherwise(markdown);
  }
  try {
    return read(markdown);
  } catch (error) {
    if (error instanceof RangeError) return otherwise(markdown);
    throw error;
  }
}

function hasLongRun(text: string): boolean {
  let run = 1;
  for (let at = 1; at < text.length; at += 1) {
    run = text.charCodeAt(at) === text.charCodeAt(at - 1) ? run + 1 : 1;
    if (run >= LONG_RUN && text[at] !== ' ') return true;
  }
  return false;
}

function hasLongParagraph(text: string): boolean {
  if (text.length <= LONG_PARAGRAPH) return false;
  return text.split('\n\n').some((paragraph) => paragraph.length > LONG_PARAGRAPH);
}
