import type { IncomingHttpHeaders } from 'node:http';
import type { ModelSettings } from '../config.ts';
import { plainBetas } from './allowed-requests.ts';

/** The only headers of an agent's request that go on to the model; a key among them never does. */
const PASSED_ON = ['accept', 'anthropic-version', 'content-type'];

/** The calls that an agent may make, by provider, as paths on its socket. */
const MODEL_PATHS = {
  anthropic: ['/v1/messages', '/v1/messages/count_tokens'],
  openai: ['/v1/chat/completions'],
} as const;

/** Where a call on the agent's socket goes, or null when it is none that an agent may make. */
export function modelUrl(
  model: ModelSettings,
  method: string | undefined,
  target: string | undefined,
): URL | null {
  const allowed: readonly string[] = MODEL_PATHS[model.provider];
  if (method !== 'POST' || target === undefined || !allowed.includes(target)) return null;
  // OpenAI's base address ends in /v1 by convention, Anthropic's does not; both are taken either way.
  const base = model.baseUrl.replace(/\/+$/, '');
  const path = target.slice('/v1'.length);
  if (model.provider === 'openai') return new URL(`${base}${path}`);
  return new URL(`${base.replace(/\/v1$/, '')}/v1${path}`);
}

/** Counting tokens is the one call that costs nothing. */
export function isFree({ pathname }: URL): boolean {
  return pathname.endsWith('/count_tokens');
}

/** The headers of the call to the model's server: the agent's few, and the key. */
export function modelHeaders(
  model: ModelSettings,
  given: IncomingHttpHeaders,
): Record<string, string> {
  // Token counts are read from the answer as it passes, so it must not come compressed.
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  if (model.provider === 'anthropic') headers['anthropic-version'] = '2023-06-01';
  for (const name of PASSED_ON) {
    const value = given[name];
    if (typeof value === 'string') headers[name] = value;
  }
  const betas = plainBetas(String(given['anthropic-beta'] ?? ''));
  if (betas !== null) headers['anthropic-beta'] = betas;
  return { ...headers, ...keyHeader(model) };
}

function keyHeader(model: ModelSettings): Record<string, string> {
  if (model.apiKey === null) return {};
  if (model.provider === 'openai') return { authorization: `Bearer ${model.apiKey}` };
  return { 'x-api-key': model.apiKey };
}
