import { expect, test } from 'vitest';
import type { Environment } from '../../../src/lib/settings.ts';
import { openCatalog } from '../../../src/model/catalog/catalog.ts';
import type { ListEntry } from '../../../src/model/catalog/listed-model.ts';
import { completeOnce } from '../../../src/model/completion.ts';
import { costOf } from '../../../src/model/metering/price.ts';
import { type Model, openModels } from '../../../src/model/model.ts';
import { discoverProviders } from '../../../src/model/provider.ts';
import { priceInEntry } from '../../../src/model/providers/compatible/listed-price.ts';
import { startTongue } from './servers.ts';
import { SETTINGS } from './settings.ts';
import { TONGUES, tongueOf } from './tongues.ts';

const NAMES = Object.keys(TONGUES);
const UNPRICED = { priceOf: () => null };
const MILLION = {
  inputTokens: 1_000_000,
  outputTokens: 0,
  cacheWriteTokens: 0,
  cacheReadTokens: 0,
};

async function modelsWith(environment: Environment, model = 'groq/x', now = environment) {
  const settings = { model, modelContext: null, modelPrice: null };
  const currentEnvironment = () => now;
  return openModels(await discoverProviders(), environment, { settings, currentEnvironment });
}

async function modelOf(name: string, environment: Environment = {}): Promise<Model> {
  const { configured } = await modelsWith(environment, name);
  if (configured === null) throw new Error(`${name} is not there`);
  return configured;
}

const at = (name: string, url: string, more: object = {}) => ({
  [`${SETTINGS[name]}_API_KEY`]: 'sk-secret-1',
  [`${SETTINGS[name]}_BASE_URL`]: url,
  ...more,
});

test.each(NAMES)(
  '%s: key, address and headers are the owner’s, and the key is read at each request',
  async (name) => {
    await using server = await startTongue(tongueOf(name), { status: 500, body: {} });
    const before: Environment = at(name, server.url, {
      [`${SETTINGS[name]}_HEADERS`]: '{"X-Title":"Andy"}',
    });
    const now = { ...before, [`${SETTINGS[name]}_API_KEY`]: 'sk-renewed' };
    const { configured } = await modelsWith(before, `${name}/some/model`, now);
    if (configured === null) throw new Error(`${name} is not there`);
    await completeOnce(configured);
    expect(server.headers).toMatchObject([
      { authorization: 'Bearer sk-renewed', 'x-title': 'Andy' },
    ]);
  },
);

test.each(NAMES)('%s: what its server refuses is told apart', async (name) => {
  const wording = { status: 0, body: { error: { message: 'as told sk-secret-1' } } };
  const told = async (status: number, body: unknown = wording.body): Promise<string> => {
    await using server = await startTongue(tongueOf(name), { status, body });
    const result = await completeOnce(await modelOf(`${name}/m`, at(name, server.url)));
    return result.ok ? 'ok' : result.message;
  };
  expect(await told(401)).toMatch(/refused the API key \(401\)/);
  expect(await told(403)).toMatch(/refused the API key \(403\)/);
  expect(await told(404)).toMatch(/does not know "m" \(404\): as told \[key\]/);
  expect(await told(429)).toMatch(/wants fewer requests for now \(429/);
  expect(await told(402)).toMatch(/no credit left \(402\)/);
  expect(await told(503)).toMatch(/out of order \(503\)/);
  expect(await told(418)).toMatch(/refused the request \(418\)/);
});

test('errors are read in the form of each server', async () => {
  const told = async (name: string, status: number, body: unknown): Promise<string> => {
    await using server = await startTongue(tongueOf(name), { status, body });
    const result = await completeOnce(await modelOf(`${name}/m`, at(name, server.url)));
    return result.ok ? 'ok' : result.message;
  };
  const google = [
    { error: { code: 400, message: 'API key not valid. Please pass a valid API key.' } },
  ];
  expect(await told('gemini', 400, google)).toMatch(/refused the API key \(400\)/);
  expect(await told('gemini', 404, [{ error: { message: 'models/m is not found' } }])).toMatch(
    /does not know "m" \(404\): models\/m is not found/,
  );
  const grok = {
    code: 'Client specified an invalid argument',
    error: 'Incorrect API key provided: xx',
  };
  expect(await told('xai', 400, grok)).toMatch(/refused the API key \(400\)/);
  expect(await told('mistral', 400, { object: 'error', message: 'Expected last role' })).toMatch(
    /refused the request \(400\): Expected last role/,
  );
  expect(await told('ollama', 404, { error: 'model "m" not found, try pulling it first' })).toMatch(
    /does not know "m" \(404\): model "m" not found, try pulling it first/,
  );
  const poor = { error: { message: 'Insufficient Balance', type: 'unknown_error' } };
  expect(await told('deepseek', 402, poor)).toMatch(/no credit left \(402\): Insufficient Balance/);
});

test('without a key it is said which setting to fill; a server of the owner’s own needs none', async () => {
  for (const name of NAMES) {
    const problem = (await modelOf(`${name}/m`)).server.problem();
    if (name === 'ollama') expect(problem).toBeNull();
    else if (name === 'local') expect(problem).toMatch(/no address yet. Set LOCAL_BASE_URL/);
    else expect(problem).toContain(`Set ${SETTINGS[name]}_API_KEY in .env`);
  }
});

test('the list of each server is read, with its windows and prices, and without what does not talk', async () => {
  for (const name of NAMES) {
    await using server = await startTongue(tongueOf(name));
    const models = await modelsWith(at(name, server.url));
    const catalog = openCatalog({ models, now: () => 0 });
    expect(await catalog.lists(), name).toEqual([
      { provider: name, names: [`${name}/m`], problem: null },
    ]);
    const window = {
      openrouter: 65_536,
      groq: 131_072,
      mistral: 40_960,
      together: 32_768,
      local: 16_384,
    };
    const expected = (window as Record<string, number>)[name];
    if (expected !== undefined)
      expect(models.find(`${name}/m`)?.contextTokens, name).toBe(expected);
    const price = { openrouter: 2_000_000, together: 880_000, ollama: 0 };
    expect(costOf(models.find(`${name}/m`) ?? UNPRICED, MILLION), name).toBe(
      (price as Record<string, number>)[name] ?? null,
    );
  }
});

test.each([
  [{ prompt: '0.000002', completion: 0.000004, input_cache_read: '-1' }, 2_000_000],
  [{ prompt: '0', completion: '0' }, 0],
  [{ prompt: '', completion: '' }, null],
  [{ prompt: null, completion: null }, null],
  [{ prompt: true, completion: [] }, null],
  [{ prompt: '-1', completion: '-1' }, null],
  [{ prompt: 'NaN', completion: 'free' }, null],
  [{ prompt: 99, completion: 1e308 }, null],
])('a price of %j is one, or none', (pricing, input) => {
  const price = priceInEntry({ id: 'm', pricing } as unknown as ListEntry, 'token');
  expect(price?.input ?? null).toBe(input);
  expect(price?.cacheRead ?? null).toBe(input);
});

test.each([
  ['gemini/gemini-2.5-pro', 2_500_000, 1_048_576],
  ['gemini/gemini-2.5-flash', 300_000, 1_048_576],
  ['gemini/gemini-3.8-flash', 750_000, 1_048_576],
  ['deepseek/deepseek-v4-pro', 1_320_000, 1_000_000],
  ['mistral/mistral-large-2512', 500_000, 262_144],
  ['groq/llama-3.1-8b-instant', 50_000, 131_072],
  ['deepseek/deepseek-chat', 280_000, 131_072],
  ['mistral/mistral-large-latest', 2_000_000, 131_072],
  ['together/openai/gpt-oss-20b', 50_000, 131_072],
  ['xai/grok-4', 3_000_000, 256_000],
  ['xai/grok-4.6', 4_000_000, 500_000],
  ['ollama/qwen3:8b', 0, 32_768],
  ['ollama/gpt-oss:120b-cloud', null, 32_768],
  ['local/anything', null, 32_768],
])('%s costs what its table says, and takes so much', async (name, price, contextTokens) => {
  const model = await modelOf(name);
  expect(costOf(model, MILLION)).toBe(price);
  expect(model.contextTokens).toBe(contextTokens);
});

test('the owner’s own prefix means the local server, and the longest prefix wins', async () => {
  const environment = { LOCAL_BASE_URL: 'http://127.0.0.1:9/v1', LOCAL_PREFIX: 'openai/lab' };
  const models = await modelsWith(environment);
  expect(models.find('openai/lab/qwen')).toMatchObject({
    name: 'qwen',
    server: { baseUrl: environment.LOCAL_BASE_URL },
  });
  expect(models.find('local/qwen')?.server.baseUrl).toBe(environment.LOCAL_BASE_URL);
  expect(models.find('openai/gpt-5')?.server.baseUrl).toBe('https://api.openai.com/v1');
  expect(models.find('openrouter/openai/gpt-5')?.name).toBe('openai/gpt-5');
});

test('headers that cannot be used switch off this provider alone, and the setting is named', async () => {
  for (const headers of ['X-Title: Andy', '{"Host":"x"}', '{"a b":"c"}', '{"X":"a\\nb"}']) {
    const models = await modelsWith({ GROQ_HEADERS: headers, XAI_API_KEY: 'k' });
    expect(models.silent).toMatchObject([{ name: 'groq', wrong: [{ name: 'GROQ_HEADERS' }] }]);
    expect(models.find('xai/grok-4')?.server.problem()).toBeNull();
  }
});
