import { beginningOf } from '../../lib/graphemes.ts';

/** Room for closing a code fence at the end of a part and opening it again in the next. */
const FENCE_ROOM = 64;
const FENCE = /^ {0,3}(`{3,8}|~{3,8})([^`\n]{0,40})/;

/**
 * Splits Markdown into parts of at most `limit` UTF-16 units: between paragraphs, as many to a part as
 * fit; a paragraph that is too long between its lines; a line that is too long at a space or anywhere, but not within what is bold, code or a link.
 *
 * A code block that spans parts is a code block in each of them, and a table has its head in each of them. Parts without words are left out.
 */
export function splitMarkdown(text: string, limit: number): readonly string[] {
  if (text.length <= limit) return text.trim() === '' ? [] : [text];
  const hasFence = text.split('\n').some((line) => FENCE.test(line));
  const room = hasFence ? limit - FENCE_ROOM : limit;
  const parts = pack(text.split('\n\n'), '\n\n', room, (paragraph) =>
    hasFence ? packLines(paragraph.split('\n'), room) : packTable(paragraph.split('\n'), room),
  );
  const whole = hasFence ? mendFences(parts) : parts;
  return whole.filter((part) => part.trim() !== '');
}

function packLines(lines: readonly string[], room: number): readonly string[] {
  return pack(lines, '\n', room, (line) => cutLine(line, room));
}

/** Marks around words, and links. Longer ones are cut like words: reading on would cost too much in a text of marks. */
const SPAN =
  /(?<mark>`{2,}|\*{1,3}|_{1,3}|~~)(?=\S)(?<inner>[^\n]{1,600}?)(?<=\S)\k<mark>|`(?<code>[^`\n]{1,600})`|\[(?:[^[\]\n]|\[[^[\]\n]{0,600}\]){0,600}\]\([^)\s]{0,600}\)/g;

/** A mark that a space may carry, as in a table of accents: the two are one character. */
const CARRIES_MARK = /^[\p{M}\p{Emoji_Modifier}\u200d]/u;

type Span = { readonly start: number; readonly end: number };

/**
 * Cuts a line of Markdown into pieces of at most `limit` UTF-16 units: at a space, otherwise anywhere, but not inside
 * bold, italic or struck text, code or a link, nor inside an emoji sequence, a flag or an accented letter. If such a
 * thing is itself too long, each piece of it gets its marks.
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

const TABLE_RULE = /^ {0,3}\|?(\s*:?-+:?\s*\|)+(\s*:?-+:?\s*)?$/;

/** Packs lines that may end with a table: each part of its rows gets its head. */
function packTable(lines: readonly string[], room: number): readonly string[] {
  const rule = lines.findIndex((line, at) => at > 0 && TABLE_RULE.test(line));
  const head = rule === -1 ? '' : lines.slice(rule - 1, rule + 1).join('\n');
  // A head that takes half of each message is not worth it.
  if (head === '' || head.length > room / 2 || !lines[rule - 1]?.includes('|')) {
    return packLines(lines, room);
  }
  const rows = packLines(lines.slice(rule + 1), room - head.length - 1);
  return [...packLines(lines.slice(0, rule - 1), room), ...rows.map((part) => `${head}\n${part}`)];
}

function pack(
  pieces: readonly string[],
  separator: string,
  limit: number,
  smaller: (piece: string) => readonly string[],
): readonly string[] {
  const parts: string[] = [];
  for (const piece of pieces.flatMap((it) => (it.length <= limit ? [it] : smaller(it)))) {
    const last = parts.at(-1);
    if (last !== undefined && last.length + separator.length + piece.length <= limit) {
      parts[parts.length - 1] = last + separator + piece;
    } else {
      parts.push(piece);
    }
  }
  return parts;
}

function mendFences(parts: readonly string[]): readonly string[] {
  let open: { mark: string; opening: string } | null = null;
  return parts.map((part) => {
    const opening: string = open === null ? '' : `${open.opening}\n`;
    for (const line of part.split('\n')) {
      const [opened, mark = ''] = FENCE.exec(line) ?? [];
      if (opened === undefined) continue;
      if (open === null) open = { mark, opening: opened };
      else if (mark.startsWith(open.mark) && line.trim() === mark) open = null;
    }
    return `${opening}${part}${open === null ? '' : `\n${open.mark}`}`;
  });
}
