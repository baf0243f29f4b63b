import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { once } from '../lib/once.ts';

const Row = z.object({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cache_write: z.number().nonnegative(),
  cache_read: z.number().nonnegative(),
});
const Listed = Row.extend({ long: Row.extend({ over: z.int().positive() }).optional() });
/** Prices of known models by provider and name, in dollars for a million tokens; `as_of` is their day. */
const PriceTable = z.object({
  as_of: z.iso.date(),
  anthropic: z.record(z.string(), Listed),
  openai: z.record(z.string(), Listed),
});

/** Returns the prices of `prices.yaml`, which is read once. */
export const priceTable = once(() =>
  PriceTable.parse(parse(readFileSync(`${import.meta.dirname}/prices.yaml`, 'utf8'))),
);
