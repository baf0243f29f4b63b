import { beginningOf } from '../../lib/graphemes.ts';

/** Marks around words, and links. Longer ones are cut like words: reading on would cost too much in a text of marks. */
const SPAN =
  /(?<mark>`{2,}|\*{1,3}|_{1,3}|~~)(?=\S)(?<inner>[^\n]{1,600}?)(?<=\S)\k<mark>|`(?<code>[^`\n]{1,600})`|\[(?:[^[\]\n]|\[[^[\]\n]{0,600}\]){0,600}\]\([^)\s]{0,600}\)/g;

/** A mark that a space may carry, as in a table of accents: the two are one character. */
const CARRIES_MARK = /^[\p{M}\p{Emoji_Modifier}\u200d]/u;

type Span = { readonly start: number; readonly end: number };

/**
 * Cuts a line of Markdown into pieces of at most `limit` UTF-16 units: at a space, else anywhere, but not within what is
 * bold, italic, struck, code or a link, nor within an emoji sequence, a flag or an accented letter. Where such a thing is too long itself, each piece of it
 * has its marks.
 */
export function cutLine(line: string, limit: number): readonly string[] {
  if (line.length <= limit) return [line];
  const found = spansIn(line);
  const hasLong = found.some(({ start, end }) => end - start > limit);
  const text = hasLong ? withShortSpans(line, limit) : line;
  const spans = hasLong ? spansIn(text).filter(({ start, end }) => end - start <= limit) : found;
  const pieces: string[] = [];
  let [from, next] = [0, 0];
  while (text.length - from > limit) {
    while ((spans[next]?.end ?? text.length) < from) next += 1;
    // Each is a character long at least, so that no other can be in the way.
    const end = placeToCut(text, { from, limit, spans: spans.slice(next, next + limit + 1) });
    pieces.push(text.slice(from, end));
    from =
      text.charAt(end) === ' ' && !CARRIES_MARK.test(text.slice(end + 1, end + 3)) ? end + 1 : end;
  }
  return [...pieces, text.slice(from)];
}

function spansIn(line: string): readonly Span[] {
  return [...line.matchAll(SPAN)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}

function withShortSpans(line: string, limit: number): string {
  return line.replace(SPAN, (span, mark = '`', inner?: string, code?: string) => {
    const words = inner ?? code;
    if (span.length <= limit || words === undefined || mark.length * 4 > limit) return span;
    return cutLine(words, limit - 2 * mark.length)
      .map((piece) => `${mark}${piece}${mark}`)
      .join(' ');
  });
}

function placeToCut(
  text: string,
  { from, limit, spans }: { from: number; limit: number; spans: readonly Span[] },
): number {
  const last = from + limit;
  const around = (at: number) => spans.find(({ start, end }) => start < at && at < end);
  let space = text.lastIndexOf(' ', last);
  while (space > from + limit / 2) {
    const span = around(space);
    if (span === undefined && !CARRIES_MARK.test(text.slice(space + 1, space + 3))) return space;
    space = text.lastIndexOf(' ', span === undefined ? space - 1 : span.start);
  }
  const span = around(last);
  if (span !== undefined && span.start > from) return span.start;
  // What came before ends with a whole character, so that no more than this piece has to be read.
  return from + beginningOf(text.slice(from, last + 2), limit).length;
}
