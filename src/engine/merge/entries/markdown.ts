import type { Entry } from './entry.ts';

const DELIMITER = /^\s*(?:\|\s*)?:?-+:?\s*(?:\|\s*:?-+:?\s*)*(?:\|\s*)?$/;
const BULLET = /^(\s*)([-*+])\s+(?=\S)(.*)$/;
const HEADING = /^(#{1,6})\s/;
const FENCE = /^\s*(?:```|~~~)/;
/** The address of a link, told apart from the text that it is in; of footnotes, which go on, nothing is read. */
const LINK = /^ {0,3}\[([^\]^][^\]]*)\]:\s+\S+$/;
/** What a changelog calls the kinds of its points. */
const KIND =
  /^\*\*(?:add(?:ed)?|changed?|fix(?:e[ds])?|remov(?:al|ed)|deprecated|security|breaking(?: changes?)?|improv(?:ed|ement)|feature|new|docs):?\*\*$/i;

type Reading = {
  readonly lines: readonly string[];
  readonly entries: Entry[];
  /** How often each heading was there so far, with those above it. */
  readonly counts: Map<string, number>;
  heading: string;
};

/** Reads the rows of tables, the points of lists without numbers, and the addresses of links. */
export function readMarkdown(lines: readonly string[]): readonly Entry[] {
  const reading: Reading = { lines, entries: [], counts: new Map(), heading: '' };
  for (let index = 0; index < lines.length; ) index = readBlock(reading, index);
  return reading.entries;
}

/** Reads what begins at a line; returns the line after it. */
function readBlock(reading: Reading, index: number): number {
  const { lines, entries } = reading;
  const line = lines[index] ?? '';
  if (FENCE.test(line)) return readFence(reading, index);
  if (isTableHead(lines, index)) return readTable(reading, index);
  if (BULLET.test(line)) return readBullet(reading, index);
  const label = LINK.exec(line)?.[1];
  if (label !== undefined) {
    const list = `${reading.heading}\n[]`;
    entries.push({ start: index, end: index + 1, list, key: label });
    return index + 1;
  }
  const signs = HEADING.exec(line)?.[1];
  if (signs !== undefined) {
    const path = withHeading(reading.heading, signs.length, line);
    const count = (reading.counts.get(path) ?? 0) + 1;
    reading.counts.set(path, count);
    // A point put under one of two such headings must not end under the other.
    reading.heading = count === 1 ? path : `${path} ${count}`;
  }
  entries.push({ start: index, end: index + 1, list: '', key: null });
  return index + 1;
}

/** Returns the headings above a line, the outermost first, after one more. */
function withHeading(path: string, level: number, line: string): string {
  const outer = path.split('\n').filter((one) => one !== '' && one.search(/[^#]/) < level);
  return [...outer, line].join('\n');
}

function readFence({ lines, entries }: Reading, index: number): number {
  const close = lines.findIndex((line, place) => place > index && FENCE.test(line));
  const end = close < 0 ? lines.length : close + 1;
  entries.push({ start: index, end, list: '', key: null });
  return end;
}

function isTableHead(lines: readonly string[], index: number): boolean {
  const delimiter = lines[index + 1] ?? '';
  return (
    lines[index]?.includes('|') === true && delimiter.includes('|') && DELIMITER.test(delimiter)
  );
}

function readTable({ lines, entries, heading }: Reading, index: number): number {
  const head = lines[index] ?? '';
  const columns = cellsOf(head).length;
  entries.push({ start: index, end: index + 2, list: '', key: null });
  let place = index + 2;
  for (; lines[place]?.includes('|'); place++) {
    const cells = cellsOf(lines[place] ?? '');
    const key = cells.length === columns ? cells[0]?.trim() || null : null;
    entries.push({ start: place, end: place + 1, list: `${heading}\n${head}`, key });
  }
  return place;
}

function cellsOf(row: string): readonly string[] {
  return row
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split(/(?<!\\)\|/);
}

function readBullet({ lines, entries, heading }: Reading, index: number): number {
  const [, space = '', sign = '', text = ''] = BULLET.exec(lines[index] ?? '') ?? [];
  let end = index + 1;
  // Lines that are indented more belong to the point, after a blank line as well.
  for (let place = end; place < lines.length; place++) {
    const line = lines[place] ?? '';
    const indent = line.search(/\S/);
    if (indent < 0) continue;
    if (indent <= space.length) break;
    end = place + 1;
  }
  entries.push({ start: index, end, list: `${heading}\n${space}${sign}`, key: nameIn(text) });
  return end;
}

/**
 * Returns the name of a point: what it links to or has in bold or as code at its head, else all of it. That it is an
 * addition or a fix is no name.
 */
function nameIn(text: string): string {
  const name = /^(\[[^\]]+\]|\*\*[^*]+\*\*|`[^`]+`)/.exec(text)?.[1] ?? text;
  return KIND.test(name) ? text : name;
}
