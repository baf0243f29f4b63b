import type { Versions } from '../../tree.ts';
import { mapVersions, NAMES } from '../lines/line-ends.ts';
import { contentOf } from '../lines/lines.ts';
import type { Range, Region } from '../lines/regions.ts';
import { stretchesAround, takeStretch } from '../lines/widen.ts';
import type { Entry, EntryReader } from './entry.ts';

type Lines = Versions<readonly string[]>;
type Text = { readonly lines: readonly string[]; readonly entries: readonly Entry[] };
/** What one side put in front of each entry of the base in a stretch, and after the last one. */
type Gaps = readonly (readonly Entry[])[];
/** The entries of the base in a stretch as one side has them, which may be after another number of blank lines. */
type Compared = { readonly gaps: Gaps; readonly kept: readonly Entry[] };

/**
 * Keeps the entries that both sides put into lists by name, ours first, where both did nothing else.
 *
 * The names must be apart, and read again each entry must be in the list it was put into. What both sides put
 * in alike is kept once.
 */
export function resolveEntries(
  regions: readonly Region[],
  lines: Lines,
  read: EntryReader,
): readonly Region[] {
  if (!regions.some(({ kind }) => kind === 'conflict')) return regions;
  const contents = mapVersions(lines, (side) => side.map(contentOf));
  const texts = mapVersions(contents, (side) => ({ lines: side, entries: read(side) }));
  if (Object.values(texts).some(({ entries }) => entries === null)) return regions;
  const known = mapVersions(texts, ({ lines: side, entries }): Text => {
    return { lines: side, entries: entries ?? [] };
  });
  const result = [...regions];
  const borders = mapVersions(known, ({ entries, lines: side }) => {
    return new Set([...entries.map(({ start }) => start), side.length]);
  });
  for (const [index, { kind }] of regions.entries()) {
    if (kind !== 'conflict') continue;
    for (const place of stretchesAround(result, index, () => borders)) {
      const merged = mergeStretch(place.region, known, read);
      if (merged === null) continue;
      const region: Region = { ...place.region, kind: 'resolved', lines: merged, rule: 'entries' };
      takeStretch(result, index, { ...place, region });
      break;
    }
  }
  return result;
}

function mergeStretch(
  range: Versions<Range>,
  texts: Versions<Text>,
  read: EntryReader,
): readonly string[] | null {
  const parts = mapVersions(NAMES, (name) => {
    const { start, end } = range[name];
    return texts[name].entries.filter((entry) => entry.start < end && entry.end > start);
  });
  const isWhole = (name: keyof Versions<unknown>) =>
    parts[name].every(({ start, end }) => start >= range[name].start && end <= range[name].end);
  if (!isWhole('base') || !isWhole('ours') || !isWhole('theirs')) return null;
  const ours = compareEntries(parts.ours, parts.base, texts, 'ours');
  const theirs = compareEntries(parts.theirs, parts.base, texts, 'theirs');
  if (ours === null || theirs === null) return null;
  const fresh = apartFrom(theirs.gaps, texts.theirs, texts.ours, ours.gaps);
  const own = apartFrom(ours.gaps, texts.ours, texts.theirs, theirs.gaps);
  if (fresh === null || own === null) return null;
  const kept = parts.base.map((entry, index): Told => {
    const [base, mine, other] = [
      tell(entry, texts.base),
      tell(ours.kept[index] ?? entry, texts.ours),
      tell(theirs.kept[index] ?? entry, texts.theirs),
    ];
    return mine.lines.length === base.lines.length ? other : mine;
  });
  const above = texts.ours.lines.slice(0, range.ours.start);
  const below = texts.ours.lines.slice(range.ours.end);
  for (const isOursFirst of [true, false]) {
    const mine = tellGaps(isOursFirst ? ours.gaps : own, texts.ours);
    const other = tellGaps(isOursFirst ? fresh : theirs.gaps, texts.theirs);
    const runs = isOursFirst ? [mine, other] : [other, mine];
    const told = mine.flatMap((_, gap) => [
      ...joinRuns(runs[0]?.[gap] ?? [], runs[1]?.[gap] ?? []),
      ...kept.slice(gap, gap + 1),
    ]);
    const merged = told.flatMap(({ lines }) => lines);
    const reread = read([...above, ...merged, ...below]);
    if (reread !== null && isTold(told, reread, range.ours.start)) {
      return merged.map((line) => `${line}\n`);
    }
  }
  return null;
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
    } else if (entry.key === null) return null;
    else gaps.at(-1)?.push(entry);
  }
  return gaps.length === base.length + 1 ? { gaps, kept } : null;
}

/** Returns the insertions that the other side did not make as well; null where it has such a name otherwise. */
function apartFrom(gaps: Gaps, own: Text, other: Text, others: Gaps): Gaps | null {
  const taken = new Set(other.entries.map(nameOf));
  const result: Entry[][] = [];
  for (const [gap, run] of gaps.entries()) {
    const same = new Set(others[gap]?.map((entry) => `${nameOf(entry)}\n${textOf(entry, other)}`));
    const apart = run.filter((entry) => !same.has(`${nameOf(entry)}\n${textOf(entry, own)}`));
    if (apart.some((entry) => taken.has(nameOf(entry)))) return null;
    result.push(apart);
  }
  return result;
}

type Told = { readonly lines: readonly string[]; readonly name: string };

function tell(entry: Entry, { lines }: Text): Told {
  return { lines: lines.slice(entry.start, entry.end), name: nameOf(entry) };
}

function tellGaps(gaps: Gaps, text: Text): readonly (readonly Told[])[] {
  return gaps.map((run) => run.map((entry) => tell(entry, text)));
}

/** Puts a run after another one, with a blank line between them where the later ones have such. */
function joinRuns(first: readonly Told[], second: readonly Told[]): readonly Told[] {
  const [head, ...rest] = second;
  if (first.length === 0 || head === undefined) return [...first, ...second];
  const isSpaced = [...first.slice(1), ...rest].some(({ lines }) => lines[0] === '');
  if (!isSpaced || head.lines[0] === '') return [...first, ...second];
  return [...first, { ...head, lines: ['', ...head.lines] }, ...rest];
}

/** Tells whether entries that were read again are those that were put together. */
function isTold(told: readonly Told[], read: readonly Entry[], from: number): boolean {
  let start = from;
  const first = read.findIndex((entry) => entry.start === start);
  if (first < 0) return false;
  return told.every(({ lines, name }, index) => {
    const entry = read[first + index];
    const end = start + lines.length;
    const isSame = entry?.start === start && entry.end === end && nameOf(entry) === name;
    start = end;
    return isSame;
  });
}

function nameOf({ list, key }: Entry): string {
  return key === null ? '' : `${list}\n${key}`;
}

/** Returns what an entry says, blank lines above it apart. */
function textOf({ start, end }: Entry, { lines }: Text): string {
  return lines
    .slice(start, end)
    .join('\n')
    .replace(/^\s*\n/, '');
}
