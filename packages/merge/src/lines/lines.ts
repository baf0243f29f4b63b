import { mergeValue, type Versions } from '../versions.ts';

/** The names of the three versions in conflict markers. */
export type Labels = Versions<string>;

/** A stretch of a merged text: resolved lines, or lines on which the two sides disagree. */
export type Hunk =
  | { readonly kind: 'resolved'; readonly lines: readonly string[] }
  | ({ readonly kind: 'conflict' } & Versions<readonly string[]>);

/** A line's end: `''` only where the text ends without a newline. */
export type Terminator = '\n' | '\r\n' | '';

// By code: the end of every line is asked for, again and again.
const [LINE_FEED, RETURN] = [0x0a, 0x0d];

/**
 * Splits a text into lines that keep their terminators, so that joining them restores the text.
 *
 * Only `\n` and `\r\n` end a line; a lone `\r` is content. The empty text has no lines. Works on
 * decoded strings as well as on bytes read as latin1.
 */
export function splitLines(text: string): readonly string[] {
  const lines: string[] = [];
  let start = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    lines.push(text.slice(start, end + 1));
    start = end + 1;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

/** Returns the end of one line as {@link splitLines} cuts it. */
export function terminatorOf(line: string): Terminator {
  const last = line.length - 1;
  if (line.charCodeAt(last) !== LINE_FEED) return '';
  return line.charCodeAt(last - 1) === RETURN ? '\r\n' : '\n';
}

/** Returns the line without its end. */
export function contentOf(line: string): string {
  const { length } = terminatorOf(line);
  return length === 0 ? line : line.slice(0, line.length - length);
}

/**
 * Returns a line with this content and this end. If the content itself ends in `\r`, it gets `\r
 *
 * ` instead of `
 *
 * `: otherwise its last character would become part of the line end.
 */
export function endLine(content: string, terminator: '\n' | '\r\n'): string {
  return content + (content.endsWith('\r') ? '\r\n' : terminator);
}

/** Returns the end that most lines carry, `\n` when both are as many, `''` when no line has one. */
export function dominantTerminator(lines: readonly string[]): Terminator {
  let lf = 0;
  let crlf = 0;
  for (let index = 0; index < lines.length; index++) {
    const terminator = terminatorOf(lines[index] ?? '');
    if (terminator === '\n') lf++;
    else if (terminator === '\r\n') crlf++;
  }
  if (lf + crlf === 0) return '';
  return crlf > lf ? '\r\n' : '\n';
}

/** A leading byte order mark, in a decoded text or in bytes read as latin1; `''` for none. */
type Bom = '' | '\uFEFF' | '\xEF\xBB\xBF';

/** Returns the byte order mark at the beginning of a text. */
export function bomOf(lines: readonly string[]): Bom {
  const first = lines[0] ?? '';
  if (first.startsWith('\uFEFF')) return '\uFEFF';
  return first.startsWith('\xEF\xBB\xBF') ? '\xEF\xBB\xBF' : '';
}

/** Returns the text without its byte order mark; if there was nothing else, no line is left. */
export function withoutBom(lines: readonly string[]): readonly string[] {
  const bom = bomOf(lines);
  const [first, ...rest] = bom === '' ? [] : lines;
  if (first === undefined) return lines;
  return first === bom ? rest : [first.slice(bom.length), ...rest];
}

/** Puts a byte order mark before the text. It becomes the only line if there are no others. */
export function withBom(lines: readonly string[], bom: Bom): readonly string[] {
  if (bom === '') return lines;
  const [first = '', ...rest] = lines;
  return [bom + first, ...rest];
}

/** Line ends of a merged text, decided for the whole file before any line is written. */
export type LineEnds = {
  /** The end that most lines of each side have. */
  readonly dominant: Versions<Terminator>;
  /** The end that most lines of the merged text get. */
  readonly target: '\n' | '\r\n';
  /** True if the last line ends with a newline; null where a side without lines decides that. */
  readonly isFinalEnded: boolean | null;
};

/** Merges two properties of three texts: the line end that they use, and whether the last line has one. */
export function mergeLineEnds(versions: Versions<readonly string[]>): LineEnds {
  const dominant = mapVersions(versions, dominantTerminator);
  const { base, ours, theirs } = dominant;
  return {
    dominant,
    target: mergeValue(dominant) || ours || theirs || base || '\n',
    isFinalEnded: mergeValue(mapVersions(versions, isFinalEnded)),
  };
}

/**
 * Returns a line of one side as the merged text writes it. A line with the side's usual end gets the merged text's
 * usual end; any other stays as it is, so an odd line of a file with mixed ends stays odd.
 */
export function toTarget(line: string, side: keyof Versions<unknown>, ends: LineEnds): string {
  const from = ends.dominant[side];
  if (from === '' || from === ends.target || terminatorOf(line) !== from) return line;
  return endLine(contentOf(line), ends.target);
}

/**
 * Ends every line that is not the last of the text, and the last one as the merge decided.
 *
 * The sides of a conflict at the end of the text keep their own last ends: until a side is chosen there is no
 * merged last line.
 */
export function closeLines(hunks: readonly Hunk[], ends: LineEnds): readonly Hunk[] {
  return hunks.map((hunk, index) => {
    const isLast = index === hunks.length - 1;
    if (hunk.kind === 'resolved') {
      return { kind: 'resolved', lines: closeResolved(hunk.lines, isLast, ends) };
    }
    if (isLast) return hunk;
    return { kind: 'conflict', ...mapVersions(hunk, (lines) => closeAll(lines, ends)) };
  });
}

function closeResolved(lines: readonly string[], isLast: boolean, ends: LineEnds) {
  const closed = closeAll(lines, ends);
  const final = lines.at(-1);
  if (!isLast || final === undefined) return closed;
  return [...closed.slice(0, -1), closeFinal(final, ends)];
}

function closeAll(lines: readonly string[], { target }: LineEnds): readonly string[] {
  return lines.map((line) => (terminatorOf(line) === '' ? endLine(line, target) : line));
}

function closeFinal(line: string, { isFinalEnded, target }: LineEnds): string {
  if (isFinalEnded === null || isFinalEnded === line.endsWith('\n')) return line;
  if (isFinalEnded) return endLine(line, target);
  // A blank line is nothing but its end.
  return contentOf(line) || line;
}

function isFinalEnded(lines: readonly string[]): boolean | null {
  return lines.at(-1)?.endsWith('\n') ?? null;
}

/** The three versions' names, for what needs the name beside the version. */
export const NAMES: Versions<keyof Versions<unknown>> = {
  base: 'base',
  ours: 'ours',
  theirs: 'theirs',
};

/** Applies a function to all three versions. */
export function mapVersions<T, R>(
  { base, ours, theirs }: Versions<T>,
  map: (version: T) => R,
): Versions<R> {
  return { base: map(base), ours: map(ours), theirs: map(theirs) };
}
