import { z } from 'zod';
import { jsonWithin } from '../lib/bounded-json.ts';
import { text } from '../lib/bounded-schema.ts';
import { causeInWords } from '../lib/cause.ts';
import { shortened } from '../lib/graphemes.ts';
import type { Model } from './model.ts';

/** Why the model gave no answer, with one sentence fit for the chat. */
export type ModelFailure = {
  readonly code: 'MODEL_FAILED' | 'MODEL_TIMEOUT' | 'BUDGET';
  readonly message: string;
  /** Set where what the server says is about more than this one call. */
  readonly reason?: FailureReason;
  /** The name of the model that was asked, with its prefix. */
  readonly model?: string;
};

/** The server refused the key, does not know the model, cannot be reached at all, or refuses the request. */
export type FailureReason = 'key' | 'unknown-model' | 'down' | 'rejected';

/** As much of a model as tells where it is. */
type OfServer = { readonly server: Pick<Model['server'], 'baseUrl'> };

const Said = z.object({ message: text() }).transform(({ message }) => message);
const InError = z.object({ error: z.union([Said, text()]) }).transform(({ error }) => error);
/** The forms in which servers word an error; Google puts it into a list. */
const ErrorBody = z.union([
  InError,
  z.tuple([InError], z.unknown()).transform(([error]) => error),
  Said,
  z.object({ detail: text() }).transform(({ detail }) => detail),
]);

/** Returns the failure, in words for the owner, after the model's server refused a request. */
export function httpFailure(model: Model, status: number, body: string): ModelFailure {
  const reason = reasonOf(status, detailOf(body));
  return {
    code: 'MODEL_FAILED',
    message: httpSentence(model, status, body),
    model: model.id,
    ...(reason === null ? {} : { reason }),
  };
}

/** Some servers refuse a key as they refuse any other mistake. */
const WRONG_KEY = /(incorrect|invalid|wrong) api key|api key (is )?(not valid|invalid|expired)/i;

function reasonOf(status: number, detail: string): FailureReason | null {
  if (status === 401 || status === 403 || (status === 400 && WRONG_KEY.test(detail))) return 'key';
  // What stands before a server says so where it cannot be reached.
  if (status === 502 || status === 503 || status === 504) return 'down';
  // Without a word of the server's, it is the address that is wrong.
  if (status === 404) return detail === '' ? null : 'unknown-model';
  const isOfRequest = status >= 400 && status < 500 && !NOT_OF_REQUEST.includes(status);
  return isOfRequest && !NO_CREDIT.test(detail) ? 'rejected' : null;
}

/** No credit, a proxy's login, and what passes by waiting. */
const NOT_OF_REQUEST = [402, 407, 408, 409, 425, 429];
const NO_CREDIT = /credit balance|insufficient[_ ]quota|exceeded your current quota|billing/i;

function httpSentence(model: Model, status: number, body: string): string {
  const detail = detailOf(body);
  if (reasonOf(status, detail) === 'key') {
    return `The model's server at ${host(model)} refused the API key (${status}). Set another with \`npx claw setup\`.`;
  }
  if (status === 404 && detail === '') {
    const { usualEnd } = model.protocol;
    const end = usualEnd === null ? '' : `; it often ends in ${usualEnd}`;
    return `The server at ${addressOf(model)} answers, but no model does there (404). Check the address${end}.`;
  }
  if (status === 404) {
    return `The model's server at ${host(model)} does not know "${model.name}" (404)${detail}. Check the name of the model.`;
  }
  if (status === 402 || NO_CREDIT.test(detail)) {
    return `The account at ${host(model)} has no credit left (${status})${detail}. Add some there.`;
  }
  if (status === 429) {
    return `The model's server wants fewer requests for now (429, rate limit)${detail}. Try again in a minute.`;
  }
  if (status === 529) {
    return `The model's server is overloaded (529)${detail}. Try again in a minute.`;
  }
  if (status >= 500) {
    return `The model's server is out of order (${status})${detail}. Try again later.`;
  }
  return `The model's server refused the request (${status})${detail}.`;
}

/** Returns the failure, in words for the owner, after the connection to the model's server broke. */
export function connectionFailure({ server }: OfServer, error: unknown): ModelFailure {
  if (isUnsendable(error)) {
    return {
      code: 'MODEL_FAILED',
      reason: 'key',
      message: `${host({ server })} cannot be asked: the API key or a header holds a line break or a sign that cannot be sent, or the address has a password in it. Set it again with \`npx claw setup\`.`,
    };
  }
  const code = errorCode(error);
  const why =
    code === 'bad port'
      ? `programs may not call port ${new URL(server.baseUrl).port}, so let the server listen on another one`
      : causeInWords(code);
  return {
    code: 'MODEL_FAILED',
    reason: 'down',
    message: `The model at ${host({ server })} cannot be reached (${why}).`,
  };
}

/** Returns the failure after something answered that is no model's server, such as a page that greets. */
export function notAModel(model: Model): ModelFailure {
  return {
    code: 'MODEL_FAILED',
    message: `What answers at ${addressOf(model)} is not a model's server. Check the address.`,
  };
}

/** Returns the failure after a server answered a call for a stream, as if all were well, with a page or with JSON. */
export function unstreamedFailure(model: Model, status: number, body: string): ModelFailure {
  return detailOf(body) === '' ? notAModel(model) : httpFailure(model, status, body);
}

export function timeoutFailure(model: Model, timeoutMs: number): ModelFailure {
  return {
    code: 'MODEL_TIMEOUT',
    reason: 'down',
    message: `The model at ${host(model)} said nothing for ${Math.round(timeoutMs / 1000)} s.`,
  };
}

export function brokenFailure(model: Model): ModelFailure {
  return {
    code: 'MODEL_FAILED',
    message: `The model's server at ${host(model)} broke off in the middle of its answer.`,
  };
}

/** Returns the failure after an answer was cut off that had no end. */
export function endlessFailure(model: Model, why: string): ModelFailure {
  return {
    code: 'MODEL_FAILED',
    message: `The model's server at ${host(model)} ${why}, and was cut off. Try again, or choose another model with \`/model\`.`,
  };
}

/** Returns why the model cannot be asked now, such as a missing key; null when it can be asked. */
export function unaskable({ server }: Model): ModelFailure | null {
  const message = server.problem();
  return message === null ? null : { code: 'MODEL_FAILED', message };
}

/** Returns text of the model's server with the key blotted out, which some servers repeat in their errors. */
export function withoutKey({ server }: Model, text: string): string {
  const secrets = server.secrets().filter((secret) => secret !== '');
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '[key]'), text);
}

function host({ server }: OfServer): string {
  return new URL(server.baseUrl).host;
}

/** Returns the address without what may be a password in it. */
function addressOf({ server }: OfServer): string {
  const { origin, pathname } = new URL(server.baseUrl);
  return `${origin}${pathname.replace(/\/$/, '')}`;
}

/** Tells whether a request was never made because of its headers or its address. Such an error repeats them, key and password included. */
function isUnsendable(error: unknown): boolean {
  if (!(error instanceof TypeError)) return false;
  return !('code' in error) || error.code === 'ERR_INVALID_CHAR';
}

function errorCode(error: unknown): string {
  if (error instanceof AggregateError) return errorCode(error.errors[0]);
  if (!(error instanceof Error)) return 'unknown error';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.message;
}

/** Returns the server's own words, as far as they fit a sentence. */
function detailOf(body: string): string {
  // What is not JSON is most likely a proxy's HTML page; the status says enough.
  const parsed = ErrorBody.safeParse(jsonWithin(body));
  return parsed.success ? `: ${oneLine(parsed.data)}` : '';
}

/** Text from outside, made fit for a sentence: one line of at most 300 characters without a last dot. */
export function oneLine(text: string): string {
  const line = text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replace(/\.$/, '');
  return shortened(line, 300);
}
