import type { Versions } from '../../tree.ts';
import { at } from '../lines/edits.ts';
import type { Interned } from '../lines/intern.ts';
import { mapVersions, NAMES } from '../lines/line-ends.ts';
import { isEqual, type Range, type Region } from '../lines/regions.ts';
import { holdsRun, isWithin } from '../lines/same-change.ts';
import type { Format } from '../syntax/language.ts';
import { joinRegions } from './invalid-merge.ts';
import { findWords } from './places.ts';

/** Agreed lines between two insertions that may be one: further apart equal lines are mostly meant. */
const MAX_APART = 3;
const HEADING = /^(#{1,6})\s/;

/** Three texts, by numbers and by words. */
type Texts = {
  readonly texts: Interned;
  readonly lines: Versions<readonly string[]>;
  readonly format: Format | null;
};

/** Lines of one side, and how many of them the base does not have. */
type Brought = { readonly lines: Int32Array; readonly grown: number };

/**
 * Joins two changes a few lines apart in which both sides bring the same lines, however few: a merge by lines
 * would keep them twice, a `return` or a match arm.
 *
 * What was joined is the one side's where that side has the other's insertion at the same place, else a conflict.
 * A Markdown heading alone, as `### Added`, may be in two sections.
 */
export function disputeTwins(
  regions: readonly Region[],
  { texts, lines, format }: Texts,
): readonly Region[] {
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
        const between = regions.slice(start + 1, index);
        const isTwin =
          areTwins(broughtBy(region, texts), broughtBy(other, texts), words) &&
          ![region, other].some((one) => isOfOtherSection(one, between));
        return isTwin ? [{ start, end: index + 1 }] : [];
      }
      apart += Math.max(other.ours.end - other.ours.start, other.theirs.end - other.theirs.start);
      if (apart > MAX_APART) return [];
    }
    return [];
  }

  /** Tells whether a change only inserts a heading, and an agreed heading of an outer level is among some regions. */
  function isOfOtherSection(region: Region, between: readonly Region[]): boolean {
    if (format !== 'markdown' || region.base.end > region.base.start) return false;
    const name = nameOf(region);
    const { start, end } = region[name];
    const [heading = '', ...more] = lines[name]
      .slice(start, end)
      .filter((_, index) => words(at(texts[name], start + index)));
    const level = more.length > 0 ? 0 : levelOf(heading);
    const agreed = between.filter(({ kind }) => kind === 'all').map(({ base }) => base);
    return agreed
      .flatMap((base) => lines.base.slice(base.start, base.end).map(levelOf))
      .some((outer) => outer > 0 && outer < level);
  }
}

function nameOf({ kind }: Region): 'ours' | 'theirs' {
  return kind === 'theirs' ? 'theirs' : 'ours';
}

/** Returns how deep the heading is that a line is; 0 for another line. */
function levelOf(line: string): number {
  return HEADING.exec(line)?.[1]?.length ?? 0;
}

function broughtBy(region: Region, texts: Interned): Brought {
  const name = nameOf(region);
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
