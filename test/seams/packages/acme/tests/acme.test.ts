import { expect, test } from 'vitest';
import { completeText } from '../../../src/model/completion.ts';
import { costOf } from '../../../src/model/metering/price.ts';
import { openModels } from '../../../src/model/model.ts';
import { discoverProviders } from '../../../src/model/provider.ts';
import { startOpenAiServer } from '../../../src/testing/model/openai.ts';

test('a model of Acme answers by its prefix, with its key and its price', async () => {
  const server = await startOpenAiServer(() => 'Beep.');
  const environment = {
    MODEL: 'acme/road-1',
    ACME_KEY: 'k1',
    ACME_URL: `${server.url}/v1`,
    OPENAI_API_KEY: 'of another',
  };
  const settings = { model: environment.MODEL, modelContext: null, modelPrice: null };
  const { configured } = openModels(await discoverProviders(), environment, { settings });
  if (configured === null) throw new Error('Acme is not there');
  const prompt = { system: 'Be brief.', user: 'Hello?' };
  const answer = await completeText(configured, prompt, { timeoutMs: 60_000 });
  expect(answer).toEqual({ ok: true, text: 'Beep.' });
  expect(server.requests).toMatchObject([
    { headers: { authorization: 'Bearer k1' }, body: { model: 'road-1' } },
  ]);
  expect(configured).toMatchObject({ contextTokens: 64_000, abilities: { vision: false } });
  const none = { inputTokens: 0, outputTokens: 0, cacheWriteTokens: 0, cacheReadTokens: 0 };
  expect(costOf(configured, { ...none, outputTokens: 1_000_000 })).toBe(4_000_000);
  await server.close();
});

test('without a key it is said what is missing, and other providers answer as before', async () => {
  const settings = { model: 'acme/road-1', modelContext: null, modelPrice: null };
  const models = openModels(await discoverProviders(), { OPENAI_API_KEY: 'k' }, { settings });
  expect(models.problem()).toBe('Acme has no key yet. Set ACME_KEY in .env.');
  expect(models.find('openai/gpt-5')?.server.problem()).toBeNull();
});
