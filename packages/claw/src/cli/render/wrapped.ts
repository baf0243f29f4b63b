import { wrap } from '../../text/wrap.ts';
import type { Screen } from '../screen.ts';

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
