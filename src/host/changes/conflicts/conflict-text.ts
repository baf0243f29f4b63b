import { oneLine, quoted } from '../quoted.ts';
import type { WaitingConflict } from '../waiting.ts';

const SIDE_LINES = 6;
const SHOWN_HUNKS = 2;

/** Returns a conflict in a few lines: where it is, and what each side wants there. */
export function conflictText(conflict: WaitingConflict): string {
  const { path, lines, layers, reason } = conflict;
  const [line] = lines;
  const place = line === undefined ? path : `${path}:${line}`;
  return [`\`${place}\`, ${layers.join(' against ')}. ${reason}`, ...sidesText(conflict)].join(
    '\n\n',
  );
}

function sidesText(conflict: WaitingConflict): readonly string[] {
  const { hunks, values, layers, sizes, notes } = conflict;
  const titles = layers.map((layer) => `${layer}${noteOf(notes, layer)}:`);
  const [ours = '', theirs = ''] = titles;
  if (values !== null) {
    return [
      `${ours} ${inCode(valueText(values.ours))}`,
      `${theirs} ${inCode(valueText(values.theirs))}`,
    ];
  }
  if (hunks.length === 0)
    return [`${ours} ${sizeText(sizes.ours)}`, `${theirs} ${sizeText(sizes.theirs)}`];
  const shown = hunks
    .slice(0, SHOWN_HUNKS)
    .flatMap((hunk, at) => [
      ...(at > 0 ? [`And at line ${conflict.lines[at]}:`] : []),
      `${ours}\n${linesText(hunk.ours)}`,
      `${theirs}\n${linesText(hunk.theirs)}`,
    ]);
  const more = hunks.length - SHOWN_HUNKS;
  return more > 0
    ? [...shown, `And ${more} more ${more === 1 ? 'place' : 'places'} in this file.`]
    : shown;
}

/** Returns a value as it is read and typed. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value), 120);
}

function inCode(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}

function linesText(text: string): string {
  return text === '' ? '(no lines)' : quoted(text, SIDE_LINES);
}

function sizeText(size: number | null): string {
  return size === null ? 'no such file' : `${size} bytes`;
}

/** Returns the part of a layer's notes that says what to keep, else its first line. */
function noteOf(notes: string | null, layer: string): string {
  const [, section = ''] = (notes ?? '').split(new RegExp(`^# ${escaped(layer)} \\S+$`, 'm'));
  const own = section.split(/^# \S+ \d+\.\d+\.\d+\S*$/m)[0] ?? '';
  const lines = own.split('\n').filter((line) => /\w/.test(line) && !line.startsWith('#'));
  const note = lines.find((line) => /must keep/i.test(line)) ?? lines[0];
  return note === undefined ? '' : ` (${oneLine(note.replaceAll('**', ''), 140)})`;
}

function escaped(text: string): string {
  return text.replace(/[^\w]/g, '\\$&');
}
