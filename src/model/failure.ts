import { z } from 'zod';
import type { ModelSettings } from '../config.ts';

/** Why the model gave no answer, with one sentence fit for the chat. */
export type ModelFailure = {
  readonly code: 'MODEL_FAILED' | 'MODEL_TIMEOUT' | 'BUDGET';
  readonly message: string;
};

const ErrorBody = z.object({ error: z.object({ message: z.string() }) });

/** What a refusal by the model's server means for the owner. */
export function httpFailure(model: ModelSettings, status: number, body: string): ModelFailure {
  return { code: 'MODEL_FAILED', message: httpSentence(model, status, body) };
}

function httpSentence(model: ModelSettings, status: number, body: string): string {
  const detail = detailOf(body);
  if (status === 401 || status === 403) {
    return `The model's server refused the API key (${status}). Set another with \`claw setup\`.`;
  }
  if (status === 404 && detail === '') {
    const end = model.provider === 'openai' ? '; it often ends in /v1' : '';
    return `The server at ${addressOf(model)} answers, but no model does there (404). Check the address${end}.`;
  }
  if (status === 404) {
    return `The model's server at ${host(model)} does not know "${model.model}" (404)${detail}. Check the name of the model, which is MODEL in .env.`;
  }
  if (
    status === 402 ||
    /credit balance|insufficient[_ ]quota|exceeded your current quota|billing/i.test(detail)
  ) {
    return `The account at ${host(model)} has no credit left (${status})${detail}. Add some there.`;
  }
  if (status === 429) {
    return `The model's server wants fewer requests for now (429, rate limit)${detail}. Try again in a minute.`;
  }
  if (status >= 500) {
    return `The model's server is out of order (${status})${detail}. Try again later.`;
  }
  return `The model's server refused the request (${status})${detail}.`;
}

/** What an error of the connection to the model's server means for the owner. */
export function connectionFailure(
  model: Pick<ModelSettings, 'baseUrl'>,
  error: unknown,
): ModelFailure {
  const code = errorCode(error);
  const why =
    {
      ECONNREFUSED: 'nothing listens there',
      ENOTFOUND: 'there is no such name',
      EAI_AGAIN: 'names cannot be looked up; is there a network?',
      ECONNRESET: 'it broke the connection',
      'bad port': `programs may not call port ${new URL(model.baseUrl).port}, so let the server listen on another one`,
    }[code] ?? code;
  return {
    code: 'MODEL_FAILED',
    message: `The model at ${host(model)} cannot be reached: ${why}.`,
  };
}

export function timeoutFailure(model: ModelSettings, timeoutMs: number): ModelFailure {
  return {
    code: 'MODEL_TIMEOUT',
    message: `The model at ${host(model)} said nothing for ${Math.round(timeoutMs / 1000)} s.`,
  };
}

export function brokenFailure(model: ModelSettings): ModelFailure {
  return {
    code: 'MODEL_FAILED',
    message: `The model's server at ${host(model)} broke off in the middle of its answer.`,
  };
}

/** Null when the model can be asked at all. A server of one's own may need no key, Anthropic's does. */
export function missingKey(model: ModelSettings): ModelFailure | null {
  if (model.provider !== 'anthropic' || model.apiKey !== null) return null;
  return {
    code: 'MODEL_FAILED',
    message: 'There is no key for the model yet. Add one with `claw setup`.',
  };
}

/** Text of the model's server with the key blotted out, which some servers repeat in their errors. */
export function withoutKey(model: ModelSettings, text: string): string {
  return model.apiKey === null ? text : text.replaceAll(model.apiKey, '[key]');
}

function host({ baseUrl }: Pick<ModelSettings, 'baseUrl'>): string {
  return new URL(baseUrl).host;
}

/** The address without what may be a password in it. */
function addressOf({ baseUrl }: ModelSettings): string {
  const { origin, pathname } = new URL(baseUrl);
  return `${origin}${pathname.replace(/\/$/, '')}`;
}

function errorCode(error: unknown): string {
  if (error instanceof AggregateError) return errorCode(error.errors[0]);
  if (!(error instanceof Error)) return 'unknown error';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.message;
}

/** The server's own words, as far as they fit a sentence. */
function detailOf(body: string): string {
  try {
    const parsed = ErrorBody.safeParse(JSON.parse(body));
    return parsed.success ? `: ${oneLine(parsed.data.error.message)}` : '';
  } catch {
    // Not JSON, so most likely a proxy's HTML page; the status says enough.
    return '';
  }
}

/** Text from outside, made fit for a sentence: one line of at most 300 characters without a last dot. */
export function oneLine(text: string): string {
  const line = text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replace(/\.$/, '');
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
