import type { Interned } from '../lines/intern.ts';
import { mapVersions, NAMES } from '../lines/lines.ts';
import type { Range, Region } from '../lines/regions.ts';
import type { Versions } from '../tree.ts';
import { moduleLine } from './outline.ts';
import { createPartFinder, type FindParts } from './whole-parts.ts';

type Lines = Versions<readonly string[]>;

/** A merge without most of what all three versions agree about, and the way back. */
export type Excerpt = {
  readonly regions: readonly Region[];
  readonly texts: Interned;
  readonly lines: Lines;
  /** Returns regions of the excerpt as those of the whole texts; null where an answer would lose lines. */
  readonly restore: (regions: readonly Region[]) => readonly Region[] | null;
};

/** Agreed lines that stay beside a conflict that may be resolved: its stretch may grow by some. */
const CONTEXT = 44;
/** Agreed lines beside any other change. */
const NEAR = 2;
/** Shorter agreed stretches are not worth a cut. */
const MIN_CUT = 8;

/**
 * Leaves out whole statements and members that all three versions have unchanged, with what is in them, so
 * that a parser reads what is around the changes and no more.
 *
 * Names in what is left out are the same in all versions: they neither clash anew nor change place. The
 * first line that tells a module from a script stays.
 */
export function excerptOf(
  regions: readonly Region[],
  texts: Interned,
  lines: Lines,
  isSolvable: (region: Region) => boolean = () => true,
): Excerpt {
  const module = moduleLine(lines.base);
  let findParts: FindParts | null = null;
  const cuts = regions.flatMap(({ kind, base, ours, theirs }, index): Versions<Range>[] => {
    if (kind !== 'all') return [];
    const start = base.start + contextBeside(regions[index - 1], isSolvable);
    const end = base.end - contextBeside(regions[index + 1], isSolvable);
    if (end - start < MIN_CUT) return [];
    const shift = { base: 0, ours: ours.start - base.start, theirs: theirs.start - base.start };
    findParts ??= createPartFinder(lines.base);
    return findParts({ start, end })
      .filter((part) => part.end - part.start >= MIN_CUT)
      .flatMap((part) => withoutLine(part, module))
      .map((part) => mapVersions(shift, (by) => ({ start: part.start + by, end: part.end + by })));
  });
  if (cuts.length === 0) return { regions, texts, lines, restore: (same) => same };
  const shorter = mapVersions(NAMES, (name) => lineShift(cuts.map((cut) => cut[name])));
  const kept = mapVersions(NAMES, (name) => keptLines(lines[name].length, cuts, name));
  return {
    regions: regions.flatMap((region) => {
      const ranges = mapVersions(NAMES, (name) => mapRange(region[name], shorter[name].toShort));
      const isGone = region.kind === 'all' && ranges.base.start === ranges.base.end;
      return isGone ? [] : [{ ...region, ...ranges }];
    }),
    texts: {
      ...texts,
      ...mapVersions(NAMES, (name) => kept[name].map((line) => texts[name][line] ?? 0)),
    },
    lines: mapVersions(NAMES, (name) => Array.from(kept[name], (line) => lines[name][line] ?? '')),
    restore: (some) => {
      const last = some.length - 1;
      const whole = some.map((region, index): Region => {
        const ranges = mapVersions(NAMES, (name) => {
          const { start, end } = mapRange(region[name], shorter[name].toWhole);
          return { start, end: index === last ? lines[name].length : end };
        });
        return { ...region, ...ranges };
      });
      // The lines of an answer hold nothing of what was left out within it.
      const isWhole = whole.every(
        (region, index) => region.kind !== 'resolved' || isAsLong(region, some[index]),
      );
      return isWhole ? whole : null;
    },
  };
}

function contextBeside(
  region: Region | undefined,
  isSolvable: (region: Region) => boolean,
): number {
  if (region === undefined) return 0;
  return region.kind === 'conflict' && isSolvable(region) ? CONTEXT : NEAR;
}

/** A part may hold more than the one line that must stay: all of it does. */
function withoutLine(part: Range, line: number): readonly Range[] {
  return part.start <= line && line < part.end ? [] : [part];
}

function keptLines(length: number, cuts: readonly Versions<Range>[], name: keyof Lines) {
  const kept: number[] = [];
  let from = 0;
  for (const { [name]: cut } of cuts) {
    for (let line = from; line < cut.start; line++) kept.push(line);
    from = cut.end;
  }
  for (let line = from; line < length; line++) kept.push(line);
  return Int32Array.from(kept);
}

/** Converts line numbers of one version. A cut belongs to what comes after the place where it was. */
function lineShift(cuts: readonly Range[]) {
  const ends = cuts.map(({ end }) => end);
  const places: number[] = [];
  /** How many lines are gone with the first cuts, by their number. */
  const gone = [0];
  for (const { start, end } of cuts) {
    const before = gone.at(-1) ?? 0;
    places.push(start - before);
    gone.push(before + end - start);
  }
  return {
    toShort: (line: number) => line - (gone[countBelow(ends, line + 1)] ?? 0),
    toWhole: (line: number) => line + (gone[countBelow(places, line)] ?? 0),
  };
}

/** Counts the numbers below a limit, of some in order. */
function countBelow(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function mapRange({ start, end }: Range, map: (line: number) => number): Range {
  return { start: map(start), end: map(end) };
}

function isAsLong(one: Region, other: Region | undefined): boolean {
  return (['base', 'ours', 'theirs'] as const).every(
    (name) =>
      one[name].end - one[name].start === (other?.[name].end ?? 0) - (other?.[name].start ?? 0),
  );
}
