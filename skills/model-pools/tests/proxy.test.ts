import { expect, test } from 'vitest';
import type { ModelFailure } from '../../../src/model/failure.ts';
import { routing } from './fixtures.ts';

const DOWN: ModelFailure = { code: 'MODEL_FAILED', message: 'nothing listens', reason: 'down' };
const BUSY: ModelFailure = { code: 'MODEL_FAILED', message: 'too many' };
const PARTS = {
  MODEL_POOLS: 'smart=openai/by-proxy, anthropic/direct',
  MODEL_PROXY: 'openai/',
};

test('while the proxy is down, tools are off, the chat is told once, and it is tried again after 60 s', async () => {
  const { route, names, clock } = await routing(PARTS);
  const first = await route();
  const direct = () => first.models[1];
  expect(first.notice).toBeNull();
  expect(direct()?.abilities.tools).toBe(true);
  const notice = first.onPassedOver?.('openai/by-proxy', DOWN);
  expect(notice).toMatch(/proxy cannot be reached, so tools are off/);
  // At once, for the call that is under way.
  expect(direct()?.abilities.tools).toBe(false);
  expect(first.onPassedOver?.('openai/by-proxy', DOWN)).toBeNull();

  clock.now = 59_000;
  const second = await route();
  expect(second.models.map(({ id }) => id)).toEqual(['anthropic/direct']);
  expect(second.models[0].abilities.tools).toBe(false);
  expect(second.notice).toBeNull();
  const elsewhere = { name: 'Club', folder: 'club', isMain: false };
  expect((await route({ group: elsewhere })).notice).toMatch(/tools are off/);

  clock.now = 60_001;
  const third = await route();
  expect(third.models.map(({ id }) => id)).toEqual(['openai/by-proxy', 'anthropic/direct']);
  expect(third.onPassedOver?.('openai/by-proxy', DOWN)).toBeNull();
  expect(await names()).toEqual(['anthropic/direct']);

  clock.now = 130_000;
  const fourth = await route();
  fourth.onAnswer?.('openai/by-proxy');
  expect(fourth.models[1]?.abilities.tools).toBe(true);
  expect(fourth.onPassedOver?.('openai/by-proxy', DOWN)).toMatch(/tools are off/);
});

test('a proxy that answers with an error is not down: the next model has its tools', async () => {
  const { route, names } = await routing(PARTS);
  const turn = await route();
  expect(turn.onPassedOver?.('openai/by-proxy', BUSY)).toBeNull();
  expect(turn.models[1]?.abilities.tools).toBe(true);
  expect(await names()).toHaveLength(2);
});

test('summaries go past the proxy where another model is there', async () => {
  const { names } = await routing(PARTS);
  expect(await names({ taskType: 'summary' })).toEqual(['anthropic/direct']);
  const alone = await routing({ ...PARTS, MODEL_POOLS: 'smart=openai/by-proxy' });
  expect(await alone.names({ taskType: 'summary' })).toEqual(['openai/by-proxy']);
});

test('a pool of the proxy alone keeps asking it, and nothing is said of tools', async () => {
  const { route } = await routing({ ...PARTS, MODEL_POOLS: 'smart=openai/one, openai/two' });
  const turn = await route();
  expect(turn.onPassedOver?.('openai/one', DOWN)).toBeNull();
  expect((await route()).models.map(({ id }) => id)).toEqual(['openai/one', 'openai/two']);
});
