import type { Interned } from '../lines/interned-lines.ts';
import { mapVersions, NAMES } from '../lines/lines.ts';
import {
  type LineSpan,
  type Region,
  type Stretch,
  stretchesAround,
  takeStretch,
} from '../lines/regions.ts';
import { type Order, orderOfNames } from '../lines/sorted-lines.ts';
import type { Versions } from '../versions.ts';
import type { Entry, EntrySides } from './entry-readers.ts';

/** An anchor of YAML, a number that is a value, or the port of the host in an item that maps it to another one. */
const MARK =
  /(?<=[:-]\s*)&[\w-]+|(?<=[=:]\s*["']?)\d{4,}(?=["']?\s*$)|(?<=(?:^\s*-\s+|[[,]\s*)["']?(?:[\d.]+:)?)\d{2,5}(?=:\d{2,5}(?:\/\w+)?["']?\s*(?:[\],]|$))/g;

type Text = {
  readonly lines: readonly string[];
  readonly entries: readonly Entry[];
  /** Tells whether there is an entry of this name. */
  readonly hasName: (entry: Entry) => boolean;
};
/** The entries that one side put before each entry of the base in a stretch, and after the last one. */
type Gaps = readonly (readonly Entry[])[];
/** The entries of the base in a stretch as one side has them, which may be after another number of blank lines. */
type Compared = { readonly gaps: Gaps; readonly kept: readonly Entry[] };

/**
 * Keeps the entries that both sides inserted into lists by name, if both did nothing else: in the list's order if it
 * is sorted, otherwise ours first.
 *
 * The names must differ. Read again, each entry must be in the list that it was inserted into. An entry that both
 * sides inserted alike is kept once.
 */
export function resolveEntries(
  regions: readonly Region[],
  numbered: Interned,
  sides: EntrySides,
): readonly Region[] {
  const open = new Set(regions.filter((region) => isInsertion(region, numbered)));
  if (open.size === 0) return regions;
  const texts = mapVersions(NAMES, sides.of);
  if (Object.values(texts).some(({ entries }) => entries === null)) return regions;
  const known = mapVersions(texts, ({ lines, entries }): Text => {
    return { lines, entries: entries ?? [], hasName: findNames(entries ?? []) };
  });
  const borders = mapVersions(known, ({ entries, lines: side }) => ({
    has: (line: number) => line === side.length || entries[placeOf(entries, line)]?.start === line,
  }));
  const widened = [...regions];
  let candidates: readonly Candidate[] = regions.flatMap((region, index) => {
    if (!open.has(region)) return [];
    for (const place of stretchesAround(widened, index, () => borders)) {
      const orders = mergeStretch(place.region, known);
      if (orders === null) continue;
      takeStretch(widened, index, place);
      return [{ index, place, orders }];
    }
    return [];
  });
  // Reading again costs the whole text: all stretches at once, in the best order and where needed in the next.
  for (;;) {
    const result = withCandidates(regions, candidates);
    if (candidates.length === 0) return regions;
    const isRight = checkCandidates(result, sides);
    if (candidates.every(isRight)) return result;
    candidates = candidates.flatMap((candidate) => {
      const [, ...others] = candidate.orders;
      if (isRight(candidate)) return [candidate];
      return others.length === 0 ? [] : [{ ...candidate, orders: others }];
    });
  }
}

/** Tells whether both sides of a conflict have all lines of the base, blank ones apart, in their order. */
function isInsertion(region: Region, texts: Interned): boolean {
  if (region.kind !== 'conflict') return false;
  return (['ours', 'theirs'] as const).every((name) => {
    let place = region[name].start;
    for (let line = region.base.start; line < region.base.end; line++) {
      const number = texts.base[line] ?? -1;
      if (texts.contents[number]?.trim() === '') continue;
      while (place < region[name].end && texts[name][place] !== number) place++;
      if (place++ >= region[name].end) return false;
    }
    return true;
  });
}

/** Makes a test of names, which are read when one is first asked for. */
function findNames(entries: readonly Entry[]): (entry: Entry) => boolean {
  let known: Map<string, Set<string | null>> | undefined;
  return ({ list, key }) => {
    known ??= namesOf(entries);
    return known.get(list)?.has(key) === true;
  };
}

function namesOf(entries: readonly Entry[]): Map<string, Set<string | null>> {
  const names = new Map<string, Set<string | null>>();
  for (const { list, key } of entries) {
    const inside = names.get(list) ?? new Set();
    names.set(list, inside.add(key));
  }
  return names;
}

/** A conflict, and what it may become: both sides' entries, each order of them that may be right. */
type Candidate = {
  readonly index: number;
  readonly place: Stretch;
  readonly orders: readonly (readonly NamedLines[])[];
};

function withCandidates(
  regions: readonly Region[],
  candidates: readonly Candidate[],
): readonly Region[] {
  const result = [...regions];
  for (const { index, place, orders } of candidates) {
    const told = orders[0]?.flatMap(({ lines }) => lines) ?? [];
    const lines = told.map((line) => `${line}\n`);
    const region: Region = { ...place.region, kind: 'resolved', lines, rule: 'entries' };
    takeStretch(result, index, { ...place, region });
  }
  return result;
}

/** Tells of each candidate whether its entries, read again, are those that were put together. */
function checkCandidates(
  result: readonly Region[],
  sides: EntrySides,
): (candidate: Candidate) => boolean {
  let length = 0;
  const starts = result.map((region) => {
    const start = length;
    const { start: from, end } = region[region.kind === 'theirs' ? 'theirs' : 'ours'];
    length += region.kind === 'resolved' ? region.lines.length : end - from;
    return start;
  });
  const { entries } = sides.readMerged(result);
  if (entries === null) return () => false;
  const places = new Map(entries.map(({ start }, place) => [start, place]));
  return ({ index, orders }) => {
    let start = starts[index] ?? 0;
    const first = places.get(start);
    if (first === undefined) return false;
    return (orders[0] ?? []).every(({ lines: told, name }, offset) => {
      const entry = entries[first + offset];
      const end = start + told.length;
      const isSame = entry?.start === start && entry.end === end && nameOf(entry) === name;
      start = end;
      return isSame;
    });
  };
}

/** Returns what both sides put into a stretch, in each order that may be right; null where they did more. */
function mergeStretch(
  range: Versions<LineSpan>,
  texts: Versions<Text>,
): readonly (readonly NamedLines[])[] | null {
  const parts = mapVersions(NAMES, (name) => entriesIn(texts[name], range[name]));
  if (parts.base === null || parts.ours === null || parts.theirs === null) return null;
  const ours = compareEntries(parts.ours, parts.base, texts, 'ours');
  const theirs = compareEntries(parts.theirs, parts.base, texts, 'theirs');
  if (ours === null || theirs === null) return null;
  const fresh = apartFrom(theirs.gaps, texts.theirs, texts.ours, ours.gaps);
  const own = apartFrom(ours.gaps, texts.ours, texts.theirs, theirs.gaps);
  if (fresh === null || own === null) return null;
  // What one side took out, and the other one only moved, is no insertion.
  if ([...fresh, ...own].flat().some(texts.base.hasName)) return null;
  if (isSameMark(tellGaps(own, texts.ours), tellGaps(fresh, texts.theirs))) return null;
  const kept = parts.base.map((entry, index): NamedLines => {
    const base = tell(entry, texts.base);
    const mine = tell(ours.kept[index] ?? entry, texts.ours);
    const isSame = mine.lines.length === base.lines.length;
    return isSame ? tell(theirs.kept[index] ?? entry, texts.theirs) : mine;
  });
  const orders = [true, false].map((isOursFirst) => {
    const mine = tellGaps(isOursFirst ? ours.gaps : own, texts.ours);
    const other = tellGaps(isOursFirst ? fresh : theirs.gaps, texts.theirs);
    const [first, second] = isOursFirst ? [mine, other] : [other, mine];
    return first.map((run, gap) => joinRuns(run, second[gap] ?? []));
  });
  const sorted = sortGaps(ours.gaps, fresh, texts);
  return [...(sorted === null ? [] : [sorted]), ...orders].map((runs) =>
    runs.flatMap((run, gap) => [...run, ...kept.slice(gap, gap + 1)]),
  );
}

/** Puts what both sides put in where the order of its list wants it; null where no list is sorted. */
function sortGaps(
  ours: Gaps,
  theirs: Gaps,
  texts: Versions<Text>,
): readonly (readonly NamedLines[])[] | null {
  let isSorted = false;
  const runs = ours.map((run, gap) => {
    const other = theirs[gap] ?? [];
    const mine = run.map((entry) => tell(entry, texts.ours));
    const added = other.map((entry) => tell(entry, texts.theirs));
    const order = run.length * other.length === 0 ? null : orderOfGap([...run, ...other], texts);
    const isDense = [...mine, ...added].every(({ lines }) => lines[0] !== '');
    if (order === null || !isDense) return joinRuns(mine, added);
    isSorted = true;
    return [...mine, ...added].sort((one, next) => (order(keyIn(one), keyIn(next)) ? -1 : 1));
  });
  return isSorted ? runs : null;
}

/** Finds the order of the one list that all these entries are in; null where there is none. */
function orderOfGap(entries: readonly Entry[], texts: Versions<Text>): Order | null {
  const list = entries[0]?.list;
  if (entries.some((entry) => entry.list !== list)) return null;
  const versions = [texts.base, texts.ours, texts.theirs];
  return orderOfNames(
    versions.map((text) =>
      text.entries.filter((entry) => entry.list === list).map(({ key }) => key),
    ),
  );
}

/** Returns the entries in a stretch; null where one crosses its edge. */
function entriesIn({ entries }: Text, { start, end }: LineSpan): readonly Entry[] | null {
  const found: Entry[] = [];
  for (let place = placeOf(entries, start); (entries[place]?.start ?? end) < end; place++) {
    const entry = entries[place];
    if (entry !== undefined) found.push(entry);
  }
  const isWhole = found.every((entry) => entry.start >= start && entry.end <= end);
  return isWhole ? found : null;
}

/** Returns the index of the entry that a line is in; as they cover all lines, there is one. */
function placeOf(entries: readonly Entry[], line: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.end ?? 0) <= line) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Compares a side's entries with the base's; null where one is changed, moved or gone, or has no name. */
function compareEntries(
  side: readonly Entry[],
  base: readonly Entry[],
  texts: Versions<Text>,
  name: 'ours' | 'theirs',
): Compared | null {
  const gaps: Entry[][] = [[]];
  const kept: Entry[] = [];
  for (const entry of side) {
    const next = base[gaps.length - 1];
    if (next !== undefined && textOf(entry, texts[name]) === textOf(next, texts.base)) {
      gaps.push([]);
      kept.push(entry);
    } else if (entry.key === null && ownerOf(entry, gaps.at(-1) ?? []) === null) return null;
    else gaps.at(-1)?.push(entry);
  }
  return gaps.length === base.length + 1 ? { gaps, kept } : null;
}

/** Returns the outermost of some entries that an entry without a name is in; null where it is in none. */
function ownerOf(entry: Entry, run: readonly Entry[]): Entry | null {
  const owner = run.find(
    ({ list, key }) => key !== null && entry.list.startsWith(`${list}/${key}/`),
  );
  return owner ?? null;
}

/** Returns the insertions that the other side did not make as well; null where it has such a name otherwise. */
function apartFrom(gaps: Gaps, own: Text, other: Text, others: Gaps): Gaps | null {
  const result: Entry[][] = [];
  for (const [gap, run] of gaps.entries()) {
    const same = new Set(others[gap]?.map((entry) => `${nameOf(entry)}\n${textOf(entry, other)}`));
    const apart = run.filter((entry) => !same.has(`${nameOf(entry)}\n${textOf(entry, own)}`));
    if (apart.some(other.hasName)) return null;
    // Items of a list that both sides put in have an order.
    const owners = run.flatMap((entry) => (entry.key === null ? (ownerOf(entry, run) ?? []) : []));
    if (owners.some(other.hasName)) return null;
    result.push(apart);
  }
  return result;
}

/** Tells whether both sides bring an anchor of one name, or one number of four digits or more, such as a port. */
function isSameMark(
  some: readonly (readonly NamedLines[])[],
  others: readonly (readonly NamedLines[])[],
): boolean {
  const marksIn = (gaps: readonly (readonly NamedLines[])[]) =>
    gaps.flat().flatMap(({ lines }) => lines.flatMap((line) => line.match(MARK) ?? []));
  const known = new Set(marksIn(some));
  return marksIn(others).some((mark) => known.has(mark));
}

type NamedLines = { readonly lines: readonly string[]; readonly name: string };

function tell(entry: Entry, { lines }: Text): NamedLines {
  return { lines: lines.slice(entry.start, entry.end), name: nameOf(entry) };
}

function tellGaps(gaps: Gaps, text: Text): readonly (readonly NamedLines[])[] {
  return gaps.map((run) => run.map((entry) => tell(entry, text)));
}

/** Puts a run after another one, with a blank line between them where the later ones have such. */
function joinRuns(
  first: readonly NamedLines[],
  second: readonly NamedLines[],
): readonly NamedLines[] {
  const [head, ...rest] = second;
  if (first.length === 0 || head === undefined) return [...first, ...second];
  const isSpaced = [...first.slice(1), ...rest].some(({ lines }) => lines[0] === '');
  if (!isSpaced || head.lines[0] === '') return [...first, ...second];
  return [...first, { ...head, lines: ['', ...head.lines] }, ...rest];
}

function nameOf({ list, key }: Entry): string {
  return `${list}\n${key ?? ''}`;
}

function keyIn({ name }: NamedLines): string {
  return name.slice(name.lastIndexOf('\n') + 1);
}

/** Returns what an entry says, blank lines above it apart. */
function textOf({ start, end }: Entry, { lines }: Text): string {
  return lines
    .slice(start, end)
    .join('\n')
    .replace(/^\s*\n/, '');
}
