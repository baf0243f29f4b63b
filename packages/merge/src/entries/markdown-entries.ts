import type { Entry } from './entry-readers.ts';

const DELIMITER = /^\s*(?:\|\s*)?:?-+:?\s*(?:\|\s*:?-+:?\s*)*(?:\|\s*)?$/;
/** The name at the head of a point. */
const NAME = /^(?:\[[^\]]+\]|\*\*[^*]+\*\*|`[^`]+`)/;
const HEADING = /^(#{1,6})\s/;
const FENCE = /^\s*(?:```|~~~)/;
/** The address of a link, told apart from the text that it is in; of footnotes, which go on, nothing is read. */
const LINK = /^ {0,3}\[([^\]^][^\]]*)\]:\s+\S+$/;
/** What a changelog calls the kinds of its points. */
const KIND =
  /^\*\*(?:add(?:ed)?|changed?|fix(?:e[ds])?|remov(?:al|ed)|deprecated|security|breaking(?: changes?)?|improv(?:ed|ement)|feature|new|docs):?\*\*$/i;

/** A heading, as deep as it has signs, with all that it is under. */
type Heading = { readonly level: number; readonly path: string };

type Reading = {
  readonly lines: readonly string[];
  readonly entries: Entry[];
  /** How often each heading was there so far, with those above it. */
  readonly counts: Map<string, number>;
  /** The headings that the present line is under, the outermost first. */
  readonly headings: Heading[];
  /** The last list, which mostly goes on: one text for the name of all its points. */
  list: { readonly heading: string; readonly sign: string; readonly name: string };
};

/** Reads the rows of tables, the points of lists without numbers, and the addresses of links. */
export function readMarkdown(lines: readonly string[]): readonly Entry[] {
  const list = { heading: '', sign: '', name: '\n' };
  const reading: Reading = { lines, entries: [], counts: new Map(), headings: [], list };
  for (let index = 0; index < lines.length; ) index = readBlock(reading, index);
  return reading.entries;
}

/** Reads what begins at a line; returns the line after it. */
function readBlock(reading: Reading, index: number): number {
  const { lines, entries } = reading;
  const line = lines[index] ?? '';
  const start = startOf(line);
  // Most lines are told by their first sign to be no more than text.
  const sign = line[start] ?? '';
  if ((sign === '`' || sign === '~') && FENCE.test(line)) return readFence(reading, index);
  if (isTableHead(lines, index)) return readTable(reading, index);
  if (sign === '-' || sign === '*' || sign === '+') {
    const text = startOf(line, start + 1);
    if (text > start + 1) return readBullet(reading, index, { start, text });
  }
  const label = sign === '[' ? LINK.exec(line)?.[1] : undefined;
  if (label !== undefined) {
    const list = `${headingOf(reading)}\n[]`;
    entries.push({ start: index, end: index + 1, list, key: label });
    return index + 1;
  }
  const signs = sign === '#' ? HEADING.exec(line)?.[1] : undefined;
  if (signs !== undefined) readHeading(reading, line, signs.length);
  entries.push({ start: index, end: index + 1, list: '', key: null });
  return index + 1;
}

/** Returns the place of the first sign from one on that is no space; -1 where there is none. */
function startOf(line: string, from = 0): number {
  let place = from;
  while (isSpace(line.charCodeAt(place))) place++;
  if (place >= line.length) return -1;
  // Beyond ASCII there are more kinds of space.
  if (line.charCodeAt(place) < 0x80) return place;
  const beyond = line.slice(place).search(/\S/);
  return beyond < 0 ? -1 : place + beyond;
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function headingOf({ headings }: Reading): string {
  return headings.at(-1)?.path ?? '';
}

function readHeading(reading: Reading, line: string, level: number): void {
  const { headings, counts } = reading;
  while ((headings.at(-1)?.level ?? 0) >= level) headings.pop();
  const outer = headingOf(reading);
  const path = outer === '' ? line : `${outer}\n${line}`;
  const count = (counts.get(path) ?? 0) + 1;
  counts.set(path, count);
  // A point put under one of two such headings must not end under the other.
  headings.push({ level, path: count === 1 ? path : `${path} ${count}` });
}

function readFence({ lines, entries }: Reading, index: number): number {
  const close = lines.findIndex((line, place) => place > index && FENCE.test(line));
  const end = close < 0 ? lines.length : close + 1;
  entries.push({ start: index, end, list: '', key: null });
  return end;
}

function isTableHead(lines: readonly string[], index: number): boolean {
  const delimiter = lines[index + 1] ?? '';
  const sign = delimiter[startOf(delimiter)] ?? '';
  if (sign !== '|' && sign !== '-' && sign !== ':') return false;
  return (
    lines[index]?.includes('|') === true && delimiter.includes('|') && DELIMITER.test(delimiter)
  );
}

function readTable(reading: Reading, index: number): number {
  const { lines, entries } = reading;
  const heading = headingOf(reading);
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

function readBullet(
  reading: Reading,
  index: number,
  { start, text }: { readonly start: number; readonly text: number },
): number {
  const { lines, entries } = reading;
  const line = lines[index] ?? '';
  let end = index + 1;
  // Lines that are indented more belong to the point, after a blank line as well.
  for (let place = end; place < lines.length; place++) {
    const indent = startOf(lines[place] ?? '');
    if (indent < 0) continue;
    if (indent <= start) break;
    end = place + 1;
  }
  const list = listNamed(reading, line.slice(0, start + 1));
  entries.push({ start: index, end, list, key: nameIn(line.slice(text)) });
  return end;
}

function listNamed(reading: Reading, sign: string): string {
  const heading = headingOf(reading);
  const { list } = reading;
  if (list.heading === heading && list.sign === sign) return list.name;
  reading.list = { heading, sign, name: `${heading}\n${sign}` };
  return reading.list.name;
}

/**
 * Returns the name of a point: what it links to or has in bold or as code at its head, else all of it. That it is an
 * addition or a fix is no name.
 */
function nameIn(text: string): string {
  const sign = text[0] ?? '';
  const name = '[*`'.includes(sign) ? NAME.exec(text)?.[0] : undefined;
  return name === undefined || (sign === '*' && KIND.test(name)) ? text : name;
}
