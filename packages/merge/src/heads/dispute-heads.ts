import { joinRegions } from '../checks/join-regions.ts';
import { type LineSpan, linesOf, type Region } from '../lines/regions.ts';
import type { Versions } from '../versions.ts';
import {
  type HeadReader,
  headReaderOf,
  type SectionReader,
  sectionReaderOf,
} from './head-table.ts';

/** Reads the names and sections of a file; null for a kind of file that has none, or if they are unknown. */
export type Heads = {
  readonly names: HeadReader | null;
  readonly sections: SectionReader | null;
  readonly isCatalogue: boolean;
};

/** Returns the reader for the heads of a file, by its name. */
export function headsOf(path: string | undefined): Heads {
  return {
    names: headReaderOf(path),
    sections: sectionReaderOf(path),
    isCatalogue: isCatalogue(path),
  };
}

/**
 * The message of a translation catalogue that a line belongs to, and whether the line is part of its text or its
 * translation.
 */
type Place = { readonly message: number; readonly part: 'text' | 'translation' | null };

const CATALOGUE = /\.pot?$/i;
const TEXT = /^\s*(?:#~\s*)?(?:msgctxt|msgid|msgid_plural)\b/;
const TRANSLATION = /^\s*(?:#~\s*)?msgstr\b/;

/** Tells whether a file is a catalogue of gettext, whose messages are parted by blank lines. */
function isCatalogue(path: string | undefined): boolean {
  return path !== undefined && CATALOGUE.test(path);
}

/**
 * Returns where one side changed the text of a message and the other side its translation: lines apart, and yet the
 * translation is of another text.
 */
function staleTranslations(
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
): readonly LineSpan[] {
  const places = {
    base: placesIn(lines.base),
    ours: placesIn(lines.ours),
    theirs: placesIn(lines.theirs),
  };
  const changes = regions.flatMap((region, index) => {
    const { kind, base } = region;
    if (kind !== 'ours' && kind !== 'theirs') return [];
    const before = places.base.slice(base.start, base.end);
    const after = places[kind].slice(region[kind].start, region[kind].end);
    // What is put in between two messages is a message of its own.
    const message = places.base[base.start === base.end ? base.start - 1 : base.start]?.message;
    const parts = new Set([...before, ...after].map(({ part }) => part));
    return [{ index, kind, message, parts }];
  });
  return changes.flatMap((one, at) => {
    const other = changes.slice(at + 1).find(({ kind, message, parts }) => {
      const isStale =
        (one.parts.has('text') && parts.has('translation')) ||
        (one.parts.has('translation') && parts.has('text'));
      return kind !== one.kind && message === one.message && isStale;
    });
    return other === undefined ? [] : [{ start: one.index, end: other.index + 1 }];
  });
}

function placesIn(lines: readonly string[]): readonly Place[] {
  let message = 0;
  let part: Place['part'] = null;
  return lines.map((line) => {
    if (line.trim() === '') {
      message++;
      part = null;
    } else if (TEXT.test(line)) part = 'text';
    else if (TRANSLATION.test(line)) part = 'translation';
    return { message, part };
  });
}

/** A merge as its lines, each with the region that it is from. */
type Merged = {
  readonly regions: readonly Region[];
  readonly lines: Versions<readonly string[]>;
  readonly text: readonly string[];
  readonly origins: readonly number[];
};

/**
 * Makes conflicts of three cases that lines alone do not show: a name would occur twice, because each side added it
 * at another place; lines would land below a head that the other side inserted above them; a translation belongs to a
 * text that the other side has changed.
 */
export function disputeHeads(
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
  { names, sections, isCatalogue: hasMessages }: Heads,
): readonly Region[] {
  if (names === null && sections === null && !hasMessages) return regions;
  const kinds = new Set(regions.map(({ kind }) => kind));
  if (!kinds.has('resolved') && !(kinds.has('ours') && kinds.has('theirs'))) return regions;
  const text: string[] = [];
  const origins: number[] = [];
  for (const [index, region] of regions.entries()) {
    for (const line of linesOf(region, lines)) {
      text.push(line);
      origins.push(index);
    }
  }
  const merged = { regions, lines, text, origins };
  const stretches = [
    ...(names === null ? [] : namedTwice(merged, names)),
    ...(sections === null ? [] : inOtherSections(merged, sections)),
    ...(hasMessages ? staleTranslations(regions, lines) : []),
  ];
  return stretches.length === 0 ? regions : joinRegions(regions, stretches);
}

/** Returns where a name would be given more often than by either side. */
function namedTwice(
  { regions, lines, text, origins }: Merged,
  read: HeadReader,
): readonly LineSpan[] {
  const most = mostOf(countsOf(read(lines.ours)), countsOf(read(lines.theirs)));
  const places = Map.groupBy(
    read(text).filter(({ isUnique }) => isUnique),
    ({ path }) => path,
  );
  return [...places].flatMap(([path, heads]) => {
    if (heads.length < 2 || heads.length <= (most.get(path) ?? 0)) return [];
    return (
      nearestPair(
        regions,
        heads.flatMap(({ line }) => origins[line] ?? []),
      ) ?? []
    );
  });
}

/** Returns where lines of one side are below a head that the other side has only put in, and were below another one. */
function inOtherSections(
  { regions, lines, text, origins }: Merged,
  read: SectionReader,
): readonly LineSpan[] {
  const above = { merged: read(text), ours: read(lines.ours), theirs: read(lines.theirs) };
  return regions.flatMap((region, index) => {
    const { kind } = region;
    if (kind !== 'ours' && kind !== 'theirs') return [];
    const { start, end } = region[kind];
    const offset = lines[kind].slice(start, end).findIndex((line) => line.trim() !== '');
    const place = origins.indexOf(index) + offset;
    const [head, own] = [above.merged[place] ?? -1, above[kind][start + offset] ?? -1];
    const from = origins[head];
    const origin = from === undefined ? undefined : regions[from];
    if (offset === -1 || from === undefined || origin === undefined) return [];
    const isOthers = origin.kind === (kind === 'ours' ? 'theirs' : 'ours');
    const isPutIn = origin.base.start === origin.base.end;
    if (!isOthers || !isPutIn || text[head] === lines[kind][own]) return [];
    return [{ start: Math.min(index, from), end: Math.max(index, from) + 1 }];
  });
}

function countsOf(heads: ReturnType<HeadReader>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { path } of heads) counts.set(path, (counts.get(path) ?? 0) + 1);
  return counts;
}

function mostOf(
  one: ReadonlyMap<string, number>,
  other: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const most = new Map(one);
  for (const [path, count] of other) most.set(path, Math.max(count, most.get(path) ?? 0));
  return most;
}

/** Returns the closest two of some regions of which one is ours' and the other theirs', or one that has both; else null. */
function nearestPair(regions: readonly Region[], indices: readonly number[]): LineSpan | null {
  const resolved = indices.find((at) => regions[at]?.kind === 'resolved');
  if (resolved !== undefined) return { start: resolved, end: resolved + 1 };
  const sorted = [...new Set(indices)].toSorted((one, other) => one - other);
  const changed = sorted.filter((at) => ['ours', 'theirs'].includes(regions[at]?.kind ?? ''));
  const pairs = changed.flatMap((start, place) => {
    const end = changed[place + 1];
    return end === undefined || regions[start]?.kind === regions[end]?.kind
      ? []
      : [{ start, end: end + 1 }];
  });
  const [nearest = null] = pairs.toSorted((a, b) => a.end - a.start - (b.end - b.start));
  return nearest;
}
