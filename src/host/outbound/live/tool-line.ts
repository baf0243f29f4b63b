import { shortened } from '../../../lib/graphemes.ts';

const LONGEST = 60;

/**
 * Makes the line that says what a tool is doing: its own words, or words made from its name. They may come from a
 * container or another server, so nothing in them is read as Markdown or as a line of its own.
 */
export function toolLine(name: string, doing: string | undefined): string {
  const line = plain(doing ?? '');
  return line === '' ? `using ${plain(name.replace('__', ': ').replaceAll('_', ' '))}` : line;
}

function plain(text: string): string {
  const words = text
    .replace(/[\p{C}\p{Z}\s]+/gu, ' ')
    .replace(/[*_`~[\]<>#|\\]/g, '')
    .trim();
  return shortened(words, LONGEST);
}
