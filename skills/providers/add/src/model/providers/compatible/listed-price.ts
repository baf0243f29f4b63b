import { z } from 'zod';
import type { Price } from '../../../config.ts';
import type { ListEntry } from '../../catalog/listed-model.ts';

const Dollars = z.coerce.number().min(0).max(100_000).optional().catch(undefined);
const Pricing = z.object({
  pricing: z.object({
    prompt: Dollars,
    completion: Dollars,
    input: Dollars,
    output: Dollars,
    input_cache_read: Dollars,
    cached_input: Dollars,
    input_cache_write: Dollars,
  }),
});

/**
 * Reads the price in an entry of a list, where it stands in dollars for one token or for a million of them.
 * A price below zero, which some lists have for what depends, is none.
 */
export function priceInEntry(entry: ListEntry, per: 'token' | 'million'): Price | null {
  const pricing = Pricing.safeParse(entry).data?.pricing;
  const input = pricing?.prompt ?? pricing?.input;
  const output = pricing?.completion ?? pricing?.output;
  if (pricing === undefined || input === undefined || output === undefined) return null;
  const micro = (usd: number): number =>
    Math.round(usd * (per === 'token' ? 1_000_000_000_000 : 1_000_000));
  return {
    input: micro(input),
    output: micro(output),
    cacheWrite: micro(pricing.input_cache_write ?? input),
    cacheRead: micro(pricing.input_cache_read ?? pricing.cached_input ?? input),
  };
}
