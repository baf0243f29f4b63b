import { expect, test } from 'vitest';
import { backoffMs, pause } from './backoff.ts';

test('pauses double up to the longest, and are never the same for everybody', () => {
  const limits = { firstMs: 1_000, longestMs: 120_000 };
  expect([0, 1, 2, 3].map((failures) => backoffMs(failures, 1, limits))).toEqual([
    1e3, 2e3, 4e3, 8e3,
  ]);
  expect(backoffMs(1_000, 1, limits)).toBe(120_000);
  expect(backoffMs(3, 0, limits)).toBe(4_000);
  expect(backoffMs(0, 1)).toBe(500);
  expect(backoffMs(1_000, 1)).toBe(60_000);
});

test('a pause ends when its signal is aborted, also one that was aborted before', async () => {
  const stop = new AbortController();
  const paused = pause(2 ** 31 - 1, stop.signal);
  stop.abort();
  await paused;
  await pause(2 ** 31 - 1, stop.signal);
});
