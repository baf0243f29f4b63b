import { z } from 'zod';
import type { ModelSettings } from '../config.ts';
import {
  connectionFailure,
  httpFailure,
  type ModelFailure,
  missingKey,
  timeoutFailure,
  withoutKey,
} from './failure.ts';
import { modelHeaders, modelUrl } from './upstream-request.ts';

const TIMEOUT_MS = 60_000;

export type CompletionResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly message: string };

/**
 * Asks the configured model for one word, from the host itself: whether address, key and model's name
 * belong together is known only after an answer.
 *
 * @returns one sentence about what is wrong, never an exception
 */
export async function completeOnce(
  model: ModelSettings,
  timeoutMs: number = TIMEOUT_MS,
): Promise<CompletionResult> {
  const { serverTime: _, ...result } = await probeModel(model, timeoutMs);
  return result;
}

/** As `completeOnce`, with the server's clock at its answer, also where that was a refusal. */
export async function probeModel(
  model: ModelSettings,
  timeoutMs: number,
): Promise<CompletionResult & { readonly serverTime: number | null }> {
  let serverTime: number | null = null;
  const onHeaders = (headers: Headers): void => {
    const time = Date.parse(headers.get('date') ?? '');
    serverTime = Number.isNaN(time) ? null : time;
  };
  const failure = missingKey(model) ?? (await ask(model, { timeoutMs, onHeaders }));
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
    return connectionFailure({ baseUrl }, causeOf(error)).message;
  }
}

/** What a model said, or one sentence about why it did not. */
export type Answer =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

/**
 * Asks the configured model one question, from the host itself and without tools.
 *
 * @param limits `signal` breaks it off
 * @returns a sentence about what is wrong, never an exception
 */
export async function completeText(
  model: ModelSettings,
  prompt: { readonly system: string; readonly user: string },
  limits: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<Answer> {
  const missing = missingKey(model);
  if (missing !== null) return { ok: false, message: missing.message };
  const asked = await send(model, questionFor(model, prompt), limits);
  if ('code' in asked) return { ok: false, message: asked.message };
  const text = textIn(asked.body);
  return text === null ? { ok: false, message: notAModel(model).message } : { ok: true, text };
}

const MAX_ANSWER_TOKENS = 16_000;

function questionFor(
  { provider }: ModelSettings,
  { system, user }: { readonly system: string; readonly user: string },
): object {
  const question = { role: 'user', content: user };
  return provider === 'anthropic'
    ? { max_tokens: MAX_ANSWER_TOKENS, system, messages: [question] }
    : { messages: [{ role: 'system', content: system }, question] };
}

async function ask(model: ModelSettings, limits: Limits): Promise<ModelFailure | null> {
  const asked = await send(
    model,
    {
      // Required by the one; refused by newer models of the other.
      ...(model.provider === 'anthropic' ? { max_tokens: 16 } : {}),
      messages: [{ role: 'user', content: 'Say ok.' }],
    },
    limits,
  );
  if ('code' in asked) return asked;
  return isCompletion(model, asked.body) ? null : notAModel(model);
}

type Limits = {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly onHeaders?: (headers: Headers) => void;
};

async function send(
  model: ModelSettings,
  request: object,
  { timeoutMs, signal, onHeaders }: Limits,
): Promise<{ readonly body: string } | ModelFailure> {
  const path = model.provider === 'anthropic' ? '/v1/messages' : '/v1/chat/completions';
  const url = modelUrl(model, 'POST', path);
  if (url === null) return connectionFailure(model, new Error(`no address for ${path}`));
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: modelHeaders(model, { 'content-type': 'application/json' }),
      body: JSON.stringify({ model: model.model, ...request }),
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    });
    onHeaders?.(answer.headers);
    const body = withoutKey(model, await answer.text());
    if (!answer.ok) return httpFailure(model, answer.status, body);
    return { body };
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

/** Many servers answer any request with a friendly page and status 200. */
function isCompletion(model: ModelSettings, body: string): boolean {
  const parsed = parseJson(body);
  if (typeof parsed !== 'object' || parsed === null) return false;
  return (model.provider === 'anthropic' ? 'content' : 'choices') in parsed;
}

const Anthropic = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
});
const OpenAi = z.object({
  choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })], z.unknown()),
});

function textIn(body: string): string | null {
  const said = parseJson(body);
  const { data: anthropic } = Anthropic.safeParse(said);
  if (anthropic) return anthropic.content.map(({ text }) => text ?? '').join('');
  return OpenAi.safeParse(said).data?.choices[0].message.content ?? null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is not a completion either.
    return null;
  }
}

function notAModel(model: ModelSettings): ModelFailure {
  return {
    code: 'MODEL_FAILED',
    message: `What answers at ${model.baseUrl} is not a model's server. Check the address.`,
  };
}
