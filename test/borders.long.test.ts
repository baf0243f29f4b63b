import { expect, test } from 'vitest';
import { BORDERS, costsOf, tooCostly } from '../scripts/bench/borders.ts';

test.for(Object.keys(BORDERS))(
  '20 MB of the worst that can come stop no chat and fill no memory: %s',
  (border) => {
    const costs = costsOf(border);
    expect(costs.length).toBeGreaterThan(10);
    expect(tooCostly(costs)).toEqual([]);
  },
);
