import { expect, test } from 'vitest';
import { benchIngest } from '../scripts/bench/ingest.ts';

test('1,000 groups with a long past take what ten groups take', async () => {
  const small = { groups: 10, stored: 1_000 };
  const large = { groups: 1_000, stored: 200_000 };
  const found = await benchIngest({ small, large, rounds: 1, perSecond: 1_000 });
  // Far from what a busy machine does to it; `npm run bench` has the figure.
  expect(found.ratio).toBeLessThan(30);
  expect(found.large.perSecond).toBeGreaterThan(0);
});
