/** The character that each kind of marker line repeats. */
const CHARACTERS = { ours: '<', base: '|', theirs: '=', end: '>' } as const;

const SIGNS = Object.values(CHARACTERS).join('');

/** Says on a marker line that the side it names has no newline after its last line. */
const NOTE = '(no newline at end)';

export type Marker = keyof typeof CHARACTERS;

/** Returns a marker line without its end. The note, if any, is about the side that the label names. */
export function markerLine(
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
export function markerRun(line: string): number {
  const sign = line[0] ?? ' ';
  if (!SIGNS.includes(sign)) return 0;
  let length = 1;
  while (line[length] === sign) length++;
  return length;
}

/** Tells whether a marker line, without its end, carries the note. */
export function saysUnended(content: string): boolean {
  return content.endsWith(` ${NOTE}`);
}

/** Makes a label fit on one line, and strips an ending that could pass for the note. */
function readable(label: string): string {
  const oneLine = label.replaceAll(/[\0-\x1f\x7f]+/g, ' ').trim();
  return oneLine.endsWith(NOTE) ? readable(oneLine.slice(0, -NOTE.length)) : oneLine;
}
