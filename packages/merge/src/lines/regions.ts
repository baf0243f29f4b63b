import type { Versions } from '../versions.ts';
import { diffLines } from './diff.ts';
import { at, type Interned } from './interned-lines.ts';
import { mapVersions, NAMES } from './lines.ts';

/** A stretch of lines; the end is exclusive. */
export type LineSpan = { readonly start: number; readonly end: number };

/**
 * A stretch of the three texts and the origin of its lines: `all` where the texts agree, `both` where ours
 * and theirs made the same change. `conflict` means that they made different changes, `resolved` that a later
 * level found lines for those.
 */
export type Region = Versions<LineSpan> &
  (
    | { readonly kind: 'all' | 'ours' | 'theirs' | 'both' | 'conflict'; readonly rule?: Rule }
    | { readonly kind: 'resolved'; readonly lines: readonly string[]; readonly rule: Rule }
  );

/**
 * A rule beyond lines that resolved a conflict. `beside`: lines inserted beside a changed one. `contained`: one side
 * has all words that the other changed. `space`: one side changed only white space. `adjacent`: each side changed one
 * of two neighbouring lines. `sorted`: the sides changed different lines of a sorted list. `imports`: both changed
 * imports, merged by the names that they take from each module.
 */
export type Rule =
  | 'layout'
  | 'members'
  | 'entries'
  | 'imports'
  | 'beside'
  | 'contained'
  | 'space'
  | 'adjacent'
  | 'sorted';

/** A border between two regions. */
export type Cut = Versions<number>;

/**
 * Cuts three texts into regions that cover them from head to tail.
 *
 * Lines with a partner in both sides are stable. Between them, a stretch that one side left alone
 * is the other side's, whatever it did there. Edits with no stable line in between meet in one
 * stretch, so edits that merely touch conflict, as they do in git.
 *
 * Source: Khanna, Kunal, Pierce: A Formal Investigation of Diff3 (2007)
 */
export function alignRegions(texts: Interned): readonly Region[] {
  const ours = diffLines(texts.base, texts.ours, texts.size);
  const theirs = diffLines(texts.base, texts.theirs, texts.size);
  const regions: Region[] = [];
  let from: Cut = { base: 0, ours: 0, theirs: 0 };
  for (let base = 0; base < texts.base.length; base++) {
    if (at(ours, base) < 0 || at(theirs, base) < 0) continue;
    const start = { base, ours: at(ours, base), theirs: at(theirs, base) };
    const end = endOfStable(start, ours, theirs);
    regions.push(...regionsBetween(from, start, texts));
    regions.push({ kind: 'all', ...rangesBetween(start, end) });
    from = end;
    base = end.base - 1;
  }
  const { base, ours: mine, theirs: other } = texts;
  const end = { base: base.length, ours: mine.length, theirs: other.length };
  return [...regions, ...regionsBetween(from, end, texts)];
}

function endOfStable(start: Cut, ours: Int32Array, theirs: Int32Array): Cut {
  const [mine, other] = [start.ours - start.base, start.theirs - start.base];
  let { base } = start;
  while (
    base < ours.length &&
    at(ours, base) === base + mine &&
    at(theirs, base) === base + other
  ) {
    base++;
  }
  const length = base - start.base;
  return { base, ours: start.ours + length, theirs: start.theirs + length };
}

function regionsBetween(from: Cut, to: Cut, texts: Interned): readonly Region[] {
  const base = texts.base.subarray(from.base, to.base);
  const ours = texts.ours.subarray(from.ours, to.ours);
  const theirs = texts.theirs.subarray(from.theirs, to.theirs);
  const region = rangesBetween(from, to);
  if (base.length + ours.length + theirs.length === 0) return [];
  if (isEqual(base, ours)) return [{ kind: 'theirs', ...region }];
  if (isEqual(base, theirs)) return [{ kind: 'ours', ...region }];
  if (isEqual(ours, theirs)) return [{ kind: 'both', ...region }];
  return [{ kind: 'conflict', ...region }];
}

/**
 * Returns a conflict without the lines with which both sides begin and end alike. Its base stays whole. If one side
 * would have no line left, the conflict stays whole too: otherwise it would not show what that side did.
 */
export function refineConflict(region: Versions<LineSpan>, texts: Interned): readonly Region[] {
  const from = mapVersions(region, ({ start }) => start);
  const to = mapVersions(region, ({ end }) => end);
  const ours = texts.ours.subarray(from.ours, to.ours);
  const theirs = texts.theirs.subarray(from.theirs, to.theirs);
  const head = commonHead(ours, theirs);
  const tail = commonTail(ours.subarray(head), theirs.subarray(head));
  const isNothingLeft = head + tail > 0 && head + tail === Math.min(ours.length, theirs.length);
  if (isNothingLeft) return [{ ...region, kind: 'conflict' }];
  const first = { base: from.base, ours: from.ours + head, theirs: from.theirs + head };
  const last = { base: to.base, ours: to.ours - tail, theirs: to.theirs - tail };
  const regions: Region[] = [{ kind: 'conflict', ...rangesBetween(first, last) }];
  if (head > 0) regions.unshift({ kind: 'both', ...rangesBetween(from, first) });
  if (tail > 0) regions.push({ kind: 'both', ...rangesBetween(last, to) });
  return regions;
}

/** Tells whether two stretches have the same lines. */
export function isEqual(one: Int32Array, other: Int32Array): boolean {
  return one.length === other.length && commonHead(one, other) === one.length;
}

/** Counts the lines that two stretches have in common at their head. */
export function commonHead(one: Int32Array, other: Int32Array): number {
  const limit = Math.min(one.length, other.length);
  let length = 0;
  while (length < limit && one[length] === other[length]) length++;
  return length;
}

/** Counts the lines that two stretches have in common at their tail. */
export function commonTail(one: Int32Array, other: Int32Array): number {
  const limit = Math.min(one.length, other.length);
  let length = 0;
  const [end, otherEnd] = [one.length - 1, other.length - 1];
  while (length < limit && one[end - length] === other[otherEnd - length]) length++;
  return length;
}

/** Returns the stretches from one border to another. */
export function rangesBetween(from: Cut, to: Cut): Versions<LineSpan> {
  return {
    base: { start: from.base, end: to.base },
    ours: { start: from.ours, end: to.ours },
    theirs: { start: from.theirs, end: to.theirs },
  };
}

/** Returns the lines of a region; those of ours for a conflict. */
export function linesOf(region: Region, lines: Versions<readonly string[]>): readonly string[] {
  if (region.kind === 'resolved') return region.lines;
  const side = region.kind === 'theirs' ? 'theirs' : 'ours';
  return lines[side].slice(region[side].start, region[side].end);
}

/**
 * Tells whether regions, with conflicts decided for one side, are that side's text (line ends apart). Then they have
 * no defect that no input has.
 */
export function isSideItself(regions: readonly Region[], name: 'ours' | 'theirs'): boolean {
  const other = name === 'ours' ? 'theirs' : 'ours';
  return regions.every(({ kind }) => kind !== other && kind !== 'resolved');
}

/** The lines at which something begins or ends, in each version. */
export type Borders = Versions<Pick<ReadonlySet<number>, 'has'>>;

/** A stretch with some of the agreed lines above and below it. */
export type Stretch = { readonly region: Region; readonly up: number; readonly down: number };

/** Lines that a stretch may gain at either end. */
const MAX_WIDENED = 40;
/** Borders that are tried at either end. */
const MAX_TRIED = 3;

/**
 * Yields a conflict as it is, then with agreed lines around it, so that it begins and ends at borders in all
 * versions. Alignment cuts where lines are equal, which can be inside a unit.
 */
export function* stretchesAround(
  regions: readonly Region[],
  index: number,
  readBorders: () => Borders,
): Iterable<Stretch> {
  const region = regions[index];
  if (region === undefined) return;
  yield { region, up: 0, down: 0 };
  const borders = readBorders();
  const reaches = (step: 1 | -1, edge: 'start' | 'end') => {
    const beside = regions[index + step];
    const limit = beside?.kind === 'all' ? beside.base.end - beside.base.start : 0;
    const found: number[] = [];
    for (let moved = 0; moved <= Math.min(limit, MAX_WIDENED); moved++) {
      const isBorder = (name: keyof Borders) =>
        borders[name].has(region[name][edge] + step * moved);
      if (isBorder('base') && isBorder('ours') && isBorder('theirs')) found.push(moved);
      if (found.length >= MAX_TRIED) break;
    }
    return found;
  };
  const downs = reaches(1, 'end');
  for (const up of reaches(-1, 'start')) {
    for (const down of downs)
      if (up + down > 0) yield { region: widen(region, up, down), up, down };
  }
}

/** Replaces a conflict by the stretch made from it, and takes the stretch's lines from the regions around. */
export function takeStretch(regions: Region[], index: number, { region, up, down }: Stretch): void {
  const [before, after] = [regions[index - 1], regions[index + 1]];
  regions[index] = region;
  if (before !== undefined && up > 0) regions[index - 1] = widen(before, 0, -up);
  if (after !== undefined && down > 0) regions[index + 1] = widen(after, -down, 0);
}

function widen(region: Region, up: number, down: number): Region {
  const ranges = mapVersions(NAMES, (name) => {
    return { start: region[name].start - up, end: region[name].end + down };
  });
  return { ...region, ...ranges };
}
