import { shortened } from '../../lib/graphemes.ts';
/** Returns a text on one line of at most `length` characters; `…` replaces the rest. */
export function oneLine(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return shortened(line, length);
}
