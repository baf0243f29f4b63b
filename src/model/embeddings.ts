import { z } from 'zod';
import { readJson } from '../lib/bounded-json.ts';
import { list } from '../lib/bounded-schema.ts';
import type { Embed, EmbedResult } from '../lib/embed.ts';
import type { Environment } from '../lib/settings.ts';
import { type LocalEmbedding, openEmbedders } from './embedder.ts';
import { connectionFailure, httpFailure, timeoutFailure, withoutKey } from './failure.ts';
import { type Model, type Models, openModels } from './model.ts';
import { discoverProviders } from './provider.ts';
import { Count, type TokenCounts } from './tokens.ts';
import { modelHeaders, readText } from './upstream-request.ts';

const PATH = '/v1/embeddings';
const MAX_DIMENSIONS = 16_384;
/** The most bytes of an answer for each text, and in all: the longest vector, printed with indentation. */
const MAX_BYTES_PER_TEXT = 1_048_576;
const MAX_BYTES = 67_108_864;
/** Enough for some hundred vectors of the usual length. */
const MAX_VALUES = 1_000_000;

/** Servers print what is not a number as `null`. */
const Numbers = z.array(z.number().nullable()).min(1).max(MAX_DIMENSIONS);

const Answer = z.object({
  data: list(z.object({ index: z.int().nonnegative(), embedding: Numbers }), 20_000),
  usage: z.object({ prompt_tokens: Count }).nullish().catch(null),
});

type EmbeddingRequest = {
  readonly texts: readonly string[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
};

type Failed = Extract<EmbedResult, { kind: 'failed' }>;

/** Vectors and the tokens they took, as the server told or estimated. */
export type CountedVectors =
  | Failed
  | {
      readonly kind: 'embedded';
      readonly vectors: readonly Float32Array[];
      readonly counts: TokenCounts;
    };

/** Creates the way to embeddings by the settings of an environment, without a budget: for a try by the owner. */
export function embedBy(environment: Environment): Embed {
  const findLocal = openEmbedders();
  return async ({ model: name, ...request }) => {
    const local = await findLocal(name);
    if (local !== null) return await embedHere(local, request);
    const settings = { model: null, modelContext: null, modelPrice: null };
    const models = openModels(await discoverProviders(), environment, { settings });
    const found = embeddingModel(models, name);
    return 'kind' in found ? found : await embedTexts(found, request);
  };
}

/** Makes the vectors of texts by a model on this machine. Never rejects. */
export async function embedHere(
  embedding: LocalEmbedding,
  { texts, timeoutMs, signal }: EmbeddingRequest,
): Promise<EmbedResult> {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const both = AbortSignal.any([limit, ...(signal ? [signal] : [])]);
    return { kind: 'embedded', vectors: await embedding(texts, both) };
  } catch (error) {
    if (limit.aborted) {
      return failed(`The embeddings took longer than ${timeoutMs / 1_000} s on this machine.`);
    }
    return failed(error instanceof Error ? error.message : String(error));
  }
}

/** Finds a model whose server has an address for embeddings, or says why it cannot be asked. */
export function embeddingModel(models: Pick<Models, 'find'>, name: string): Model | Failed {
  const model = models.find(name);
  if (model === null) return failed(`No model provider here has "${name}".`);
  if (model.protocol.name !== 'chat-completions') {
    return failed(
      `The provider of ${name} makes no embeddings. Choose a model of a server that speaks the OpenAI protocol.`,
    );
  }
  const problem = model.server.problem();
  return problem === null ? model : failed(problem);
}

/**
 * Asks a model's server for the vectors of texts, in OpenAI's protocol and with the key of its provider.
 * An answer with another number of vectors or of unequal length is refused whole. One in which a vector is no
 * direction counts as a refusal of the texts: the others can be asked for without that one.
 */
export async function embedTexts(model: Model, request: EmbeddingRequest): Promise<CountedVectors> {
  const { texts, timeoutMs, signal } = request;
  try {
    const answer = await fetch(urlOf(model), {
      method: 'POST',
      headers: await modelHeaders(model, { 'content-type': 'application/json' }),
      body: JSON.stringify({ model: model.name, input: texts, encoding_format: 'float' }),
      // Another host would be shown the key.
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    });
    const maxBytes = Math.min(MAX_BYTES, texts.length * MAX_BYTES_PER_TEXT);
    const body = await readText(answer, maxBytes);
    if (body === null) {
      return failed(`${whereOf(model)} answered with more than ${maxBytes / 1_048_576} MB.`);
    }
    if (!answer.ok) {
      const isRefused = answer.status === 400 || answer.status === 413 || answer.status === 422;
      const { message } = httpFailure(model, answer.status, withoutKey(model, body));
      return { kind: 'failed', message, isRefused };
    }
    const bounds = { maxBytes: MAX_BYTES, maxValues: MAX_VALUES, maxDepth: 8 };
    const read = await readJson(Buffer.from(body), bounds);
    return vectorsIn(read.kind === 'value' ? read.value : undefined, model, texts);
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') {
      return failed(timeoutFailure(model, timeoutMs).message);
    }
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return failed(connectionFailure(model, cause).message);
  }
}

function urlOf({ server, protocol }: Model): URL {
  return server.url?.(PATH) ?? protocol.urlOf(server.baseUrl, PATH);
}

function vectorsIn(body: unknown, model: Model, texts: readonly string[]): CountedVectors {
  const parsed = Answer.safeParse(body);
  if (!parsed.success) return failed(`${whereOf(model)} answered with no embeddings.`);
  const { data, usage } = parsed.data;
  const rows = data.toSorted((one, other) => one.index - other.index);
  if (rows.length !== texts.length || rows.some(({ index }, at) => index !== at)) {
    return failed(
      `${whereOf(model)} answered with ${rows.length} embeddings for ${texts.length} texts.`,
    );
  }
  const vectors = rows.map(({ embedding }) =>
    Float32Array.from(embedding, (each) => each ?? Number.NaN),
  );
  const [{ length } = new Float32Array()] = vectors;
  if (length > MAX_DIMENSIONS || vectors.some((vector) => vector.length !== length)) {
    return failed(`${whereOf(model)} answered with embeddings of lengths that do not fit.`);
  }
  if (vectors.some((vector) => !(normOf(vector) > 0))) {
    const message = `${whereOf(model)} answered with an embedding that is not a direction.`;
    return { kind: 'failed', message, isRefused: true };
  }
  return { kind: 'embedded', vectors, counts: tokensOf(usage?.prompt_tokens ?? estimate(texts)) };
}

/** Returns the length of a vector; NaN or infinite where a number of it is, or overflows. */
function normOf(vector: Float32Array): number {
  const sum = vector.reduce((total, each) => total + each * each, 0);
  return Number.isFinite(sum) ? Math.sqrt(sum) : Number.NaN;
}

/** Counts the tokens of texts to be read and nothing written. */
export function tokensOf(inputTokens: number): TokenCounts {
  return { inputTokens, cacheWriteTokens: 0, cacheReadTokens: 0, outputTokens: 0 };
}

function estimate(texts: readonly string[]): number {
  return Math.ceil(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 4);
}

function whereOf({ server }: Model): string {
  return new URL(server.baseUrl).host;
}

function failed(message: string): Failed {
  return { kind: 'failed', message, isRefused: false };
}
