import type { Interned } from '../lines/interned-lines.ts';
import { contentOf } from '../lines/lines.ts';
import type { LineSpan, Region } from '../lines/regions.ts';
import type { Format } from '../syntax/language.ts';
import type { Versions } from '../versions.ts';

/**
 * Some lines of a text that belong together: one member of a list, with the comments and blank lines above it.
 *
 * `list` tells the list, and is the same in another version of the text. `key` is the member's name there;
 * null for lines that no list may gain.
 */
export type Entry = LineSpan & { readonly list: string; readonly key: string | null };

/** Cuts a text, line by line and without line ends, into entries that cover it; null if that is not possible. */
export type EntryReader = (lines: readonly string[]) => readonly Entry[] | null;

const READERS: ReadonlyMap<Format, EntryReader> = new Map<Format, EntryReader>([
  ['yaml', readYamlMaps],
  ['keyed-lines', readKeyedLines],
  ['dockerfile', readDockerfile],
  ['markdown', readMarkdown],
]);

/** Returns how the named entries of a format are read, line by line; null for a format with a parser. */
export function entryReader(format: Format): EntryReader | null {
  return READERS.get(format) ?? null;
}

/** Lines without their ends, and the entries in them; null if these are unknown. */
export type EntryText = {
  readonly lines: readonly string[];
  readonly entries: readonly Entry[] | null;
};

/** The three versions of a text by their entries, each read once, when it is first asked for. */
export type EntrySides = {
  readonly of: (name: keyof Versions<unknown>) => EntryText;
  /** Reads what some regions make of the versions; of a conflict the lines of ours. */
  readonly readMerged: (regions: readonly Region[]) => EntryText;
};

/** Opens three versions and their merge; null for a format with a parser. */
export function openEntries(texts: Interned, format: Format): EntrySides | null {
  const read = entryReader(format);
  if (read === null) return null;
  const known = new Map<keyof Versions<unknown>, EntryText>();
  const readText = (lines: readonly string[]) => ({ lines, entries: read(lines) });
  const addTo = (lines: string[], numbers: Int32Array, start: number, end: number) => {
    for (let place = start; place < end; place++) {
      lines.push(texts.contents[numbers[place] ?? -1] ?? '');
    }
  };
  return {
    of: (name) => {
      const before = known.get(name);
      if (before !== undefined) return before;
      const lines: string[] = [];
      addTo(lines, texts[name], 0, texts[name].length);
      const text = readText(lines);
      known.set(name, text);
      return text;
    },
    readMerged: (regions) => {
      const lines: string[] = [];
      for (const region of regions) {
        if (region.kind === 'resolved')
          for (const line of region.lines) lines.push(contentOf(line));
        else {
          const name = region.kind === 'theirs' ? 'theirs' : 'ours';
          addTo(lines, texts[name], region[name].start, region[name].end);
        }
      }
      return readText(lines);
    },
  };
}

const INSTALL = /\b(?:install|add)\b/;
const PACKAGE = /^\s+([A-Za-z0-9][\w.+-]*)(?:[:=@~<>][^\s;&|]*)?\s+\\$/;

/** Reads the packages, one a line, that a Dockerfile installs. */
export function readDockerfile(lines: readonly string[]): readonly Entry[] {
  const counts = new Map<string, number>();
  let list: string | null = null;
  return lines.map((line, start): Entry => {
    const end = start + 1;
    const [, key] = PACKAGE.exec(line) ?? [];
    if (list !== null && key !== undefined) return { start, end, list, key };
    const isHead = line.endsWith('\\') && INSTALL.test(lastCommand(line));
    const count = (counts.get(line) ?? 0) + 1;
    counts.set(line, count);
    list = isHead ? `${line} ${count}` : null;
    return { start, end, list: '', key: null };
  });
}

function lastCommand(line: string): string {
  return line.slice(Math.max(...['&', '|', ';'].map((sign) => line.lastIndexOf(sign))) + 1);
}

const KEY = /^\s*(?:export\s+)?([\w.-]+|"[^"]*"|'[^']*')\s*=\s*(?!\s)(.*)$/;
const SECTION = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/;
const ASIDE = /^\s*(?:[#;].*)?$/;

/** Reads lines of `KEY=value`, in sections or not, as in `.env` and TOML. */
export function readKeyedLines(lines: readonly string[]): readonly Entry[] | null {
  const entries: Entry[] = [];
  let start = 0;
  let list = '';
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (ASIDE.test(line)) continue;
    const [, section] = SECTION.exec(line) ?? [];
    const [, key, value = ''] = KEY.exec(line) ?? [];
    if (key !== undefined) {
      const end = endOfValue(lines, index, value);
      if (end === null) return null;
      entries.push({ start, end, list, key });
      index = end - 1;
    } else {
      entries.push({ start, end: index + 1, list: '', key: section ?? null });
      // Another section of the same name may come, and `[[package]]` has no name at all.
      list = section ?? line;
    }
    start = index + 1;
  }
  if (start < lines.length) entries.push({ start, end: lines.length, list, key: null });
  return entries;
}

/** Returns the line after a value that may go over several; null where it has no end. */
function endOfValue(lines: readonly string[], index: number, value: string): number | null {
  const quote = /^("""|'''|"|')/.exec(value)?.[1];
  if (quote !== undefined) {
    if (value.indexOf(quote, quote.length) >= 0) return index + 1;
    const end = lines.findIndex((line, place) => place > index && line.includes(quote));
    return end < 0 ? null : end + 1;
  }
  if (!/^[[{]/.test(value)) return index + 1;
  let depth = 0;
  for (let place = index; place < lines.length; place++) {
    const text = place === index ? value : (lines[place] ?? '');
    for (const bracket of text.replaceAll(/"[^"]*"|'[^']*'|#.*$/g, '')) {
      if (bracket === '[' || bracket === '{') depth++;
      else if (bracket === ']' || bracket === '}') depth--;
    }
    if (depth <= 0) return place + 1;
  }
  return null;
}

const YAML_ASIDE = /^\s*(?:#.*)?$/;
const YAML_KEY =
  /^( *)((?:"[^"]*"|'[^']*'|[^\s#&*!|>'"%@`,[\]{}?:-][^#:]*?|-[^\s#:][^#:]*?))(?<! ) *:(?:\s+(?!\s)(.*))?$/;

/** A map that is open: its indentation and its name. */
type Open = { readonly indent: number; readonly path: string };

/**
 * Reads the block maps of YAML. A key with a map below it is an entry of one line, followed by the entries of that
 * map. The content of a list is one entry without a key. Null if a line is neither.
 */
export function readYamlMaps(lines: readonly string[]): readonly Entry[] | null {
  const entries: Entry[] = [];
  const open: Open[] = [];
  let start = 0;
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (YAML_ASIDE.test(line)) continue;
    const [, spaces = '', key, value = ''] = YAML_KEY.exec(line) ?? [];
    const indent = key === undefined ? indentOf(line) : spaces.length;
    if (indent === null) return null;
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    const list = `${open.at(-1)?.path ?? ''}/${indent}`;
    if (key === undefined) {
      const isWhole = /^ *- /.test(line) || /^(?:---|%)/.test(line);
      if (!isWhole) return null;
      const end = /^ *- /.test(line) ? endOfBlock(lines, index, indent) : index + 1;
      entries.push({ start, end, list, key: null });
      index = end - 1;
    } else {
      // A value on the same line goes on below it where that is indented more.
      const isMap = /^(?:#.*|[&!][^\s]+)?$/.test(value.trim());
      const end = isMap ? index + 1 : endOfBlock(lines, index, indent);
      entries.push({ start, end, list, key: key === '<<' ? null : key });
      if (isMap) open.push({ indent, path: `${list}/${key}` });
      index = end - 1;
    }
    start = index + 1;
  }
  if (start < lines.length) entries.push({ start, end: lines.length, list: '', key: null });
  return entries;
}

/** Returns the line after those that are indented more than the first one; not the blank ones at their end. */
function endOfBlock(lines: readonly string[], index: number, indent: number): number {
  let end = index + 1;
  for (let place = end; place < lines.length; place++) {
    const own = indentOf(lines[place] ?? '');
    if (lines[place]?.trim() === '') continue;
    if (own === null || own <= indent) break;
    end = place + 1;
  }
  return end;
}

/** Returns the number of spaces that a line begins with; null for a tab among them. */
function indentOf(line: string): number | null {
  const [space = ''] = /^\s*/.exec(line) ?? [];
  return space.includes('\t') ? null : space.length;
}

const DELIMITER = /^\s*(?:\|\s*)?:?-+:?\s*(?:\|\s*:?-+:?\s*)*(?:\|\s*)?$/;
/** The name at the head of a point. */
const NAME = /^(?:\[[^\]]+\]|\*\*[^*]+\*\*|`[^`]+`)/;
const HEADING = /^(#{1,6})\s/;
const FENCE = /^\s*(?:```|~~~)/;
/** The address of a link, told apart from the text that it is in; of footnotes, which go on, nothing is read. */
const LINK = /^ {0,3}\[([^\]^][^\]]*)\]:\s+\S+$/;
/** Names that changelogs give to kinds of entries. */
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
 * addition or a fix is not a name.
 */
function nameIn(text: string): string {
  const sign = text[0] ?? '';
  const name = '[*`'.includes(sign) ? NAME.exec(text)?.[0] : undefined;
  return name === undefined || (sign === '*' && KIND.test(name)) ? text : name;
}
