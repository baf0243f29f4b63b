import { mapVersions, NAMES } from '../lines/lines.ts';
import { type LineSpan, linesOf, type Region } from '../lines/regions.ts';
import type { Defect } from '../syntax/faults/merge-defects.ts';
import type { Versions } from '../versions.ts';

/** Regions, the same with one side in place of their conflicts, the text that was read of them, and their lines. */
type Filled = {
  readonly regions: readonly Region[];
  readonly filled: readonly Region[];
  /** Has a line for each line of the merge; what was not looked at may be blank. */
  readonly text: string;
  readonly lines: Versions<readonly string[]>;
};

/** Joins the regions that caused a defect into conflicts, as small as possible. */
export function reopenInvalid(
  defect: Defect,
  { regions, filled, text, lines }: Filled,
): readonly Region[] {
  const changed = indicesOf(regions, ({ kind }) => kind !== 'all');
  const all = { start: Math.min(...changed), end: Math.max(...changed) + 1 };
  if (defect.kind === 'syntax') return joinRegions(regions, [all]);
  const regionAt = regionFinder(filled, text, lines);
  const stretches = defect.duplicates.map(({ places }) => {
    const indices = [...new Set(places.map(regionAt))];
    return nearestPair(filled, indices) ?? all;
  });
  return joinRegions(regions, stretches);
}

/** Returns the closest two of the regions of which one is ours' alone and the other theirs' alone. */
function nearestPair(regions: readonly Region[], indices: readonly number[]): LineSpan | null {
  const sorted = indices
    .filter((index) => ['ours', 'theirs'].includes(regions[index]?.kind ?? ''))
    .toSorted((one, other) => one - other);
  const pairs = sorted.flatMap((start, place) => {
    const last = sorted[place + 1];
    if (last === undefined || regions[start]?.kind === regions[last]?.kind) return [];
    return [{ start, end: last + 1 }];
  });
  const [nearest] = pairs.toSorted((one, other) => one.end - one.start - (other.end - other.start));
  return nearest ?? null;
}

/** Finds the region that contains an offset of the text that was read. */
function regionFinder(
  regions: readonly Region[],
  text: string,
  lines: Versions<readonly string[]>,
): (offset: number) => number {
  let count = 0;
  const ends = regions.map((region) => {
    count += linesOf(region, lines).length;
    return count;
  });
  return (offset) => {
    const line = text.slice(0, offset).split('\n').length - 1;
    return ends.findIndex((end) => line < end);
  };
}

/** Joins each of the given stretches of regions into one conflict. */
export function joinRegions(
  regions: readonly Region[],
  stretches: readonly LineSpan[],
): readonly Region[] {
  const joined: Region[] = [];
  let end = 0;
  for (const { start, end: stretchEnd } of overlapping(stretches)) {
    joined.push(...regions.slice(end, start), joinAll(regions.slice(start, stretchEnd)));
    end = stretchEnd;
  }
  return [...joined, ...regions.slice(end)];
}

function overlapping(stretches: readonly LineSpan[]): readonly LineSpan[] {
  const apart: LineSpan[] = [];
  for (const stretch of stretches.toSorted((one, other) => one.start - other.start)) {
    const last = apart.at(-1);
    if (last === undefined || last.end < stretch.start) apart.push(stretch);
    else apart[apart.length - 1] = { start: last.start, end: Math.max(last.end, stretch.end) };
  }
  return apart;
}

function joinAll(regions: readonly Region[]): Region {
  const ranges = mapVersions(NAMES, (name) => ({
    start: regions[0]?.[name].start ?? 0,
    end: regions.at(-1)?.[name].end ?? 0,
  }));
  return { kind: 'conflict', ...ranges };
}

function indicesOf(regions: readonly Region[], is: (region: Region) => boolean): readonly number[] {
  return regions.flatMap((region, index) => (is(region) ? [index] : []));
}
