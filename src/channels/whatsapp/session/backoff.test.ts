import { expect, test } from 'vitest';
import { backoffMs } from './backoff.ts';

test('pauses double up to two minutes, and are never the same for everybody', () => {
  expect([0, 1, 2, 3].map((failures) => backoffMs(failures, 1))).toEqual([1e3, 2e3, 4e3, 8e3]);
  expect(backoffMs(1_000, 1)).toBe(120_000);
  expect(backoffMs(3, 0)).toBe(4_000);
});
