import { z } from 'zod';
import { type JsonBounds, readJson } from '../lib/bounded-json.ts';
import { dictionary, namesIn, text } from '../lib/bounded-schema.ts';
import type { Model } from './model.ts';
import type { TokenCounts } from './tokens.ts';

/** Fields of a request that bound the cost of a call. */
const ModelRequest = z.looseObject({
  model: text(200),
  stream: z.boolean().nullish(),
  stream_options: dictionary(z.unknown()).nullish(),
  max_tokens: z.number().int().positive().nullish(),
  max_completion_tokens: z.number().int().positive().nullish(),
  n: z.number().int().positive().nullish(),
});

/** The longest conversation with its pictures. Each of its messages is a dozen values, each parameter of a tool some more. */
const BOUNDS: JsonBounds = { maxBytes: 20 * 1_048_576, maxValues: 200_000, maxDepth: 100 };
/** More fields than any protocol has. */
const MOST_FIELDS = 100;

/** The limit of an answer where the request sets none. */
const DEFAULT_MAX_TOKENS = 32_000;
/** Rather more tokens than there are: code and other languages have short ones. */
const CHARS_PER_TOKEN = 3;
/** A picture is read as this many tokens at most, however large its file is; a page of a document too. */
const TOKENS_PER_PICTURE = 1_600;
const CHARS_PER_PAGE = 100_000;

/** A call as one model's server gets it. */
export type AskedCall = {
  readonly request: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
};

/** A call as it goes on to the model's server, and the most that it may take. */
export type CheckedCall = {
  readonly atMost: TokenCounts;
  readonly isStream: boolean;
  /** Returns the call as one of the models that may answer it is asked. */
  readonly askedOf: (model: Model) => AskedCall;
};

/**
 * Checks a call before it goes on.
 *
 * It is for the model of the turn, whose price is known: another may cost any multiple of it. It asks for
 * nothing but an answer, as its protocol says. It is written again from what was read here, so that
 * nothing in it (the same key twice, an answer without its counts) means something else to the model's
 * server.
 *
 * @param model the first that was chosen for the turn, which the agent knows by name
 * @returns one sentence when it cannot go on
 */
export async function checkCall(
  { name, protocol }: Model,
  body: Buffer,
): Promise<CheckedCall | string> {
  const read = await readJson(body, BOUNDS);
  if (read.kind === 'refused') return `The request cannot be read. ${read.problem}`;
  const isRequest = namesIn(read.value) <= MOST_FIELDS;
  const request = isRequest ? ModelRequest.safeParse(read.value).data : undefined;
  if (request === undefined) return 'The request is not one that the model can read.';
  if (request.model !== name) return `Only the model ${name} can be called here.`;
  const problem = protocol.problemOf(request);
  if (problem !== null) return problem;
  const isStream = request.stream === true;
  const counted = isStream ? protocol.withCounts(request) : request;
  const maxTokens = request.max_completion_tokens ?? request.max_tokens ?? DEFAULT_MAX_TOKENS;
  return {
    atMost: {
      inputTokens: promptTokens(request),
      cacheWriteTokens: 0,
      cacheReadTokens: 0,
      outputTokens: maxTokens * (request.n ?? 1),
    },
    isStream,
    askedOf(model) {
      const asked = requestFor(model, counted, protocol.withCache);
      return { request: asked, body: Buffer.from(wholeCharacters(JSON.stringify(asked))) };
    },
  };
}

/**
 * Returns a request as one model's server takes it: fitted to the protocol, to what its provider wants otherwise, and to
 * what it has refused before.
 */
export function requestFor(
  model: Model,
  request: Readonly<Record<string, unknown>>,
  withCache: Model['protocol']['withCache'] = (same) => same,
): Readonly<Record<string, unknown>> {
  const { protocol, abilities, quirks } = model;
  const taken = abilities.tools ? request : protocol.withoutTools(request);
  const fitted = protocol.fit(taken);
  quirks.noteFit(fitted);
  return quirks.applyTo(model.adapt({ ...withCache(fitted.request), model: model.name }));
}

/**
 * Replaces halves of characters, as a text that was cut may begin or end with one: servers refuse a call with one, and a
 * conversation that holds it would never be answered again.
 */
function wholeCharacters(json: string): string {
  if (!json.includes('\\ud')) return json;
  return json.replace(/\\(?:ud[0-9a-f]{3}|.)/g, (sign) =>
    sign.startsWith('\\ud') ? '\ufffd' : sign,
  );
}

/** Ways to estimate the tokens of texts and of encoded files. */
export type TokenEstimate = {
  text(text: string): number;
  file(encoded: string): number;
};

/** Rather more tokens than there are. */
export const AT_MOST: TokenEstimate = {
  text: (text) => Math.ceil(text.length / CHARS_PER_TOKEN),
  file: (encoded) => TOKENS_PER_PICTURE * Math.ceil(encoded.length / CHARS_PER_PAGE),
};

/** Estimates the tokens of a request, or of a part of it. */
export function promptTokens(value: unknown, by: TokenEstimate = AT_MOST): number {
  if (typeof value === 'string') return by.text(value);
  if (Array.isArray(value)) {
    return value.reduce((sum: number, each) => sum + promptTokens(each, by), 0);
  }
  if (typeof value !== 'object' || value === null) return 1;
  const isFile = 'type' in value && value.type === 'base64';
  return Object.entries(value).reduce((sum, [key, each]) => {
    const tokens = isEncoded(key, each, isFile) ? by.file(each) : promptTokens(each, by);
    return sum + by.text(key) + tokens;
  }, 0);
}

/** A source of type base64 carries a file as `data`, a part of chat completions as the address of one. */
function isEncoded(key: string, value: unknown, isFile: boolean): value is string {
  if (typeof value !== 'string') return false;
  if (isFile) return key === 'data';
  return (key === 'url' || key === 'file_data') && value.startsWith('data:');
}
