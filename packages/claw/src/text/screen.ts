import { escapeOf } from './visible-text.ts';
import { wrap } from './wrap.ts';

/** A place where text is shown; a pipe has neither colours nor a width. */
export type Screen = { readonly hasColours: boolean; readonly columns: number | null };

export const PIPE: Screen = { hasColours: false, columns: null };

const COLOURS = { dim: 2, red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36 } as const;

export type Colour = keyof typeof COLOURS;

/** @param environment `NO_COLOR` and `TERM` count */
export function screenOf(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  environment: Readonly<Record<string, string | undefined>>,
): Screen {
  if (stream.isTTY !== true) return PIPE;
  const hasColours = !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
  return { hasColours, columns: stream.columns ?? 80 };
}

export function painted(text: string, colour: Colour, { hasColours }: Screen): string {
  return hasColours && text !== '' ? `\x1b[${COLOURS[colour]}m${text}\x1b[0m` : text;
}

// Controls steer a terminal, and these of bidirectional text show a line in another order than it has.
const STEERING = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n|$)/g;
const PAINT = Object.values({ ...COLOURS, end: 0 }).join('|');
const PAINT_OR_STEERING = new RegExp(`(\\x1b\\[(?:${PAINT})m)|${STEERING.source}`, 'g');

/** A text of strangers as a terminal may have it: what would steer the terminal is written as its escape. */
export function harmless(text: string): string {
  return text.replace(STEERING, escapeOf);
}

/** Lines of our own in which strangers are quoted: what `painted` wrote stays as well. */
export function harmlessLines(lines: string): string {
  return lines.replace(PAINT_OR_STEERING, (found, paint) =>
    paint === undefined ? escapeOf(found) : found,
  );
}

/** Text of a file: for a program it stays as it is. */
export function shown(text: string, { columns }: Screen): string {
  return columns === null ? text : harmless(text);
}

/** Cut to a number of characters, so that it stays on its line. */
export function cut(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}

/**
 * Breaks a line between words where it would run over the edge of a screen; for a pipe it stays as it is.
 *
 * @param hang columns that the lines after the first are moved in by
 */
export function wrapped(line: string, { columns }: Screen, hang = 0): readonly string[] {
  if (columns === null || columns - hang < 20) return [line];
  const [first = '', ...rest] = wrap(line, columns).split('\n');
  if (rest.length === 0 || hang === 0) return [first, ...rest];
  const more = wrap(rest.join(' '), columns - hang).split('\n');
  return [first, ...more.map((part) => `${' '.repeat(hang)}${part}`)];
}
