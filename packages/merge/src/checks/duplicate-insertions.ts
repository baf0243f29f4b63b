import { at, type Interned } from '../lines/interned-lines.ts';
import { mapVersions, NAMES } from '../lines/lines.ts';
import { isEqual, type LineSpan, type Region } from '../lines/regions.ts';
import { isInSameBlock, isWithin, runsOf } from '../lines/same-change.ts';
import type { Format } from '../syntax/language.ts';
import type { Versions } from '../versions.ts';
import { joinRegions } from './join-regions.ts';
import { findWords } from './repeated-blocks.ts';

/** Agreed lines between two insertions that may be one: further apart equal lines are mostly meant. */
const MAX_APART = 3;
const HEADING = /^(#{1,6})\s/;

/** Three texts, by numbers and by words. */
type Texts = {
  readonly texts: Interned;
  readonly lines: Versions<readonly string[]>;
  readonly format: Format | null;
};

/**
 * The facts that tell whether two changes are the same: the lines between them, and the content of each line by its
 * number.
 */
type Beside = {
  readonly between: readonly number[];
  readonly contents: readonly string[];
  readonly isWord: (line: number) => boolean;
};

/** Lines of one side, and how many of them the base does not have. */
type InsertedLines = { readonly lines: Int32Array; readonly grown: number };

/**
 * Joins two changes, a few lines apart, in which both sides insert the same lines, however few, such as a `return` or
 * a match arm: a merge by lines would keep them twice.
 *
 * If one side has the other's insertion at the same place, the joined change is that side's; otherwise it is a
 * conflict. A single Markdown heading, such as `### Added`, may be in two sections.
 */
export function disputeDuplicateInsertions(
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

  function twinsFrom(region: Region, start: number): readonly LineSpan[] {
    if (region.kind !== 'ours' && region.kind !== 'theirs') return [];
    let apart = 0;
    for (let index = start + 1; index < regions.length; index++) {
      const other = regions[index];
      if (other === undefined || other.kind === 'conflict' || other.kind === 'resolved') return [];
      if (other.kind !== region.kind && (other.kind === 'ours' || other.kind === 'theirs')) {
        const between = regions.slice(start + 1, index);
        const isTwin =
          areTwins(broughtBy(region, texts), broughtBy(other, texts), {
            between: between.flatMap(({ ours }) => [...texts.ours.subarray(ours.start, ours.end)]),
            contents: texts.contents,
            isWord: words,
          }) && ![region, other].some((one) => isOfOtherSection(one, between));
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

function broughtBy(region: Region, texts: Interned): InsertedLines {
  const name = nameOf(region);
  const lines = texts[name].subarray(region[name].start, region[name].end);
  return { lines, grown: lines.length - (region.base.end - region.base.start) };
}

/**
 * Tells whether one of two changes only inserts, and all that it inserts, brackets around it apart, is in the other, in
 * the same block.
 */
function areTwins(
  first: InsertedLines,
  second: InsertedLines,
  { between, contents, isWord }: Beside,
): boolean {
  const read = (numbers: Iterable<number>) => Array.from(numbers, (line) => contents[line] ?? '');
  const isIn = (inserted: InsertedLines, text: InsertedLines) => {
    if (inserted.grown < inserted.lines.length) return false;
    const core = coreOf(inserted.lines, isWord);
    const { length } = core.lines;
    if (length === 0 || text.grown < length) return false;
    const places = runsOf(text.lines, core.lines);
    // The nearest one has the fewest lines between.
    const place = inserted === first ? places[0] : places.at(-1);
    if (place === undefined) return false;
    const [head, tail] =
      inserted === first
        ? [inserted.lines.subarray(core.end), text.lines.subarray(0, place)]
        : [text.lines.subarray(place + length), inserted.lines.subarray(0, core.start)];
    return isInSameBlock(read([...head, ...between, ...tail]), read(core.lines));
  };
  return isIn(first, second) || isIn(second, first);
}

/** Returns lines without those at their head and tail that have no letter or digit, and where they are. */
function coreOf(lines: Int32Array, isWord: (line: number) => boolean) {
  const start = Math.max(0, lines.findIndex(isWord));
  const end = lines.findLastIndex(isWord) + 1;
  return { start, end, lines: lines.subarray(start, end) };
}

function takeOnce(region: Region, texts: Interned): Region {
  const { base, ours, theirs } = mapVersions(NAMES, (name: keyof Versions<unknown>) =>
    texts[name].subarray(region[name].start, region[name].end),
  );
  if (isEqual(ours, theirs)) return { ...region, kind: 'both' };
  const isOurs = isWithin(base, theirs, ours, texts.contents);
  // Equal lines can make both readings right: then nothing tells which is.
  if (isOurs === isWithin(base, ours, theirs, texts.contents)) return region;
  return { ...region, kind: isOurs ? 'ours' : 'theirs' };
}
