import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { once } from '../../../lib/once.ts';
import { priceList } from '../../metering/price-list.ts';
import type { Prices } from '../../provider.ts';

const Table = z.object({
  models: z.record(z.string(), z.looseObject({ context: z.int().positive().optional() })),
});

/** Ends of a name that mean a version of it, as in lists of prices. */
const DATED = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

/** Opens a table of a provider's models: their prices, and their windows as `context`. */
export function modelTable(path: string): {
  readonly prices: Prices;
  readonly contextTokensOf: (model: string) => number | null;
} {
  const table = once(() => Table.parse(parse(readFileSync(path, 'utf8'))));
  return {
    prices: priceList(path),
    contextTokensOf: (model) => {
      const { models } = table();
      const name = [model, model.replace(DATED, '')].find((each) => Object.hasOwn(models, each));
      return (name === undefined ? null : models[name]?.context) ?? null;
    },
  };
}
