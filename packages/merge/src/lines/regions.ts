import type { Versions } from '../tree.ts';
import { diffLines } from './diff.ts';
import { at } from './edits.ts';
import type { Interned } from './intern.ts';
import { mapVersions } from './line-ends.ts';

/** A stretch of lines; the end is exclusive. */
export type Range = { readonly start: number; readonly end: number };

/**
 * A stretch of the three texts and the origin of its lines: `all` where the texts agree, `both` where ours
 * and theirs made the same change. `conflict` means that they made different changes, `resolved` that a later
 * level found lines for those.
 */
export type Region = Versions<Range> &
  (
    | { readonly kind: 'all' | 'ours' | 'theirs' | 'both' | 'conflict'; readonly rule?: Rule }
    | { readonly kind: 'resolved'; readonly lines: readonly string[]; readonly rule: Rule }
  );

/**
 * A rule beyond lines that resolved a conflict; `beside`: lines put in beside a changed one; `contained`: one side
 * has all words that the other one changed; `space`: one side changed nothing but space; `adjacent`: each side changed
 * one of two neighbouring lines; `sorted`: both changed lines that are in order by name, each others; `imports`: both
 * changed imports, by the names that they take of each module.
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
 * Returns a conflict without the lines with which both sides begin and end. Its base stays whole, and so does the conflict
 * where one side would have no line left: that would not show what it did.
 */
export function refineConflict(region: Versions<Range>, texts: Interned): readonly Region[] {
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
export function rangesBetween(from: Cut, to: Cut): Versions<Range> {
  return {
    base: { start: from.base, end: to.base },
    ours: { start: from.ours, end: to.ours },
    theirs: { start: from.theirs, end: to.theirs },
  };
}
