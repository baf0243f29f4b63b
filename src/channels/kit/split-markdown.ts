import { cutLine } from './cut-line.ts';

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
