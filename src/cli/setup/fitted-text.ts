import { screenOf, wrapped } from '@patchclaw/claw/cli';

/** Columns that the bar of a question takes before each line. */
const BAR = 3;

/**
 * Returns a text with its lines broken between words for the terminal; for a pipe it stays as it is. A line
 * that is moved in stays whole: it is a command to copy.
 */
export function fitted(text: string): string {
  return fittedTo(text, 0);
}

/** Does the same for a text after the bar of a question. */
export function fittedAtBar(text: string): string {
  return fittedTo(text, BAR);
}

/** Does the same for a question that is answered by a line: its library draws the bar before the first line alone. */
export function fittedQuestion(text: string, bar: string): string {
  return fittedAtBar(text).replaceAll('\n', `\n${bar}  `);
}

function fittedTo(text: string, taken: number): string {
  const screen = screenOf(process.stderr, process.env);
  const columns = screen.columns === null ? null : screen.columns - taken;
  return text
    .split('\n')
    .flatMap((line) => (line.startsWith('  ') ? [line] : wrapped(line, { ...screen, columns })))
    .join('\n');
}
