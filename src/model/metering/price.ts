import type { Price } from '../../config.ts';
import type { TokenCounts } from '../tokens.ts';

/** A model, as far as its price goes. */
type Priced = {
  /** Returns what tokens cost in such a call; null where that is not known. */
  priceOf(counts: TokenCounts): Price | null;
};

/**
 * Returns the cost of a call in whole millionths of a dollar, each call rounded up, so that no sum drifts.
 *
 * @returns null where the model has no known price
 */
export function costOf(model: Priced, counts: TokenCounts): number | null {
  const price = model.priceOf(counts);
  if (price === null) return null;
  // Big integers, since a million tokens at a price for a million leave the safe ones.
  const sum =
    BigInt(counts.inputTokens) * BigInt(price.input) +
    BigInt(counts.outputTokens) * BigInt(price.output) +
    BigInt(counts.cacheWriteTokens) * BigInt(price.cacheWrite) +
    BigInt(counts.cacheReadTokens) * BigInt(price.cacheRead);
  return Number((sum + 999_999n) / 1_000_000n);
}

/** Tells whether the model has a known price. */
export function hasPrice(model: Priced): boolean {
  return model.priceOf(NO_TOKENS) !== null;
}

const NO_TOKENS: TokenCounts = {
  inputTokens: 0,
  cacheWriteTokens: 0,
  cacheReadTokens: 0,
  outputTokens: 0,
};
