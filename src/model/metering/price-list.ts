import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { Prices } from '../provider.ts';

const Row = z.object({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cache_write: z.number().nonnegative(),
  cache_read: z.number().nonnegative(),
});
const ListedPrice = Row.extend({ long: Row.extend({ over: z.int().positive() }).optional() });
/** Prices of known models by name, in dollars for a million tokens; `as_of` is their day. */
const PriceList = z.object({ as_of: z.iso.date(), models: z.record(z.string(), ListedPrice) });

/** A name also means its dated versions (-20250929, -2025-08-07) and for -latest. */
const DATED = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

/** Opens a provider's list of prices, which is read when the first of them is asked for. */
export function priceList(path: string): Prices {
  const list = once(() => PriceList.parse(parse(readFileSync(path, 'utf8'))));
  return {
    get asOf() {
      return list().as_of;
    },
    of(model, counts) {
      const { models } = list();
      const name = [model, model.replace(DATED, '')].find((each) => Object.hasOwn(models, each));
      const listed = name === undefined ? undefined : models[name];
      if (listed === undefined) return null;
      const prompt = counts.inputTokens + counts.cacheWriteTokens + counts.cacheReadTokens;
      const row = listed.long !== undefined && prompt > listed.long.over ? listed.long : listed;
      return {
        input: micro(row.input),
        output: micro(row.output),
        cacheWrite: micro(row.cache_write),
        cacheRead: micro(row.cache_read),
      };
    },
  };
}

function micro(usd: number): number {
  return Math.round(usd * 1_000_000);
}
