import type { ModelSettings } from '../config.ts';
import {
  connectionFailure,
  httpFailure,
  type ModelFailure,
  missingKey,
  timeoutFailure,
  withoutKey,
} from './model-failure.ts';
import { modelHeaders, modelUrl } from './model-request.ts';

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
  const failure = missingKey(model) ?? (await ask(model, timeoutMs));
  return failure === null ? { ok: true } : { ok: false, message: failure.message };
}

async function ask(model: ModelSettings, timeoutMs: number): Promise<ModelFailure | null> {
  const path = model.provider === 'anthropic' ? '/v1/messages' : '/v1/chat/completions';
  const url = modelUrl(model, 'POST', path);
  if (url === null) return connectionFailure(model, new Error(`no address for ${path}`));
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: modelHeaders(model, { 'content-type': 'application/json' }),
      body: JSON.stringify({
        model: model.model,
        // Required by the one; refused by newer models of the other.
        ...(model.provider === 'anthropic' ? { max_tokens: 16 } : {}),
        messages: [{ role: 'user', content: 'Say ok.' }],
      }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const body = withoutKey(model, await answer.text());
    if (!answer.ok) return httpFailure(model, answer.status, body);
    return isCompletion(model, body) ? null : notAModel(model);
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') {
      return timeoutFailure(model, timeoutMs);
    }
    // fetch wraps what the connection said.
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return connectionFailure(model, cause);
  }
}

/** Many servers answer any request with a friendly page and status 200. */
function isCompletion(model: ModelSettings, body: string): boolean {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed !== 'object' || parsed === null) return false;
    return (model.provider === 'anthropic' ? 'content' : 'choices') in parsed;
  } catch {
    // Not JSON is not a completion either.
    return false;
  }
}

function notAModel(model: ModelSettings): ModelFailure {
  return {
    code: 'MODEL_FAILED',
    message: `What answers at ${model.baseUrl} is not a model's server. Check the address.`,
  };
}
