import type { Versions } from '../../tree.ts';
import type { Interned } from '../lines/intern.ts';
import { mapVersions, NAMES } from '../lines/line-ends.ts';
import { isEqual, type Range, type Region } from '../lines/regions.ts';
import { holdsRun, isWithin } from '../lines/same-change.ts';
import { joinRegions } from './invalid-merge.ts';
import { findWords } from './places.ts';

/** Agreed lines between two insertions that may be one: further apart equal lines are mostly meant. */
const MAX_APART = 3;

/** Lines of one side, and how many of them the base does not have. */
type Brought = { readonly lines: Int32Array; readonly grown: number };

/**
 * Joins two changes a few lines apart in which both sides bring the same lines, however few: a merge by lines
 * would keep them twice, a `return` or a match arm.
 *
 * What was joined is the one side's where that side has the other's insertion at the same place, else a conflict.
 */
export function disputeTwins(regions: readonly Region[], texts: Interned): readonly Region[] {
  const words = findWords(texts);
  const stretches = regions.flatMap((region, index) => twinsFrom(region, index));
  if (stretches.length === 0) return regions;
  const known = new Set(regions);
  return joinRegions(regions, stretches).map((region) =>
    known.has(region) ? region : takeOnce(region, texts),
  );

  function twinsFrom(region: Region, start: number): readonly Range[] {
    if (region.kind !== 'ours' && region.kind !== 'theirs') return [];
    let apart = 0;
    for (let index = start + 1; index < regions.length; index++) {
      const other = regions[index];
      if (other === undefined || other.kind === 'conflict' || other.kind === 'resolved') return [];
      if (other.kind !== region.kind && (other.kind === 'ours' || other.kind === 'theirs')) {
        const isTwin = areTwins(broughtBy(region, texts), broughtBy(other, texts), words);
        return isTwin ? [{ start, end: index + 1 }] : [];
      }
      apart += Math.max(other.ours.end - other.ours.start, other.theirs.end - other.theirs.start);
      if (apart > MAX_APART) return [];
    }
    return [];
  }
}

function broughtBy(region: Region, texts: Interned): Brought {
  const name = region.kind === 'theirs' ? 'theirs' : 'ours';
  const lines = texts[name].subarray(region[name].start, region[name].end);
  return { lines, grown: lines.length - (region.base.end - region.base.start) };
}

/** Tells whether one of two changes only inserts, and all that it inserts, brackets around it apart, is in the other. */
function areTwins(one: Brought, other: Brought, isWord: (line: number) => boolean): boolean {
  const isIn = (inserted: Brought, text: Brought) => {
    if (inserted.grown < inserted.lines.length) return false;
    const core = coreOf(inserted.lines, isWord);
    return core.length > 0 && text.grown >= core.length && holdsRun(text.lines, core);
  };
  return isIn(one, other) || isIn(other, one);
}

/** Returns lines without those at their head and tail that have no letter or digit. */
function coreOf(lines: Int32Array, isWord: (line: number) => boolean): Int32Array {
  const start = lines.findIndex(isWord);
  return start < 0 ? lines.subarray(0, 0) : lines.subarray(start, lines.findLastIndex(isWord) + 1);
}

function takeOnce(region: Region, texts: Interned): Region {
  const { base, ours, theirs } = mapVersions(NAMES, (name: keyof Versions<unknown>) =>
    texts[name].subarray(region[name].start, region[name].end),
  );
  if (isEqual(ours, theirs)) return { ...region, kind: 'both' };
  const isOurs = isWithin(base, theirs, ours);
  // Equal lines can make both readings right: then nothing tells which is.
  if (isOurs === isWithin(base, ours, theirs)) return region;
  return { ...region, kind: isOurs ? 'ours' : 'theirs' };
}
