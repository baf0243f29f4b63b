import { expect, test } from 'vitest';
import { priceText } from './model-text.ts';

test('prices have as many digits as they need: none, two as money has, or four', () => {
  const priced = (input: number, output: number) =>
    priceText({ input, output, cacheRead: input, cacheWrite: input });
  expect(priced(3_000_000, 15_000_000)).toBe('$3 read, $15 written');
  expect(priced(1_100_000, 4_400_000)).toBe('$1.10 read, $4.40 written');
  expect(priced(37_500, 290_000)).toBe('$0.0375 read, $0.29 written');
  expect(priced(0, 0)).toBe('costs nothing');
});
