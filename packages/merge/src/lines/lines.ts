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
 * Returns a line of this content with this end. Content that itself ends in `\r` gets `\r\n` where `\n` was
 * asked for, which would make its last character part of the line end.
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
