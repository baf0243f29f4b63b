import { expect, test } from 'vitest';
import { TokenBucket } from './token-bucket.ts';

test('a burst is let through, then so many a second, and a pause never saves up more than a burst', () => {
  let nowMs = 0;
  const limit = new TokenBucket({ burst: 4, perSecond: 2, now: () => nowMs });
  const taken = (calls: number) =>
    Array.from({ length: calls }, () => limit.take()).filter(Boolean).length;
  expect(taken(10)).toBe(4);
  nowMs += 1_000;
  expect(taken(10)).toBe(2);
  nowMs += 3_600_000;
  expect(taken(10)).toBe(4);
});
