import { expect, test } from 'vitest';
import { ContributionFolder } from '../testing/contributions.ts';
import { startOpenAiServer } from '../testing/model/openai.ts';
import { completeOnce } from './completion.ts';
import { costOf } from './metering/price.ts';
import { type Models, openModels } from './model.ts';
import { defaultModelOf, discoverProviders, keysOfProviders } from './provider.ts';

/** A provider whose key changes with each request, as that of a login which expires. */
const ACME = `
  import { z } from 'zod';
  import { defineProvider } from 'src/model/provider.ts';
  import { chatCompletions } from 'src/model/providers/chat-completions-protocol.ts';
  let asked = 0;
  export const provider = defineProvider({
    name: 'acme',
    order: 300,
    prefixes: ['acme/'],
    protocol: chatCompletions,
    settings: z.object({ ACME_URL: z.url('must be an address'), ACME_KEY: z.string().optional() }),
    setup: {
      label: 'Acme', keySetting: 'ACME_KEY', keyMadeIn: 'its shop', isKeyNeeded: true,
      addressSetting: 'ACME_URL', proposedAddress: null,
    },
    prices: { asOf: '2026-01-01', of: (model) => model === 'one' ? { input: 2, output: 4, cacheWrite: 2, cacheRead: 1 } : null },
    contextTokensOf: (model) => model === 'one' ? 1234 : null,
    abilitiesOf: (model) => ({ tools: model === 'one' }),
    create: (context) => ({
      baseUrl: context.settings.ACME_URL,
      headers: async () => ({ authorization: 'Bearer ' + context.settings.ACME_KEY + ++asked, 'x-made': Object.keys(context).sort().join() }),
      secrets: () => [context.settings.ACME_KEY],
      problem: () => context.settings.ACME_KEY === undefined ? 'Acme has no key.' : null,
    }),
  });`;

const SET = { ACME_URL: 'https://acme.example/v1', ACME_KEY: 'k' };

test('a provider is a file: its context holds its own settings, and its key is asked for at each request', async () => {
  await using server = await openAi();
  using folder = new ContributionFolder({ 'acme.ts': ACME });
  const environment = { ...SET, ACME_URL: `${server.url}/v1`, OPENAI_API_KEY: 'not-yours' };
  const { configured } = await modelsOf(folder.dir, 'acme/one', environment);
  if (configured === null) throw new Error('not found');
  expect(await completeOnce(configured)).toEqual({ ok: true });
  expect(await completeOnce(configured)).toEqual({ ok: true });
  expect(server.requests.map(({ headers }) => [headers.authorization, headers['x-made']])).toEqual([
    ['Bearer k1', 'now,read,settings'],
    ['Bearer k2', 'now,read,settings'],
  ]);
  expect(server.requests[0]?.body.model).toBe('one');
  expect(configured).toMatchObject({
    id: 'acme/one',
    contextTokens: 1234,
    pricesAsOf: '2026-01-01',
  });
  expect(configured.abilities).toEqual({ vision: true, tools: true, reasoning: true });
  const counts = { inputTokens: 1, outputTokens: 1, cacheWriteTokens: 0, cacheReadTokens: 0 };
  expect(costOf(configured, { ...counts, inputTokens: 1_000_000 })).toBe(3);
});

test('a provider reads its own settings as they are now, has prefixes by them, and rewrites requests', async () => {
  await using server = await openAi();
  const own = ACME.replace(
    "'Bearer ' + context.settings.ACME_KEY + ++asked",
    "'Bearer ' + context.read('ACME_KEY') + context.read('OPENAI_API_KEY')",
  ).replace(
    "prefixes: ['acme/'],",
    "prefixes: ['acme/'], prefixesIn: ({ ACME_PREFIX }) => [ACME_PREFIX, 'openai/'], adapt: ({ messages, model }) => ({ model, messages, top_k: 3 }),",
  );
  using folder = new ContributionFolder({ 'acme.ts': own });
  let environment = {
    ...SET,
    ACME_URL: `${server.url}/v1`,
    ACME_PREFIX: 'lab/',
    OPENAI_API_KEY: 'x',
  };
  const models = openModels(
    [...(await discoverProviders(folder.dir)), ...(await discoverProviders())],
    environment,
    {
      settings: { model: 'lab/one', modelContext: null, modelPrice: null },
      currentEnvironment: () => environment,
    },
  );
  environment = { ...environment, ACME_KEY: 'renewed' };
  if (models.configured === null) throw new Error('not found');
  expect(await completeOnce(models.configured)).toEqual({ ok: true });
  expect(server.requests[0]?.headers.authorization).toBe('Bearer renewedundefined');
  expect(server.requests[0]?.body).toMatchObject({ model: 'one', top_k: 3 });
  // A prefix of another provider stays with that.
  expect(models.find('openai/one')?.server.baseUrl).toBe('https://api.openai.com/v1');
});

test('the longest prefix that fits a name names the provider, whatever their order', async () => {
  const wide = ACME.replace("name: 'acme'", "name: 'all'").replace(
    "['acme/']",
    "['a', 'acme/one-']",
  );
  using folder = new ContributionFolder({ 'acme.ts': ACME, 'all.ts': wide });
  const models = await modelsOf(folder.dir, 'acme/one', SET);
  const namesOf = (name: string) => models.find(name)?.name ?? null;
  expect(namesOf('acme/one')).toBe('one');
  expect(namesOf('acme/one-two')).toBe('two');
  expect(namesOf('abc')).toBe('bc');
  expect(namesOf('acme/')).toBe('cme/');
  expect(namesOf('a')).toBeNull();
  expect(namesOf('other/one')).toBeNull();
});

test('two providers with one name or one prefix refuse the start, and both are named', async () => {
  const twin = ACME.replace("name: 'acme'", "name: 'other'");
  using prefixes = new ContributionFolder({ 'acme.ts': ACME, 'other.ts': twin });
  await expect(discoverProviders(prefixes.dir)).rejects.toThrow(
    'The model providers "acme" and "other" both have the prefix "acme/". Change one of them.',
  );
  using names = new ContributionFolder({ 'acme.ts': ACME, 'other.ts': ACME });
  await expect(discoverProviders(names.dir)).rejects.toThrow(/acme\.ts and .*other\.ts/);
});

test('a malformed setting switches off that one provider, and no default answers in its place', async () => {
  using folder = new ContributionFolder({ 'acme.ts': ACME });
  const environment = { ACME_URL: 'nowhere', ACME_KEY: 'k' };
  const models = await modelsOf(folder.dir, 'acme/one', environment);
  expect(models.configured).toBeNull();
  expect(models.problem()).toContain('`npx claw doctor`');
  const wrong = [{ name: 'ACME_URL', problem: 'must be an address' }];
  expect(models.silent).toEqual([{ name: 'acme', needs: [], wrong }]);
});

test('a missing key is told in the provider’s own words', async () => {
  using folder = new ContributionFolder({ 'acme.ts': ACME });
  const models = await modelsOf(folder.dir, 'acme/one', { ACME_URL: SET.ACME_URL });
  expect(models.problem()).toBe('Acme has no key.');
});

test('the owner’s settings for window and price apply only to the model of the settings', async () => {
  using folder = new ContributionFolder({ 'acme.ts': ACME });
  const modelPrice = { input: 7, output: 7, cacheWrite: 7, cacheRead: 7 };
  const settings = { model: 'acme/one', modelContext: 5_000, modelPrice };
  const models = openModels(await discoverProviders(folder.dir), SET, { settings });
  const none = { inputTokens: 0, outputTokens: 0, cacheWriteTokens: 0, cacheReadTokens: 0 };
  expect(models.configured).toMatchObject({ contextTokens: 5_000, pricesAsOf: null });
  expect(models.configured?.priceOf(none)).toEqual(modelPrice);
  expect(models.find('acme/two')).toMatchObject({ contextTokens: 200_000 });
  expect(models.find('acme/two')?.priceOf(none)).toBeNull();
});

test('the default model is that of the first provider in order, and a second one does not take it over', async () => {
  const eager = ACME.replace("prefixes: ['acme/']", "prefixes: ['acme/'], defaultModel: 'one'");
  using folder = new ContributionFolder({ 'acme.ts': eager });
  const core = await discoverProviders();
  const providers = [...(await discoverProviders(folder.dir)), ...core].toSorted(
    (one, other) => one.order - other.order,
  );
  expect(defaultModelOf(providers)).toBe('anthropic/claude-sonnet-5-5');
  expect(defaultModelOf(await discoverProviders(folder.dir))).toBe('acme/one');
  const own = core.filter(({ name }) => ['anthropic', 'openai'].includes(name));
  expect(Object.keys(keysOfProviders(own, {})).sort()).toEqual([
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_BASE_URL',
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
  ]);
});

async function modelsOf(
  dir: string,
  model: string,
  environment: Readonly<Record<string, string>>,
): Promise<Models> {
  const settings = { model, modelContext: null, modelPrice: null };
  return openModels(await discoverProviders(dir), environment, { settings, now: () => 0 });
}

async function openAi() {
  const server = await startOpenAiServer(() => 'ok');
  return { ...server, [Symbol.asyncDispose]: server.close };
}
