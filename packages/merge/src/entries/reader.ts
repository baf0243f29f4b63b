import type { Interned } from '../lines/intern.ts';
import { contentOf } from '../lines/lines.ts';
import type { Region } from '../lines/regions.ts';
import type { Format } from '../syntax/language.ts';
import type { Versions } from '../tree.ts';
import { readDockerfile } from './dockerfile.ts';
import type { Entry, EntryReader } from './entry.ts';
import { readKeyedLines } from './keyed-lines.ts';
import { readMarkdown } from './markdown.ts';
import { readYamlMaps } from './yaml.ts';

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
