import {
  contentOf,
  dominantTerminator,
  type Hunk,
  type Labels,
  splitLines,
  terminatorOf,
} from './lines/lines.ts';

const MIN_SIZE = 7;

/** A text with conflict markers, and how many characters long each of them is. */
export type Rendered = { readonly text: string; readonly markerSize: number };

type Marker = keyof typeof CHARACTERS;

/**
 * Writes hunks as one text with conflict markers, in git's diff3 style.
 *
 * Nothing is lost: markers are longer than any run of marker characters that a line begins with,
 * they end as the text's own lines mostly do, and a side whose last line has no newline is noted
 * on the marker line that names it. `parseConflicts` gives the same hunks back.
 *
 * @param hunks as `mergeLines` makes them: resolved hunks are not empty, do not follow each other,
 *   and end with a newline where a conflict follows
 * @param labels for all conflicts, or for each of them in order
 */
export function renderConflicts(
  hunks: readonly Hunk[],
  labels: Labels | readonly Labels[],
): Rendered {
  const lines = hunks.flatMap(linesOf);
  const end = dominantTerminator(lines) || '\n';
  const markerSize = Math.max(MIN_SIZE, 1 + lines.reduce(longestRun, 0));
  const marked = (marker: Marker, label: string, side: readonly string[]) =>
    markerLine(marker, markerSize, { label, isUnended: isUnended(side) }) + end;
  const closed = (side: readonly string[]) => side.join('') + (isUnended(side) ? end : '');
  const each = 'base' in labels ? [] : [...labels];
  const parts = hunks.map((hunk) => {
    if (hunk.kind === 'resolved') return hunk.lines.join('');
    const { base, ours, theirs } = hunk;
    const named = 'base' in labels ? labels : each.shift();
    return [
      marked('ours', named?.ours ?? '', ours) + closed(ours),
      marked('base', named?.base ?? '', base) + closed(base),
      marked('theirs', '', []) + closed(theirs),
      marked('end', named?.theirs ?? '', theirs),
    ].join('');
  });
  return { text: parts.join(''), markerSize };
}

/** The character that each kind of marker line repeats. */
const CHARACTERS = { ours: '<', base: '|', theirs: '=', end: '>' } as const;

const SIGNS = Object.values(CHARACTERS).join('');

/** Says on a marker line that the side it names has no newline after its last line. */
const NOTE = '(no newline at end)';

/** Returns a marker line without its end. The note, if any, is about the side that the label names. */
function markerLine(
  marker: Marker,
  size: number,
  { label, isUnended }: { readonly label: string; readonly isUnended: boolean },
): string {
  const words = [CHARACTERS[marker].repeat(size), readable(label), isUnended ? NOTE : ''];
  return words.filter((word) => word !== '').join(' ');
}

/** Recognises a marker line of a rendered text whose markers are `size` long; null for content. */
export function markerOf(line: string, size: number): Marker | null {
  for (const marker of ['ours', 'base', 'theirs', 'end'] as const) {
    if (line.startsWith(CHARACTERS[marker].repeat(size))) return marker;
  }
  return null;
}

/** Counts the equal marker characters that a line begins with. */
function markerRun(line: string): number {
  const sign = line[0] ?? ' ';
  if (!SIGNS.includes(sign)) return 0;
  let length = 1;
  while (line[length] === sign) length++;
  return length;
}

/** Tells whether a marker line, without its end, carries the note. */
function saysUnended(content: string): boolean {
  return content.endsWith(` ${NOTE}`);
}

/** Makes a label fit on one line, and strips an ending that could pass for the note. */
function readable(label: string): string {
  const oneLine = label.replaceAll(/[\0-\x1f\x7f]+/g, ' ').trim();
  return oneLine.endsWith(NOTE) ? readable(oneLine.slice(0, -NOTE.length)) : oneLine;
}

/**
 * Reads a text that {@link renderConflicts} wrote back into its hunks; labels are dropped.
 *
 * Never throws: in a text that was broken by hand, markers that do not make a whole conflict count as
 * content.
 */
export function parseConflicts(text: string, markerSize: number): readonly Hunk[] {
  const lines = splitLines(text);
  const hunks: Hunk[] = [];
  let resolved: string[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const places =
      markerOf(line, markerSize) === 'ours' ? placesFrom(lines, index, markerSize) : null;
    if (places === null) {
      resolved.push(line);
      continue;
    }
    if (resolved.length > 0) hunks.push({ kind: 'resolved', lines: resolved });
    resolved = [];
    hunks.push({
      kind: 'conflict',
      ours: readSide(lines, places.ours, places.base, places.ours),
      base: readSide(lines, places.base, places.theirs, places.base),
      theirs: readSide(lines, places.theirs, places.end, places.end),
    });
    index = places.end;
  }
  if (resolved.length > 0) hunks.push({ kind: 'resolved', lines: resolved });
  return hunks;
}

/**
 * Tells whether a text holds something that looks like conflict markers: an opening, a middle and a closing
 * line of the same length, in this order. Underlines and tables do not count.
 */
export function hasMarkers(text: string): boolean {
  // By length, since the content of a conflict may itself open one of another length.
  const lastSeen = new Map<number, 'opening' | 'middle'>();
  for (const line of splitLines(text)) {
    const content = contentOf(line);
    const size = markerRun(content);
    if (size < MIN_SIZE) continue;
    const before = lastSeen.get(size);
    if (isMarker(content, '<', size)) lastSeen.set(size, 'opening');
    else if (before === 'opening' && content === '='.repeat(size)) lastSeen.set(size, 'middle');
    else if (before === 'middle' && isMarker(content, '>', size)) return true;
  }
  return false;
}

function isMarker(content: string, character: '<' | '>', size: number): boolean {
  return content[0] === character && (content.length === size || content[size] === ' ');
}

/** Finds the four markers of a conflict, if they follow each other in order. */
function placesFrom(
  lines: readonly string[],
  ours: number,
  size: number,
): Record<Marker, number> | null {
  const next = (after: number, wanted: Marker) => {
    let place = after + 1;
    while (place < lines.length && markerOf(lines[place] ?? '', size) === null) place++;
    return markerOf(lines[place] ?? '', size) === wanted ? place : null;
  };
  const base = next(ours, 'base');
  const theirs = base === null ? null : next(base, 'theirs');
  const end = theirs === null ? null : next(theirs, 'end');
  return base === null || theirs === null || end === null ? null : { ours, base, theirs, end };
}

/** Returns the lines between two markers; `named` is the marker that would carry a note about them. */
function readSide(
  lines: readonly string[],
  from: number,
  to: number,
  named: number,
): readonly string[] {
  const side = lines.slice(from + 1, to);
  const marker = lines[named] ?? '';
  const last = side.at(-1);
  if (last === undefined || !saysUnended(contentOf(marker))) return side;
  // The renderer closed an unended line with the marker's own end: a line may end in \r by itself.
  return [...side.slice(0, -1), last.slice(0, -terminatorOf(marker).length)];
}

function linesOf(hunk: Hunk): readonly string[] {
  return hunk.kind === 'resolved' ? hunk.lines : [...hunk.base, ...hunk.ours, ...hunk.theirs];
}

function longestRun(longest: number, line: string): number {
  return Math.max(longest, markerRun(line));
}

function isUnended(side: readonly string[]): boolean {
  return side.at(-1)?.endsWith('\n') === false;
}
