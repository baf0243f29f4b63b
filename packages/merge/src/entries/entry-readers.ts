import type { Interned } from '../lines/interned-lines.ts';
import { contentOf } from '../lines/lines.ts';
import type { LineSpan, Region } from '../lines/regions.ts';
import type { Format } from '../syntax/language.ts';
import type { Versions } from '../versions.ts';
import { readMarkdown } from './markdown-entries.ts';

const INSTALL = /\b(?:install|add)\b/;
const PACKAGE = /^\s+([A-Za-z0-9][\w.+-]*)(?:[:=@~<>][^\s;&|]*)?\s+\\$/;

/**
 * Some lines of a text that belong together: one member of a list, with the comments and blank lines above it.
 *
 * `list` tells the list, and is the same in another version of the text. `key` is the member's name there;
 * null for lines that no list may gain.
 */
export type Entry = LineSpan & { readonly list: string; readonly key: string | null };

/** Cuts a text, line by line and without line ends, into entries that cover it; null where it cannot be told. */
export type EntryReader = (lines: readonly string[]) => readonly Entry[] | null;

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
 * Reads the block maps of YAML. A key with a map below it is an entry of one line, followed by those of the
 * map; what is in a list is one entry without a key. Null where a line is neither.
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

/** Lines without their ends, and the entries in them; null where these cannot be told. */
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

/** Opens three versions, and what is merged of them; null for a format with a parser. */
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
