import { expect, test } from 'vitest';
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
