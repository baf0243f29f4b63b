import { expect, test } from 'vitest';
import {
  type EmbeddingsScript,
  refuseEmbeddings,
  startEmbeddingsServer,
} from '../testing/model/embeddings.ts';
import { embedBy } from './embeddings.ts';

const MODEL = 'openai/small';
const TEXTS = ['one', 'two'];

/** Asks a server that answers by a script. Returns the result and what the server was asked. */
async function ask(script: EmbeddingsScript, model = MODEL) {
  const server = await startEmbeddingsServer(script);
  const embed = embedBy({ OPENAI_API_KEY: 'sk-9', OPENAI_BASE_URL: server.url });
  const result = await embed({ model, texts: TEXTS, timeoutMs: 60_000 });
  await server.close();
  return { result, requests: server.requests, host: new URL(server.url).host };
}

test('texts become vectors by the provider of the model, with its key', async () => {
  const { result, requests } = await ask(() => [
    [1, 0, 0],
    [0, 1, 0],
  ]);
  expect(result).toMatchObject({
    kind: 'embedded',
    vectors: [Float32Array.of(1, 0, 0), Float32Array.of(0, 1, 0)],
  });
  expect(requests).toMatchObject([
    { model: 'small', input: TEXTS, headers: { authorization: 'Bearer sk-9' } },
  ]);
});

const says = (body: string): EmbeddingsScript => {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(body);
    return null;
  };
};

test.each<[string, EmbeddingsScript, RegExp]>([
  ['a page', says('<!doctype html>hello'), /answered with no embeddings\.$/],
  ['words for numbers', says('{"data":[{"index":0,"embedding":["a"]}]}'), /no embeddings\.$/],
  ['one too few', () => [[1, 0]], /answered with 1 embeddings for 2 texts\.$/],
  ['unequal lengths', () => [[1, 0], [1]], /of lengths that do not fit\.$/],
  [
    'zeros',
    () => [
      [1, 0],
      [0, 0],
    ],
    /an embedding that is not a direction\.$/,
  ],
  [
    'numbers that overflow',
    () => [
      [1e300, 0],
      [1, 0],
    ],
    /an embedding that is not a direction\.$/,
  ],
  [
    'what is not a number',
    says(`{"data":[{"index":0,"embedding":[null]},{"index":1,"embedding":[1]}]}`),
    /an embedding that is not a direction\.$/,
  ],
  [
    'ten thousand for each',
    () => Array.from({ length: 20_000 }, () => [1, 0]),
    /answered with 20000 embeddings for 2 texts\.$/,
  ],
  [
    'more numbers than texts can have',
    () => Array.from({ length: 20_000 }, () => Array.from({ length: 64 }, () => 0.5)),
    /answered with more than 2 MB\.$/,
  ],
])('%s instead of vectors is refused in a sentence', async (_what, script, expected) => {
  const { result, host } = await ask(script);
  expect(result).toMatchObject({ kind: 'failed', message: expect.stringMatching(expected) });
  expect(result).toMatchObject({ message: expect.stringContaining(host) });
});

test('a vector that is not a direction counts as a refusal of the texts, and one of another length does not', async () => {
  const zeros = await ask(() => [
    [1, 0],
    [0, 0],
  ]);
  expect(zeros.result).toMatchObject({ kind: 'failed', isRefused: true });
  const lengths = await ask(() => [[1, 0], [1]]);
  expect(lengths.result).toMatchObject({ kind: 'failed', isRefused: false });
});

test('a refusal names its reason and not the key, and tells refused texts from other failures', async () => {
  const refused = await ask((_, response) => refuseEmbeddings(response, 401, 'bad key sk-9'));
  expect(refused.result).toMatchObject({ kind: 'failed', isRefused: false });
  expect(refused.result).toMatchObject({ message: expect.stringContaining('refused the API key') });
  const tooLong = await ask((_, response) => refuseEmbeddings(response, 400, 'too long for sk-9'));
  expect(tooLong.result).toMatchObject({ kind: 'failed', isRefused: true });
  expect(tooLong.result).toMatchObject({ message: expect.stringContaining('too long for [key]') });
});

test('a server that is down, a model of no provider and one without embeddings are told', async () => {
  const embed = embedBy({ OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', ANTHROPIC_API_KEY: 'sk-1' });
  const message = async (model: string) => await embed({ model, texts: TEXTS, timeoutMs: 60_000 });
  expect(await message(MODEL)).toMatchObject({
    message: expect.stringMatching(/cannot be reached/),
  });
  expect(await message('nobody/x')).toMatchObject({
    message: 'No model provider here has "nobody/x".',
  });
  expect(await message('anthropic/x')).toMatchObject({
    message: expect.stringMatching(/makes no embeddings/),
  });
});
