import { at, type Interned } from '../lines/interned-lines.ts';
import { mapVersions, NAMES } from '../lines/lines.ts';
import { isEqual, type LineSpan, type Region } from '../lines/regions.ts';
import { isWithin } from '../lines/same-change.ts';
import { joinRegions } from './join-regions.ts';
import {
  BLOCK,
  type BrokenBlock,
  brokenBlocks,
  findWords,
  largestBlock,
  type Merged,
  mergedLines,
  type Shared,
} from './repeated-blocks.ts';

/** An insertion of fewer lines does not tell that one side has all of the other side's work. */
const MIN_INSERTED = 3;
/**
 * Lines of the base between two places that may be one. Further apart, new code that has only a part in common
 * is two pieces of code: in all such merges of nine repositories both were committed.
 */
const MAX_APART = 10;

/**
 * Joins the two places of a block that both sides inserted, if a merge by lines would not keep the block exactly
 * once. Alignment then sees equal insertions at different lines, mostly because one side also changed a line beside
 * its own.
 *
 * If one side did everything that the other did there, the joined place is that side's; otherwise it is a conflict.
 */
export function joinRepeats(regions: readonly Region[], texts: Interned): readonly Region[] {
  const known = new Set(regions);
  const joined = disputeOnce(regions, texts);
  if (joined === regions) return regions;
  const resolved = joined.map((region) =>
    known.has(region) ? region : resolveContained(region, texts),
  );
  return disputeRepeats(resolved, texts);
}

/** Makes conflicts of such places until every block that both sides inserted occurs once. */
export function disputeRepeats(regions: readonly Region[], texts: Interned): readonly Region[] {
  const disputed = disputeOnce(regions, texts);
  // Each round leaves less that is not in dispute, so there is a last one.
  return disputed === regions ? regions : disputeRepeats(disputed, texts);
}

function disputeOnce(regions: readonly Region[], texts: Interned): readonly Region[] {
  const stretches = brokenStretches(regions, texts);
  if (stretches.length === 0) return regions;
  // Reading from ours or from theirs can give other smallest blocks: both results count.
  const swapped = regions.map((region): Region => {
    const { kind, ours, theirs } = region;
    if (kind === 'resolved') return { ...region, ours: theirs, theirs: ours };
    const other = kind === 'ours' ? 'theirs' : kind === 'theirs' ? 'ours' : kind;
    return { ...region, kind: other, ours: theirs, theirs: ours };
  });
  const others = brokenStretches(swapped, { ...texts, ours: texts.theirs, theirs: texts.ours });
  return joinRegions(regions, [...stretches, ...others]);
}

function brokenStretches(regions: readonly Region[], texts: Interned): readonly LineSpan[] {
  let merged: Merged | undefined;
  const readMerged = () => {
    merged ??= mergedLines(regions, texts);
    return merged;
  };
  const isWord = findWords(texts);
  let whole: Shared | null = null;
  let known = new Map<Region | undefined, boolean>();
  // Most blocks are parts of the one before, whose whole takes time to read.
  const isAllOfWhole = (region: Region | undefined, block: Shared) => {
    if (whole === null || !isPartOf(block, whole)) {
      whole = largestBlock(block, texts);
      known = new Map();
    }
    const answer = known.get(region) ?? isAllOf(region, whole, { texts, isWord });
    known.set(region, answer);
    return answer;
  };
  return [...brokenBlocks(regions, texts, readMerged)].flatMap((block) => {
    const stretches = stretchesOf(block, regions, readMerged());
    if (block.merged.length === 0) return stretches;
    return stretches.filter(
      ({ start, end }) =>
        linesWithin(regions.slice(start + 1, end - 1)) <= MAX_APART ||
        [regions[start], regions[end - 1]].some((one) => isAllOfWhole(one, block)),
    );
  });
}

/** Tells whether a block is within another one, at the same places. */
function isPartOf(block: Shared, whole: Shared): boolean {
  const isSame = block.ours - block.theirs === whole.ours - whole.theirs;
  return (
    isSame && block.ours >= whole.ours && block.ours + block.length <= whole.ours + whole.length
  );
}

function linesWithin(regions: readonly Region[]): number {
  return regions.reduce((length, { base }) => length + base.end - base.start, 0);
}

/**
 * Tells whether a block has all words of a change, and these alone would be one. Compares lines, not places: of
 * equal lines around an insertion alignment can take either.
 */
function isAllOf(
  region: Region | undefined,
  block: Shared,
  { texts, isWord }: { readonly texts: Interned; readonly isWord: (line: number) => boolean },
): boolean {
  if (region?.kind !== 'ours' && region?.kind !== 'theirs') return true;
  const { start, end } = region[region.kind];
  const known = new Set(texts.ours.subarray(block.ours, block.ours + block.length));
  const words = texts[region.kind].subarray(start, end).filter(isWord);
  return words.length >= BLOCK && words.every((line) => known.has(line));
}

/**
 * Returns the stretches from each place of a block to the next; where it has none, from one side's place to
 * the other's.
 */
function stretchesOf(
  block: BrokenBlock,
  regions: readonly Region[],
  merged: Merged,
): readonly LineSpan[] {
  const { length } = block;
  const touched = block.merged.map((place) => {
    const [first, last] = [place, place + length - 1].map((line) => at(merged.regions, line));
    return changesAmong(regions, (_, index) => index >= (first ?? 0) && index <= (last ?? 0));
  });
  if (touched.length === 0) {
    const inSide = (name: 'ours' | 'theirs') => (region: Region) =>
      region[name].start < block[name] + length && region[name].end > block[name];
    const both = [inSide('ours'), inSide('theirs')].flatMap((is) => changesAmong(regions, is));
    return [{ start: Math.min(...both), end: Math.max(...both) + 1 }];
  }
  return touched.slice(1).map((some, index) => nearestPair(touched[index] ?? [], some, regions));
}

function changesAmong(
  regions: readonly Region[],
  is: (region: Region, index: number) => boolean,
): readonly number[] {
  return regions.flatMap((region, index) =>
    region.kind !== 'all' && is(region, index) ? [index] : [],
  );
}

/** Returns the closest two of some regions, of different sides if there are such. */
function nearestPair(
  some: readonly number[],
  others: readonly number[],
  regions: readonly Region[],
): LineSpan {
  const pairs = some.flatMap((one) =>
    others.map((other) => {
      const isSame = regions[one]?.kind === regions[other]?.kind;
      const range = { start: Math.min(one, other), end: Math.max(one, other) + 1 };
      return { isSame, range, length: range.end - range.start };
    }),
  );
  const [nearest] = pairs.toSorted(
    (one, other) => Number(one.isSame) - Number(other.isSame) || one.length - other.length,
  );
  return nearest?.range ?? { start: 0, end: regions.length };
}

/**
 * Resolves joined regions as the side that holds everything that the other side did there; else leaves a
 * conflict.
 */
function resolveContained(region: Region, texts: Interned): Region {
  if (region.kind !== 'conflict') return region;
  const { base, ours, theirs } = mapVersions(NAMES, (name) =>
    texts[name].subarray(region[name].start, region[name].end),
  );
  if (isEqual(ours, theirs)) return { ...region, kind: 'both' };
  // Where both sides only inserted, the order of their further lines is unknown.
  if (base.length === 0) return region;
  const holds = (one: Int32Array, other: Int32Array) =>
    one.length - base.length >= MIN_INSERTED && isWithin(base, one, other, texts.contents);
  const isOurs = holds(theirs, ours);
  // Each may have the block of the other at the other end of its own: then nothing tells which.
  if (isOurs === holds(ours, theirs)) return region;
  return { ...region, kind: isOurs ? 'ours' : 'theirs' };
}
