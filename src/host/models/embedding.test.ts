import { expect, test } from 'vitest';
import { defineEmbedder, openEmbedders } from '../../model/embedder.ts';
import { openModels } from '../../model/model.ts';
import { provider as openai } from '../../model/providers/openai.ts';
import type { TokenCounts } from '../../model/tokens.ts';
import { startEmbeddingsServer } from '../../testing/model/embeddings.ts';
import { openEmbedding } from './embedding.ts';

const SETTINGS = { model: null, modelContext: null, modelPrice: null };

test('the group pays for the tokens that were read; a failure costs nothing, and without money none is asked', async () => {
  let isDown = false;
  const server = await startEmbeddingsServer((_request, response) => {
    if (!isDown) return [[1, 2]];
    response.destroy();
    return null;
  });
  const environment = { OPENAI_BASE_URL: server.url };
  const models = openModels([openai], environment, { settings: SETTINGS });
  const charged: (TokenCounts | null)[] = [];
  const folders: string[] = [];
  let isUsedUp = false;
  const embed = openEmbedding({
    models,
    budgets: {
      async admit(folder) {
        folders.push(folder);
        if (isUsedUp) return { kind: 'refused', message: 'The budget for today is used up.' };
        return { kind: 'admitted', charge: (counts) => charged.push(counts) };
      },
    },
  });
  const ask = () =>
    embed({ model: 'openai/x', folder: 'family', texts: ['eight ch'], timeoutMs: 60_000 });
  expect(await ask()).toEqual({ kind: 'embedded', vectors: [Float32Array.of(1, 2)] });
  isDown = true;
  expect(await ask()).toMatchObject({ kind: 'failed' });
  isUsedUp = true;
  expect(await ask()).toMatchObject({
    kind: 'failed',
    message: 'The budget for today is used up.',
  });
  await server.close();
  expect(charged.map((counts) => counts?.inputTokens)).toEqual([2, undefined]);
  expect(folders).toEqual(['family', 'family', 'family']);
  expect(server.requests).toHaveLength(2);
});

test('a model on this machine is asked without a provider and without a budget, opened once, and its failure is a sentence', async () => {
  let opened = 0;
  const create = () => {
    opened += 1;
    return async (texts: readonly string[], signal: AbortSignal) => {
      if (texts.includes('wait')) await new Promise((_, reject) => (signal.onabort = reject));
      if (texts.includes('break')) throw new Error('The weights are damaged.');
      return texts.map((text) => (text === 'слово' ? null : Float32Array.of(text.length)));
    };
  };
  const embed = openEmbedding({
    models: { find: () => null },
    budgets: { admit: () => Promise.reject(new Error('nobody pays for it')) },
    findLocal: openEmbedders(async () => [
      defineEmbedder({ name: 'acme/small', dimensions: 1, threshold: 0.3, create }),
    ]),
  });
  const ask = (texts: readonly string[], model = 'acme/small', timeoutMs = 60_000) =>
    embed({ model, folder: 'family', texts, timeoutMs });
  expect(await ask(['one', 'слово'])).toEqual({
    kind: 'embedded',
    vectors: [Float32Array.of(3), null],
  });
  expect(await ask(['break'])).toMatchObject({
    kind: 'failed',
    message: 'The weights are damaged.',
  });
  expect(await ask(['wait'], 'acme/small', 20)).toMatchObject({
    message: 'The embeddings took longer than 0.02 s on this machine.',
  });
  expect(await ask(['one'], 'acme/large')).toMatchObject({
    message: 'No model provider here has "acme/large".',
  });
  expect(opened).toBe(1);
});
