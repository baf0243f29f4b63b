import { joinRegions } from './doubts.ts';
import { at } from './edits.ts';
import type { Interned } from './intern.ts';
import { mapVersions, NAMES } from './line-ends.ts';
import { commonHead, commonTail, isEqual, type Range, type Region } from './regions.ts';

/** Lines that make a block. Two equal lines in a row are often chance. */
const BLOCK = 3;
/** Blocks of one run that are no chance even where each side put in more beside them. */
const LONG_RUN = 3;

type Name = 'ours' | 'theirs';

/** A run of lines that both sides have, and where it begins in each. */
type Run = { readonly ours: number; readonly theirs: number; readonly length: number };

/** Where a block begins in one side, and the region for which it was looked at. */
type Place = { readonly start: number; readonly region: number };

/**
 * Joins the two places of a block that both sides put in and that a merge by lines would keep
 * twice. Alignment has then put equal insertions at different lines, mostly because one side also
 * changed a line beside its own.
 *
 * What was joined is the one side's where that side has all that the other one did, else a
 * conflict. A block is three lines or more that the base does not have and each side has once. It
 * is taken for the same one if a side put in nothing else there, or if five lines are equal.
 */
export function joinRepeats(regions: readonly Region[], texts: Interned): readonly Region[] {
  const known = new Set(regions);
  return joinRegions(regions, repeatsIn(regions, texts)).map((region) =>
    known.has(region) ? region : settleContained(region, texts),
  );
}

/** The stretches of regions from the one place of such a block to the other. */
function repeatsIn(regions: readonly Region[], texts: Interned): readonly Range[] {
  const sides = { ours: newPlaces(regions, 'ours'), theirs: newPlaces(regions, 'theirs') };
  const mine = linesAt(sides.ours, texts.ours, texts.size);
  const theirs = blocksAt(sides.theirs, texts.theirs, mine);
  if (theirs.size === 0) return [];
  const other = linesAt([...theirs.values()], texts.theirs, texts.size);
  const ours = blocksAt(sides.ours, texts.ours, other);
  const isRepeated = repeatFinder(texts, other, new Set(ours.keys()));
  const runs = new Map<string, { readonly run: Run; readonly stretch: Range; blocks: number }>();
  for (const [block, { start, region }] of ours) {
    const partner = theirs.get(block);
    if (partner === undefined || !isRepeated(block)) continue;
    const run = runAround(start, partner.start, texts);
    const known = runs.get(`${run.ours} ${run.theirs}`);
    const stretch = spanOf(region, partner.region);
    if (known === undefined) runs.set(`${run.ours} ${run.theirs}`, { run, stretch, blocks: 1 });
    else known.blocks++;
  }
  return [...runs.values()]
    .filter(
      ({ run, stretch, blocks }) => blocks >= LONG_RUN || isWhole(run, stretch, regions, texts),
    )
    .map(({ stretch }) => stretch);
}

/** Where blocks begin that a merge by lines keeps and in which one side had a part. */
function newPlaces(regions: readonly Region[], name: Name): readonly Place[] {
  const places: Place[] = [];
  for (const kept of keptStretches(regions, name)) {
    let from = regions[kept.start]?.[name].start ?? 0;
    const end = (regions[kept.end - 1]?.[name].end ?? 0) - BLOCK;
    for (let region = kept.start; region < kept.end; region++) {
      const own = regions[region];
      if (own?.kind !== name) continue;
      const last = Math.min(end, own[name].end - 1);
      for (let start = Math.max(from, own[name].start - BLOCK + 1); start <= last; start++) {
        places.push({ start, region });
      }
      from = Math.max(from, last + 1);
    }
  }
  return places;
}

/** The lines of some blocks, as a mark for each. */
function linesAt(places: readonly Place[], lines: Int32Array, size: number): Uint8Array {
  const marks = new Uint8Array(size);
  for (const { start } of places) {
    for (let line = start; line < start + BLOCK; line++) marks[at(lines, line)] = 1;
  }
  return marks;
}

/** The blocks at some places, but for those with a line that is not marked: most, without a look-up. */
function blocksAt(
  places: readonly Place[],
  lines: Int32Array,
  marks: Uint8Array,
): ReadonlyMap<string, Place> {
  const blocks = new Map<string, Place>();
  for (const place of places) {
    if (isMarked(lines, place.start, marks)) blocks.set(blockAt(lines, place.start), place);
  }
  return blocks;
}

function isMarked(lines: Int32Array, start: number, marks: Uint8Array): boolean {
  for (let line = start; line < start + BLOCK; line++) {
    if (at(marks, at(lines, line)) === 0) return false;
  }
  return true;
}

/** Runs of regions whose lines in one side stay together in the merged text. */
function keptStretches(regions: readonly Region[], name: Name): readonly Range[] {
  const stretches: Range[] = [];
  let start = 0;
  for (let index = 0; index <= regions.length; index++) {
    const kind = regions[index]?.kind;
    if (kind === 'all' || kind === 'both' || kind === name) continue;
    if (index > start) stretches.push({ start, end: index });
    start = index + 1;
  }
  return stretches;
}

/** Tells of some blocks, all of marked lines, whether they are new, and once in each side. */
function repeatFinder(
  texts: Interned,
  marks: Uint8Array,
  some: ReadonlySet<string>,
): (block: string) => boolean {
  const { base, ours, theirs } = mapVersions(NAMES, (name) => {
    const counts = new Map<string, number>();
    for (let start = 0; some.size > 0 && start + BLOCK <= texts[name].length; start++) {
      if (!isMarked(texts[name], start, marks)) continue;
      const block = blockAt(texts[name], start);
      if (some.has(block)) counts.set(block, (counts.get(block) ?? 0) + 1);
    }
    return counts;
  });
  return (block) => !base.has(block) && ours.get(block) === 1 && theirs.get(block) === 1;
}

function blockAt(lines: Int32Array, place: number): string {
  return `${at(lines, place)} ${at(lines, place + 1)} ${at(lines, place + 2)}`;
}

/** All equal lines around a pair of places. */
function runAround(mine: number, other: number, { ours, theirs }: Interned): Run {
  const above = commonTail(ours.subarray(0, mine), theirs.subarray(0, other));
  const below = commonHead(ours.subarray(mine), theirs.subarray(other));
  return { ours: mine - above, theirs: other - above, length: above + below };
}

/**
 * Whether a run holds all that one side put in at a place where it took nothing away. Alignment may
 * have it a few lines higher or lower than in the run.
 */
function isWhole(run: Run, stretch: Range, regions: readonly Region[], texts: Interned): boolean {
  return regions.slice(stretch.start, stretch.end).some(({ kind, base, ...sides }) => {
    if ((kind !== 'ours' && kind !== 'theirs') || base.start < base.end) return false;
    const { start, end } = sides[kind];
    const lines = texts[kind];
    const up = commonTail(lines.subarray(0, start), lines.subarray(0, end));
    const down = commonHead(lines.subarray(start), lines.subarray(end));
    const highest = Math.max(run[kind], start - up);
    const lowest = Math.min(run[kind] + run.length - (end - start), start + down);
    return highest <= lowest;
  });
}

function spanOf(one: Place['region'], other: Place['region']): Range {
  return { start: Math.min(one, other), end: Math.max(one, other) + 1 };
}

/** What was joined as the side that holds all that the other side did there; a conflict where none does. */
function settleContained(region: Region, texts: Interned): Region {
  if (region.kind !== 'conflict') return region;
  const { base, ours, theirs } = mapVersions(NAMES, (name) =>
    texts[name].subarray(region[name].start, region[name].end),
  );
  if (isEqual(ours, theirs)) return { ...region, kind: 'both' };
  // Where both only put something in, nothing says whose further lines go where.
  if (base.length === 0) return region;
  if (isWithin(base, ours, theirs)) return { ...region, kind: 'theirs' };
  return isWithin(base, theirs, ours) ? { ...region, kind: 'ours' } : region;
}

/**
 * Whether one side is the base with a block put in, and the other side has that block and, before
 * or after it, the base's own lines.
 */
function isWithin(base: Int32Array, one: Int32Array, other: Int32Array): boolean {
  const { length } = one;
  const inserted = length - base.length;
  if (inserted < BLOCK || commonHead(base, one) + commonTail(base, one) < base.length) return false;
  return (
    commonHead(one, other) + commonTail(one, base) >= length ||
    commonTail(one, other) + commonHead(one, base) >= length
  );
}
