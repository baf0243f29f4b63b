import { visible } from '@patchclaw/claw/text';
import { shortened } from '../../lib/graphemes.ts';

/** Returns a text of the project as a block of code, cut to some lines; nothing in it can end the block. */
export function quoted(text: string, maxLines: number, language = ''): string {
  const lines = plain(text).replace(/\n$/, '').split('\n');
  const more = lines.length - maxLines;
  // A note about one line left out would be as long as that line.
  const shown = more > 1 ? [...lines.slice(0, maxLines), `… (${more} more lines)`] : lines;
  const fence = fenceFor(shown);
  return [`${fence}${language}`, ...shown.map(cut), fence].join('\n');
}

/** Returns a line of the project's text, without characters that control a screen. */
export function oneLine(text: string, maxChars: number): string {
  const line = plain(text).replace(/\s+/g, ' ').trim();
  return shortened(line, maxChars);
}

const MAX_COLUMNS = 160;

function cut(line: string): string {
  return shortened(line, MAX_COLUMNS);
}

function plain(text: string): string {
  return visible(text.replaceAll('\t', '  '));
}

function fenceFor(lines: readonly string[]): string {
  const longest = Math.max(2, ...lines.map((line) => /`{3,}/.exec(line)?.[0].length ?? 0));
  return '`'.repeat(longest + 1);
}
