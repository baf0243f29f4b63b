import { join } from 'node:path';
import { expect, test } from 'vitest';
import { priceListAges } from '../scripts/price-lists.ts';

const ROOT = join(import.meta.dirname, '..');
const DAY_MS = 86_400_000;

test('a release finds each list of prices, and refuses those that are older than 120 days', () => {
  const now = Date.parse('2026-11-28');
  const lists = priceListAges(ROOT, now);
  expect(lists.map(({ path }) => path.replace(/^.*\//, ''))).toEqual([
    'deepseek.yaml',
    'gemini.yaml',
    'groq.yaml',
    'mistral.yaml',
    'together.yaml',
    'xai.yaml',
    'anthropic-prices.yaml',
    'openai-prices.yaml',
  ]);
  for (const { path, ageDays } of lists) {
    const agesOn = (days: number) =>
      priceListAges(ROOT, now + (days - ageDays) * DAY_MS).find((list) => list.path === path);
    expect(agesOn(120)).toEqual({ path, ageDays: 120, isOutdated: false });
    expect(agesOn(121)).toEqual({ path, ageDays: 121, isOutdated: true });
  }
});
