import { jsonWithin, USUAL_BOUNDS } from '../lib/bounded-json.ts';
import {
  connectionFailure,
  httpFailure,
  type ModelFailure,
  notAModel,
  timeoutFailure,
  unaskable,
  withoutKey,
} from './failure.ts';
import type { Model } from './model.ts';
import { requestFor } from './request-check.ts';
import { modelHeaders, modelUrl, readText } from './upstream-request.ts';

const TIMEOUT_MS = 60_000;
/** Far more than a model says at once. */
const MAX_ANSWER_BYTES = 8_388_608;
const ANSWER_BOUNDS = { ...USUAL_BOUNDS, maxBytes: MAX_ANSWER_BYTES };

export type CompletionResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly message: string };

/**
 * Asks a model for one word, from the host itself: whether address, key and model's name
 * belong together is known only after an answer.
 *
 * @returns one sentence about what is wrong, never an exception
 */
export async function completeOnce(
  model: Model,
  timeoutMs: number = TIMEOUT_MS,
): Promise<CompletionResult> {
  const { serverTime: _, ...result } = await probeModel(model, timeoutMs);
  return result;
}

/** Does the same as `completeOnce`, and returns the server's clock at its answer, even if that was a refusal. */
export async function probeModel(
  model: Model,
  timeoutMs: number,
): Promise<CompletionResult & { readonly serverTime: number | null }> {
  let serverTime: number | null = null;
  const onHeaders = (headers: Headers): void => {
    const time = Date.parse(headers.get('date') ?? '');
    serverTime = Number.isNaN(time) ? null : time;
  };
  const failure = unaskable(model) ?? (await ask(model, { timeoutMs, onHeaders }));
  return failure === null
    ? { ok: true, serverTime }
    : { ok: false, message: failure.message, serverTime };
}

const REACH_MS = 10_000;

/**
 * Looks whether a server answers at an address at all, whatever it says. One that takes its time counts
 * as there.
 *
 * @returns one sentence about why it cannot be reached; null where it can
 */
export async function problemOfServer(baseUrl: string): Promise<string | null> {
  try {
    const answer = await fetch(baseUrl, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(REACH_MS),
    });
    await answer.body?.cancel();
    return null;
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') return null;
    return connectionFailure({ server: { baseUrl } }, causeOf(error)).message;
  }
}

/** A model's text, or one sentence about why there is none. */
export type Answer =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

/**
 * Asks a model one question, from the host itself and without tools.
 *
 * @param limits `signal` breaks it off
 * @returns a sentence about what is wrong, never an exception
 */
export async function completeText(
  model: Model,
  prompt: { readonly system: string; readonly user: string },
  limits: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<Answer> {
  const missing = unaskable(model);
  if (missing !== null) return { ok: false, message: missing.message };
  const asked = await send(model, model.protocol.question(prompt), limits);
  if ('code' in asked) return { ok: false, message: asked.message };
  const text = model.protocol.textIn(jsonWithin(asked.body, ANSWER_BOUNDS));
  return text === null ? { ok: false, message: notAModel(model).message } : { ok: true, text };
}

async function ask(model: Model, limits: Limits): Promise<ModelFailure | null> {
  const asked = await send(model, model.protocol.probe, limits);
  if ('code' in asked) return asked;
  // Many servers answer any request with a friendly page and status 200.
  return model.protocol.isAnswer(jsonWithin(asked.body, ANSWER_BOUNDS)) ? null : notAModel(model);
}

type Limits = {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly onHeaders?: (headers: Headers) => void;
};

async function send(
  model: Model,
  request: object,
  limits: Limits,
): Promise<{ readonly body: string } | ModelFailure> {
  const { timeoutMs, signal, onHeaders } = limits;
  try {
    const asked = requestFor(model, { model: model.name, ...request });
    const answer = await fetch(modelUrl(model, model.protocol.paths[0]), {
      method: 'POST',
      headers: await modelHeaders(model, { 'content-type': 'application/json' }),
      body: JSON.stringify(asked),
      // Another host would be shown the key.
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    });
    onHeaders?.(answer.headers);
    const text = await readText(answer, MAX_ANSWER_BYTES);
    if (text === null) return notAModel(model);
    const body = withoutKey(model, text);
    if (answer.ok) return { body };
    const { status } = answer;
    // The same question once more, without what was refused.
    if (model.quirks.learn({ status, body }, asked)) return await send(model, request, limits);
    return httpFailure(model, status, body);
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') {
      return timeoutFailure(model, timeoutMs);
    }
    return connectionFailure(model, causeOf(error));
  }
}

/** fetch wraps what the connection said. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}
