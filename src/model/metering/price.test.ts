import { expect, test } from 'vitest';
import { readSettings, SettingsError } from '../../config.ts';
import { usd } from '../../host/budget/amount.ts';
import { localDay } from '../../host/budget/local-day.ts';
import { openModels } from '../model.ts';
import { provider as anthropic } from '../providers/anthropic.ts';
import { provider as openai } from '../providers/openai.ts';
import type { TokenCounts } from '../tokens.ts';
import { costOf } from './price.ts';

const NONE: TokenCounts = {
  inputTokens: 0,
  cacheWriteTokens: 0,
  cacheReadTokens: 0,
  outputTokens: 0,
};
const MILLION = 1_000_000;

test.each([
  ['anthropic/claude-sonnet-4-5', 3, 15, 3.75, 0.3],
  ['anthropic/claude-sonnet-4-5-20250929', 3, 15, 3.75, 0.3],
  ['anthropic/claude-3-5-haiku-latest', 0.8, 4, 1, 0.08],
  ['openai/gpt-4o-2024-08-06', 2.5, 10, 2.5, 1.25],
])('%s costs what its provider’s list says', (model, input, output, write, read) => {
  expect(price({ MODEL: model }, { inputTokens: 100_000 })).toBe(input * 100_000);
  expect(price({ MODEL: model }, { outputTokens: 100_000 })).toBe(output * 100_000);
  expect(price({ MODEL: model }, { cacheWriteTokens: 100_000 })).toBe(write * 100_000);
  expect(price({ MODEL: model }, { cacheReadTokens: 100_000 })).toBe(read * 100_000);
});

test.each(['openai/llama3', 'openai/gpt-4o-realtime', 'openai/constructor', 'anthropic/gpt-4o'])(
  '%s has no known price, until the owner sets one',
  (model) => {
    expect(price({ MODEL: model }, { inputTokens: 5 })).toBeNull();
    expect(price({ MODEL: model, MODEL_PRICE: '2/4' }, { inputTokens: 5 })).toBe(10);
  },
);

test('a price of the owner’s counts instead of the list, the cache’s as given or as input', () => {
  const all = { inputTokens: 1, outputTokens: 1, cacheWriteTokens: 1, cacheReadTokens: 1 };
  expect(price({ MODEL_PRICE: '3/15' }, all)).toBe(24);
  expect(price({ MODEL_PRICE: '3/15/3.75/0.30' }, all)).toBe(23);
});

test('the owner can set the price of other models by name or prefix, and of a server to nothing', () => {
  const environment = { MODEL_PRICE: '3/15, openai/=0, openai/big=1/2', MODEL: 'openai/own' };
  const settings = readSettings(environment, '/');
  const models = openModels([anthropic, openai], environment, { settings });
  const cost = (name: string) => {
    const model = models.find(name);
    return model === null ? undefined : costOf(model, { ...NONE, inputTokens: MILLION });
  };
  expect(cost('openai/nomic-embed')).toBe(0);
  expect(cost('openai/big')).toBe(MILLION);
  expect(cost('openai/own')).toBe(0);
  expect(cost('anthropic/claude-sonnet-4-5')).toBe(3 * MILLION);
  expect(price({ MODEL_PRICE: '0' }, { inputTokens: MILLION, outputTokens: 5 })).toBe(0);
});

test('a prompt beyond a provider’s long context costs its other price', () => {
  const model = { MODEL: 'anthropic/claude-haiku-5-5' };
  expect(price(model, { inputTokens: 100_000 })).toBe(10_000);
  expect(price(model, { inputTokens: 50_000, cacheReadTokens: 50_001 })).toBe(27_501);
});

test('sums are exact: each call is rounded up to the next millionth, and no more', () => {
  const one = price({ MODEL_PRICE: '0.1/0.2' }, { inputTokens: 1, outputTokens: 1 });
  expect(one).toBe(1);
  const third = price({ MODEL_PRICE: '0.3/0.3' }, { inputTokens: 10 * MILLION });
  expect(third).toBe(3 * MILLION);
  expect(price({ MODEL_PRICE: '999999/0' }, { inputTokens: 999_999_999 })).toBe(
    999_998_999_000_001,
  );
});

test.each([
  [
    { BUDGET_USD: '5' },
    { microUsd: 5_000_000, tokens: null, totalMicroUsd: null, unpricedTokens: 2_000_000 },
  ],
  [
    { BUDGET_USD: '0.07' },
    { microUsd: 70_000, tokens: null, totalMicroUsd: null, unpricedTokens: 2_000_000 },
  ],
  [
    {
      BUDGET_USD: 'none',
      BUDGET_TOKENS: '100000',
      BUDGET_TOTAL_USD: '20',
      BUDGET_UNPRICED_TOKENS: 'none',
    },
    { microUsd: null, tokens: 100_000, totalMicroUsd: 20_000_000, unpricedTokens: null },
  ],
  [
    { BUDGET_USD: '0' },
    { microUsd: 0, tokens: null, totalMicroUsd: null, unpricedTokens: 2_000_000 },
  ],
  [{}, { microUsd: 5_000_000, tokens: null, totalMicroUsd: null, unpricedTokens: 2_000_000 }],
])('%j is a budget', (environment, budget) => {
  expect(readSettings(environment, '/').budget).toEqual(budget);
});

test.each([
  { BUDGET_USD: 'much' },
  { BUDGET_USD: '-1' },
  { BUDGET_USD: '1e3' },
  { BUDGET_TOKENS: '1.5' },
  { BUDGET_TOTAL_USD: '5 usd' },
  { MODEL_PRICE: '3' },
  { MODEL_PRICE: '3/x' },
  { MODEL_PRICE: 'local/' },
  { MODEL_PRICE: 'local/=free' },
])('%j is refused, and what it must be is said', (environment) => {
  const [[name] = []] = Object.entries(environment);
  expect(() => readSettings(environment, '/')).toThrow(SettingsError);
  expect(() => readSettings(environment, '/')).toThrow(`${name} in .env or the environment must`);
});

test.each([
  ['2026-11-21T22:59:59Z', 'Europe/Berlin', '2026-11-21'],
  ['2026-11-21T23:00:00Z', 'Europe/Berlin', '2026-11-22'],
  // The day that the clocks go forward has 23 hours, the one that they go back 25.
  ['2026-03-28T23:00:00Z', 'Europe/Berlin', '2026-03-29'],
  ['2026-03-29T21:59:59Z', 'Europe/Berlin', '2026-03-29'],
  ['2026-03-29T22:00:00Z', 'Europe/Berlin', '2026-03-30'],
  ['2026-10-25T22:59:59Z', 'Europe/Berlin', '2026-10-25'],
  ['2026-10-25T23:00:00Z', 'Europe/Berlin', '2026-10-26'],
  ['2026-11-21T12:00:00Z', 'Pacific/Kiritimati', '2026-11-22'],
])('%s is in %s on %s', (moment, timeZone, day) => {
  expect(localDay(Date.parse(moment), timeZone)).toBe(day);
});

test.each([
  [0, '$0.00'],
  [5_000_000, '$5.00'],
  [1_234_567, '$1.23'],
  [4_200, '$0.0042'],
  [1, 'less than $0.0001'],
])('%i millionths are %s', (microUsd, text) => {
  expect(usd(microUsd)).toBe(text);
});

function price(environment: Record<string, string>, counts: Partial<TokenCounts>): number | null {
  const settings = readSettings(environment, '/');
  const { configured } = openModels([anthropic, openai], environment, { settings });
  if (configured === null) throw new Error(`no model ${settings.model}`);
  return costOf(configured, { ...NONE, ...counts });
}
