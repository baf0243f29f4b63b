import { splitLines } from './lines.ts';

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
 * Returns the share of bytes that two files have in common, line by line and wherever the lines are, of
 * the longer one's: 0 to 1. Indentation does not count.
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
