import { expect, test } from 'vitest';
import { benchHistory } from '../scripts/bench/history.ts';

test('a search looks at the messages of its own group, however common its words are elsewhere', async () => {
  const plan = { groups: 100, stored: 100_000, searches: 200 };
  const { found, allMatchesMs } = await benchHistory(plan);
  const common = found.find(({ what }) => what === 'a common word in a group of ten');
  expect(common?.p50Ms).toBeLessThan(allMatchesMs / 10);
  expect(found.length).toBeGreaterThan(6);
});
