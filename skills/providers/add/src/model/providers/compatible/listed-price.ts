import { z } from 'zod';
import type { Price } from '../../../config.ts';
import type { ListEntry } from '../../catalog/listed-model.ts';

/** In dollars for a million tokens; a higher price is a mistake. */
const MOST = 100_000;
/** Words such as `null` and an empty one are no price, and least of all none to pay. */
const Dollars = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^[\d.]/)
      .transform(Number),
  ])
  .pipe(z.number().min(0))
  .optional()
  .catch(undefined);
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
  const micro = (usd: number | undefined): number | undefined => {
    const dollars = (usd ?? Number.NaN) * (per === 'token' ? 1_000_000 : 1);
    return dollars <= MOST ? Math.round(dollars * 1_000_000) : undefined;
  };
  const input = micro(pricing?.prompt ?? pricing?.input);
  const output = micro(pricing?.completion ?? pricing?.output);
  if (pricing === undefined || input === undefined || output === undefined) return null;
  return {
    input,
    output,
    cacheWrite: micro(pricing.input_cache_write) ?? input,
    cacheRead: micro(pricing.input_cache_read ?? pricing.cached_input) ?? input,
  };
}
