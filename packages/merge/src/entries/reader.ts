import type { Interned } from '../lines/intern.ts';
import { contentOf } from '../lines/lines.ts';
import type { Range, Region } from '../lines/regions.ts';
import type { Format } from '../syntax/language.ts';
import type { Versions } from '../tree.ts';
import { readMarkdown } from './markdown.ts';
import { readYamlMaps } from './yaml.ts';

const INSTALL = /\b(?:install|add)\b/;
const PACKAGE = /^\s+([A-Za-z0-9][\w.+-]*)(?:[:=@~<>][^\s;&|]*)?\s+\\$/;

/**
 * Some lines of a text that belong together: one member of a list, with the comments and blank lines above it.
 *
 * `list` tells the list, and is the same in another version of the text. `key` is the member's name there;
 * null for lines that no list may gain.
 */
export type Entry = Range & { readonly list: string; readonly key: string | null };

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
