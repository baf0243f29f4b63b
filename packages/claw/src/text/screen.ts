import { wrap } from './wrap.ts';

/** A place where text is shown; a pipe has neither colours nor a width. */
export type Screen = { readonly hasColours: boolean; readonly columns: number | null };

export const PIPE: Screen = { hasColours: false, columns: null };

const COLOURS = { dim: 2, red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36 } as const;

export type Colour = keyof typeof COLOURS;

/** @param environment `NO_COLOR` counts */
export function screenOf(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  environment: Readonly<Record<string, string | undefined>>,
): Screen {
  if (stream.isTTY !== true) return PIPE;
  return { hasColours: !environment['NO_COLOR'], columns: stream.columns ?? 80 };
}

export function painted(text: string, colour: Colour, { hasColours }: Screen): string {
  return hasColours && text !== '' ? `\x1b[${COLOURS[colour]}m${text}\x1b[0m` : text;
}

/** Text of a file as a terminal may have it: what would steer the terminal is shown, not done. */
export function shown(text: string, { columns }: Screen): string {
  return columns === null ? text : text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '\uFFFD');
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
