import { expect, test } from 'vitest';
import { benchIngest } from '../scripts/bench/ingest.ts';

test('1,000 groups with a long past take what ten groups take', async () => {
  const small = { groups: 10, stored: 1_000 };
  const large = { groups: 1_000, stored: 200_000 };
  const found = await benchIngest({ small, large, rounds: 3, perSecond: 1_000 });
  expect(found.ratio).toBeLessThan(3);
  // Without a commit that messages share, one group takes a fraction of this.
  expect(found.large.perSecond).toBeGreaterThan(found.small.perSecond / 5);
});
