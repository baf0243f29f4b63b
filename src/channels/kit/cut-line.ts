/** Marks around words, and links. Longer ones are cut like words: reading on would cost too much in a text of marks. */
const SPAN =
  /(?<mark>`+|\*{1,3}|_{1,3}|~~)(?=\S)(?<inner>[^\n]{1,600}?)(?<=\S)\k<mark>|\[[^\]\n]{0,600}\]\([^)\s]{0,600}\)/g;

type Span = { readonly start: number; readonly end: number };

/**
 * Cuts a line of Markdown into pieces of at most `limit` UTF-16 units: at a space, else anywhere, but not within what is
 * bold, italic, struck, code or a link, nor within a character. Where such a thing is too long itself, each piece of it
 * has its marks.
 */
export function cutLine(line: string, limit: number): readonly string[] {
  if (line.length <= limit) return [line];
  const text = line.replace(SPAN, (span, mark?: string, inner?: string) =>
    span.length <= limit || mark === undefined || inner === undefined || mark.length * 4 > limit
      ? span
      : cutLine(inner, limit - 2 * mark.length)
          .map((piece) => `${mark}${piece}${mark}`)
          .join(' '),
  );
  const spans = [...text.matchAll(SPAN)]
    .map((match): Span => ({ start: match.index, end: match.index + match[0].length }))
    .filter(({ start, end }) => end - start <= limit);
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > limit) {
    const end = placeToCut(text, { from, limit, spans });
    pieces.push(text.slice(from, end));
    from = text.charAt(end) === ' ' ? end + 1 : end;
  }
  return [...pieces, text.slice(from)];
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
    if (span === undefined) return space;
    space = text.lastIndexOf(' ', span.start);
  }
  const span = around(last);
  if (span !== undefined && span.start > from) return span.start;
  return /[\uD800-\uDBFF]/.test(text.charAt(last - 1)) ? last - 1 : last;
}
