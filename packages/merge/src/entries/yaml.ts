import type { Entry } from './entry.ts';

const ASIDE = /^\s*(?:#.*)?$/;
const KEY =
  /^( *)((?:"[^"]*"|'[^']*'|[^\s#&*!|>'"%@`,[\]{}?:-][^#:]*?|-[^\s#:][^#:]*?))(?<! ) *:(?:\s+(?!\s)(.*))?$/;

/** A map that is open: its indentation and its name. */
type Open = { readonly indent: number; readonly path: string };

/**
 * Reads the block maps of YAML. A key with a map below it is an entry of one line, followed by those of the
 * map; what is in a list is one entry without a key. Null where a line is neither.
 */
export function readYamlMaps(lines: readonly string[]): readonly Entry[] | null {
  const entries: Entry[] = [];
  const open: Open[] = [];
  let start = 0;
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (ASIDE.test(line)) continue;
    const [, spaces = '', key, value = ''] = KEY.exec(line) ?? [];
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

/** Signs that are no text on one line: tabs, and other ends of lines. */
const SPECIAL = /[^\n\x20-\x7e\u00a1-\u1fff\u2030-\udfff]/;
const PLAIN_KEY = /^(?:([A-Za-z_/][\w./@()+-]*(?: [\w./@()+-]+)*)|"([^"\\]*)"|'([^']*)') *:(?= |$)/;
/** Names that are read as values: two of them can be one. */
const VALUE = /^(?:true|false|null)$/i;
/** Deeper texts are made to be slow. */
const MAX_LEVELS = 100;
/** More names that are there twice are left to a parser. */
const MAX_TWICE = 1000;
/** A parser refuses names that are not much longer. */
const MAX_NAME = 1000;
const COMMENT = /(?:^| )#.*$/;
const QUOTED = /^(?:"[^"\\]*"|'[^']*')$/;
const WORD = /^(?:[\w./$~<=(^+]|-[\w-])/;
/** How a further line of a value may begin. */
const FURTHER = /^(?:[\w./$(&|=<>!]|-[\w-])/;
const ITEM = `(?:[\\w./][\\w./+@=-]*|"[^"\\\\]*"|'[^']*')`;
const EMPTY_OR_LIST = new RegExp(`^(?:\\{\\}|\\[(?: *${ITEM}(?: *, *${ITEM})* *)?\\])$`);
const PAIR = `([A-Za-z_][\\w-]*): +${ITEM}`;
const MAP = new RegExp(`^\\{ *${PAIR}(?: *, *${PAIR})* *\\}$`);
const NAME_IN_MAP = new RegExp(`[{,] *${PAIR}`, 'g');
const LINE_OF_LIST = new RegExp(`^${ITEM} *,?$`);
const BLOCK_OF_TEXT = /^[|>][+-]?$/;

/**
 * A map or a list that is open: its number among all, its indentation, the names around it, and those of a map with their
 * first lines.
 */
type Level = {
  readonly order: number;
  readonly indent: number;
  readonly path: string;
  readonly names: Map<string, number> | null;
  /** The name that was read last. */
  last: string;
};

/** A name that a map has more than once, and the lines of all that have it. */
type Twice = {
  readonly level: Level;
  readonly name: string;
  readonly lines: number[];
};

/** A name that a map has more than once: the names around it, each after a slash, and where it stands. */
export type TwiceNamed = {
  readonly path: string;
  readonly name: string;
  readonly places: readonly number[];
};

type Reading = {
  readonly lines: readonly string[];
  readonly levels: Level[];
  readonly twice: Twice[];
  /** The number of maps and lists that have begun. */
  begun: number;
  /** True if the last name or item has no value yet. */
  isOpen: boolean;
};

/**
 * Reads by its lines a YAML text, which takes much less than to parse it, and returns the names that a map has twice. Null
 * for all that may have a fault or more names: only one document of maps and lists in block style is read, and values
 * that are plain, a list or map of such on one line, or blocks of text.
 */
export function namesTwiceInPlainYaml(text: string): readonly TwiceNamed[] | null {
  if (SPECIAL.test(text)) return null;
  const lines = text.split('\n');
  const reading: Reading = { lines, levels: [], twice: [], begun: 0, isOpen: true };
  let next: number | null = lines[0] === '---' ? 1 : 0;
  while (next !== null && next < lines.length) next = readLine(reading, next);
  if (next === null || reading.begun === 0) return null;
  return reading.twice.length === 0 ? [] : placed(reading);
}

function placed({ lines, twice }: Reading): readonly TwiceNamed[] {
  const starts = [0];
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length + 1);
  const byPlace = (one: Twice, other: Twice) =>
    one.level.order - other.level.order || (one.lines[0] ?? 0) - (other.lines[0] ?? 0);
  return twice.toSorted(byPlace).map(({ level, name, lines: found }) => ({
    path: level.path,
    name,
    places: found.map((line) => (starts[line] ?? 0) + level.indent),
  }));
}

/** Reads what begins on a line; returns the line after it, null where it cannot be told. */
function readLine(reading: Reading, index: number): number | null {
  const line = reading.lines[index] ?? '';
  let column = line.search(/[^ ]/);
  if (column < 0 || line[column] === '#') return index + 1;
  let isItem = false;
  while (line[column] === '-' && (line[column + 1] ?? ' ') === ' ') {
    if (!openLevel(reading, index, column, null)) return null;
    [reading.isOpen, isItem] = [true, true];
    const space = line.slice(column + 1).search(/[^ ]/);
    column += 1 + space;
    if (space < 0 || line[column] === '#') return index + 1;
  }
  return readNamed(reading, index, column, isItem);
}

/** Reads a name with its value, or the value of an item, or of the name above. */
function readNamed(
  reading: Reading,
  index: number,
  column: number,
  isItem: boolean,
): number | null {
  const { lines, levels } = reading;
  const rest = (lines[index] ?? '').slice(column);
  const [head, ...names] = PLAIN_KEY.exec(rest) ?? [];
  if (head !== undefined) {
    const name = names.find((one) => one !== undefined) ?? '';
    if (!openLevel(reading, index, column, name)) return null;
  } else if (!isItem && !(reading.isOpen && column > (levels.at(-1)?.indent ?? column)))
    return null;
  const said = rest.slice(head?.length ?? 0);
  const value = said.replace(COMMENT, '').trim();
  reading.isOpen = value === '';
  if (value === '') return index + 1;
  const end = readerOfValue(value)(lines, index + 1, levels.at(-1)?.indent ?? 0);
  // A comment ends a value, but for the head of a block of text.
  const isOneLine = end === index + 1 || BLOCK_OF_TEXT.test(value);
  return isOneLine || !COMMENT.test(said) ? end : null;
}

/** Goes to the level of a name or, where that is null, of an item; false where there can be none. */
function openLevel(reading: Reading, line: number, indent: number, name: string | null): boolean {
  const { levels, isOpen } = reading;
  const isOfNames = (level: Level | undefined) => level !== undefined && level.names !== null;
  let isNested = isOpen;
  const close = () => {
    levels.pop();
    isNested = false;
  };
  while ((levels.at(-1)?.indent ?? -1) > indent) close();
  // A list may be as far in as the name that it is of.
  const below = levels.at(-2);
  if (name !== null && !isOfNames(levels.at(-1)) && below?.indent === indent) close();
  const top = levels.at(-1);
  const isListOfName = name === null && isOfNames(top);
  if (top === undefined || top.indent < indent || isListOfName) {
    if (!isNested || levels.length > MAX_LEVELS) return false;
    const names = name === null ? null : new Map<string, number>();
    const path = `${top?.path ?? ''}${isOfNames(top) ? `/${top?.last}` : ''}`;
    levels.push({ order: reading.begun++, indent, path, names, last: '' });
  } else if (isOfNames(top) !== (name !== null)) return false;
  const level = levels.at(-1);
  return name === null || level === undefined || noteName(reading, level, name, line);
}

/** Notes a name of a map; false for one that may be another name or a value. */
function noteName(reading: Reading, level: Level, name: string, line: number): boolean {
  if (VALUE.test(name) || name === '<<' || name.length > MAX_NAME) return false;
  level.last = name;
  const first = level.names?.get(name);
  if (first === undefined) {
    level.names?.set(name, line);
    return true;
  }
  const known = reading.twice.find((one) => one.level === level && one.name === name);
  if (known !== undefined) known.lines.push(line);
  else reading.twice.push({ level, name, lines: [first, line] });
  return reading.twice.length <= MAX_TWICE;
}

/** Finds the line after a value that goes on from some line; null where it cannot be told. */
type FindEnd = (lines: readonly string[], start: number, indent: number) => number | null;

function readerOfValue(value: string): FindEnd {
  if (BLOCK_OF_TEXT.test(value)) return endOfText;
  if (value === '[') return endOfList;
  if (QUOTED.test(value) || EMPTY_OR_LIST.test(value) || isMap(value)) return (_, start) => start;
  return WORD.test(value) && isPlain(value) ? endOfPlain : () => null;
}

/** Returns the line after a block of text; null where its lines are not all as far in as the first one. */
function endOfText(lines: readonly string[], start: number, indent: number): number | null {
  let depth = 0;
  let index = start;
  for (; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const own = line.search(/[^ ]/);
    if (own < 0 && (line === '' || depth > 0)) continue;
    if (own < 0) return null;
    if (own <= indent) break;
    depth ||= own;
    if (own < depth) return null;
  }
  return index;
}

/** Returns the line after a list with an item a line; null where it has anything else. */
function endOfList(lines: readonly string[], start: number, indent: number): number | null {
  let isOver = false;
  for (let index = start; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const own = line.search(/[^ ]/);
    const rest = line.trim();
    if (rest === ']') return own >= indent && index > start ? index + 1 : null;
    if (own <= indent || isOver || !LINE_OF_LIST.test(rest)) return null;
    isOver = !rest.endsWith(',');
  }
  return null;
}

/** Returns the line after a value in several lines without quotes; null where one may be more than text. */
function endOfPlain(lines: readonly string[], start: number, indent: number): number | null {
  for (let index = start; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const own = line.search(/[^ ]/);
    if (own <= indent || line[own] === '#') return index;
    if (!FURTHER.test(line.slice(own)) || COMMENT.test(line) || !isPlain(line.trim())) return null;
  }
  return lines.length;
}

function isPlain(value: string): boolean {
  return !value.includes(': ') && !value.endsWith(':');
}

/** Tells whether a value is a map on one line, no name of which is there twice. */
function isMap(value: string): boolean {
  if (!MAP.test(value)) return false;
  const names = Array.from(value.matchAll(NAME_IN_MAP), ([, name = '']) => name);
  return new Set(names).size === names.length && !names.some((name) => VALUE.test(name));
}
