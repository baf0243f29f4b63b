/** A piece of a Markdown file or of a message, small enough to be one note. */
export type Paragraph = {
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
  /** The heading above it; null for none. */
  readonly heading: string | null;
  readonly text: string;
};

/** A note is cut at this length, in characters. */
export const MAX_NOTE = 1_000;

/** Notes of fewer letters and digits tell nothing when they are found: `ok`, `thanks`. */
const LEAST = 8;
const LETTER = /[\p{L}\p{N}]/gu;

/** Takes a Markdown file apart at blank lines, headings and items of lists. */
export function paragraphsOf(markdown: string): readonly Paragraph[] {
  const found: Paragraph[] = [];
  let heading: string | null = null;
  let lines: string[] = [];
  let begin = 1;
  const end = () => {
    for (const text of piecesOf(lines.join('\n'))) found.push({ line: begin, heading, text });
    lines = [];
  };
  for (const [index, line] of markdown.split(/\r\n|\r|\n/).entries()) {
    const title = titleIn(line);
    if (title !== null || line.trim() === '' || /^\s{0,3}([-*+]|\d+[.)])\s/.test(line)) end();
    if (title !== null) heading = title;
    else if (line.trim() !== '') {
      if (lines.length === 0) begin = index + 1;
      lines.push(line);
    }
  }
  end();
  return found;
}

/** Returns the words of a heading, without the signs that may be after them too; null for another line. */
function titleIn(line: string): string | null {
  const [, rest] = /^#{1,6}\s(.*)$/s.exec(line) ?? [];
  // A run of signs is looked at from its beginning alone: from each of them, a long one would take its square.
  return (
    rest
      ?.trim()
      .replace(/(?<!#)#+$/, '')
      .trimEnd() ?? null
  );
}

/** Cuts a text into notes, at the ends of sentences and words where it can; none of a text that says nothing. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let rest = text.trim();
  while (rest.length > MAX_NOTE) {
    const head = rest.slice(0, MAX_NOTE);
    const at = [/[.!?]\s(?!.*[.!?]\s)/s, /\s(?!.*\s)/s].map((end) => head.search(end));
    const cut = at.find((each) => each > MAX_NOTE / 2) ?? MAX_NOTE - 1;
    pieces.push(rest.slice(0, cut + 1).trim());
    rest = rest.slice(cut + 1).trim();
  }
  pieces.push(rest);
  return pieces.filter((piece) => (piece.match(LETTER)?.length ?? 0) >= LEAST);
}
