import { diffLines } from './diff.ts';
import { at, internLines } from './interned-lines.ts';
import { splitLines, terminatorOf } from './lines.ts';

/** The first and the last line of a stretch; a file's first line is 1. */
export type LineRange = readonly [from: number, to: number];

/**
 * Returns the lines of a file that changed, by their numbers in the present file.
 *
 * Removed lines are represented by the line after the gap, or by the last line if none follows. A deleted or empty
 * file has no changed lines. Line ends do not count.
 */
export function changedLines(before: Buffer | null, now: Buffer | null): readonly LineRange[] {
  const { base, ours, partners } = compare(before, now);
  const ranges: LineRange[] = [];
  let kept = { before: -1, now: -1 };
  for (let index = 0; index <= base.length; index++) {
    const partner = index === base.length ? ours.length : at(partners, index);
    if (partner < 0) continue;
    const range = rangeBetween(kept, { before: index, now: partner }, ours.length);
    if (range !== null) ranges.push(range);
    kept = { before: index, now: partner };
  }
  return ranges;
}

/** Tells whether an unchanged line has another line end, including a missing last newline. */
export function changesLineEnds(before: Buffer, now: Buffer): boolean {
  const { base, ours, partners } = compare(before, now);
  return base.some((line, index) => {
    const partner = ours[at(partners, index)];
    return partner !== undefined && terminatorOf(line) !== terminatorOf(partner);
  });
}

function compare(before: Buffer | null, now: Buffer | null) {
  const base = splitLines(before?.toString('latin1') ?? '');
  const ours = splitLines(now?.toString('latin1') ?? '');
  const texts = internLines({ base, ours, theirs: [] });
  return { base, ours, partners: diffLines(texts.base, texts.ours, texts.size) };
}

type Place = { readonly before: number; readonly now: number };

/** Returns the changed lines between two kept lines, given by their indices. */
function rangeBetween(one: Place, next: Place, length: number): LineRange | null {
  if (next.now > one.now + 1) return [one.now + 2, next.now];
  const isGap = next.before > one.before + 1;
  if (!isGap || length === 0) return null;
  const line = Math.min(next.now + 1, length);
  return [line, line];
}

/** A file's lines as bytes by content, to be compared with many others. */
export type LineWeights = {
  readonly weights: ReadonlyMap<string, number>;
  readonly total: number;
};

/** Counts the bytes of each line that differs from the others; null for a binary file. */
export function lineWeights(bytes: Buffer): LineWeights | null {
  if (bytes.includes(0)) return null;
  const weights = new Map<string, number>();
  for (const line of splitLines(bytes.toString('latin1'))) {
    const plain = line.trim();
    weights.set(plain, (weights.get(plain) ?? 0) + plain.length);
  }
  return { weights, total: [...weights.values()].reduce((sum, one) => sum + one, 0) };
}

/**
 * Returns the share of bytes that two files have in common, 0 to 1 of the longer file, by whole lines at any place.
 * Indentation does not count.
 *
 * @param least 0 is returned at once where the sizes alone exclude such a share
 * Source: git's own estimate for renames (diffcore-delta), with lines in place of spans
 */
export function likeness(one: LineWeights, other: LineWeights, least = 0): number {
  const longer = Math.max(one.total, other.total);
  if (longer === 0 || Math.min(one.total, other.total) < least * longer) return 0;
  let common = 0;
  for (const [line, weight] of one.weights)
    common += Math.min(weight, other.weights.get(line) ?? 0);
  return common / longer;
}
