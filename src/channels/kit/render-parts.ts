import { type Notation, renderMarkdown } from './markdown.ts';
import { splitMarkdown } from './split-markdown.ts';

/** One message of several: in the messenger's notation, and as it was written. */
export type Part = { readonly text: string; readonly plain: string };

/**
 * Turns Markdown of any length into messages that fit, in order. Text without words gives none.
 *
 * @param limit the longest message, as `lengthOf` counts: UTF-16 units of the text by default
 * @param room the length of the Markdown to begin with, which may become longer when it is rendered
 */
export function renderParts(
  markdown: string,
  notation: Notation,
  {
    limit,
    lengthOf = (text) => text.length,
    room = limit,
  }: {
    readonly limit: number;
    readonly lengthOf?: (text: string) => number;
    readonly room?: number;
  },
): readonly Part[] {
  return splitMarkdown(markdown, room).flatMap((plain): readonly Part[] => {
    const rendered = renderMarkdown(plain, notation).trim();
    const text = rendered === '' || lengthOf(rendered) === 0 ? notation.escape(plain) : rendered;
    const length = lengthOf(text);
    if (length <= limit || room < SMALLEST_ROOM) return [{ text, plain }];
    // Each further try reads the text again: one that became much longer is cut to fit at once.
    const share = Math.min(0.75, limit / length);
    return renderParts(plain, notation, { limit, lengthOf, room: Math.floor(room * share) });
  });
}

/** So little Markdown fits whatever becomes of it. */
const SMALLEST_ROOM = 16;
