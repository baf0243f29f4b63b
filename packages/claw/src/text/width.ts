import fastStringWidth from 'fast-string-width';

/** Returns the number of terminal columns of a text; escape sequences take none. */
export function widthOf(text: string): number {
  return fastStringWidth(text);
}
