import type { ModelSettings, Price, Settings } from '../config.ts';
import { priceTable } from './price-table.ts';
import type { TokenCounts } from './tokens.ts';

/**
 * What a call cost, in whole millionths of a dollar, each call rounded up: no sum ever drifts.
 *
 * @returns null where the model has no known price
 */
export function costOf(
  { model, modelPrice }: Pick<Settings, 'model' | 'modelPrice'>,
  counts: TokenCounts,
): number | null {
  const price = modelPrice ?? knownPrice(model, counts);
  if (price === null) return null;
  // Big integers, since a million tokens at a price for a million leave the safe ones.
  const sum =
    BigInt(counts.inputTokens) * BigInt(price.input) +
    BigInt(counts.outputTokens) * BigInt(price.output) +
    BigInt(counts.cacheWriteTokens) * BigInt(price.cacheWrite) +
    BigInt(counts.cacheReadTokens) * BigInt(price.cacheRead);
  return Number((sum + 999_999n) / 1_000_000n);
}

/** Whether the model's money is known at all. */
export function hasPrice(settings: Pick<Settings, 'model' | 'modelPrice'>): boolean {
  return costOf(settings, NOTHING) !== null;
}

const NOTHING: TokenCounts = {
  inputTokens: 0,
  cacheWriteTokens: 0,
  cacheReadTokens: 0,
  outputTokens: 0,
};

const DATED = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

function knownPrice({ provider, model }: ModelSettings, counts: TokenCounts): Price | null {
  const table = priceTable()[provider];
  const name = [model, model.replace(DATED, '')].find((each) => Object.hasOwn(table, each));
  const listed = name === undefined ? undefined : table[name];
  if (listed === undefined) return null;
  const prompt = counts.inputTokens + counts.cacheWriteTokens + counts.cacheReadTokens;
  const row = listed.long !== undefined && prompt > listed.long.over ? listed.long : listed;
  return {
    input: micro(row.input),
    output: micro(row.output),
    cacheWrite: micro(row.cache_write),
    cacheRead: micro(row.cache_read),
  };
}

function micro(usd: number): number {
  return Math.round(usd * 1_000_000);
}
