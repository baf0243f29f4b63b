import { causeInWords, codeOf } from '../cause.ts';
import { VoiceError } from './failure.ts';
import type { VoiceServer } from './settings.ts';

const ATTEMPTS = 3;
const LONGEST_PAUSE_MS = 20_000;
const PAUSE_MS = 1_000;

/** Waits, or until the signal is aborted. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

export type ServerRequest = {
  readonly path: string;
  readonly body: () => FormData | string;
  readonly maxBytes: number;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly pause: Pause;
};

/**
 * Asks a server that speaks OpenAI's protocol, again after a pause where it is busy, and returns its answer.
 *
 * @throws VoiceError KEY_REFUSED, BUSY, UNREACHABLE, REFUSED, TIMEOUT, GARBAGE
 */
export async function askServer(server: VoiceServer, request: ServerRequest): Promise<Buffer> {
  const ending = AbortSignal.timeout(request.limitMs);
  const signal = AbortSignal.any([request.signal, ending]);
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await ask(server, request, signal).catch((error: unknown) => {
      if (error instanceof VoiceError) throw error;
      if (request.signal.aborted) throw new VoiceError('TIMEOUT', 'the assistant was stopped');
      if (ending.aborted) throw late(server, request.limitMs);
      return { error: unreachable(server, error), pauseMs: PAUSE_MS };
    });
    if (Buffer.isBuffer(outcome)) return outcome;
    const { error, pauseMs } = outcome;
    if (attempt === ATTEMPTS || pauseMs === null || pauseMs > LONGEST_PAUSE_MS) throw error;
    await request.pause(pauseMs, signal);
    if (signal.aborted) throw late(server, request.limitMs);
  }
}

type Failed = { readonly error: VoiceError; readonly pauseMs: number | null };

async function ask(
  server: VoiceServer,
  { path, body, maxBytes }: ServerRequest,
  signal: AbortSignal,
): Promise<Buffer | Failed> {
  const content = body();
  const response = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: {
      ...(typeof content === 'string' ? { 'content-type': 'application/json' } : {}),
      ...(server.key === null ? {} : { authorization: `Bearer ${server.key}` }),
    },
    body: content,
    redirect: 'error',
    signal,
  });
  const answer = await bytesOf(response, maxBytes);
  return response.ok ? answer : readFailure(server, response, answer);
}

async function bytesOf(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new VoiceError('GARBAGE', 'the server’s answer is far too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function readFailure(server: VoiceServer, { status, headers }: Response, answer: Buffer): Failed {
  const host = hostOf(server);
  const never = (error: VoiceError): Failed => ({ error, pauseMs: null });
  if (status === 401 || status === 403) {
    const text = `${host} refuses the key (error ${status}); \`npx claw setup voice\` sets another one`;
    return never(new VoiceError('KEY_REFUSED', text));
  }
  if (status === 429 && answer.includes('insufficient_quota')) {
    return never(new VoiceError('BUSY', `the account at ${host} has no credit left (error 429)`));
  }
  if (status === 429 || status >= 500) {
    const text = `${host} is busy or broken just now (error ${status})`;
    return { error: new VoiceError('BUSY', text), pauseMs: pauseIn(headers) };
  }
  if (status === 413) return never(new VoiceError('TOO_LONG', `it is too large for ${host}`));
  const hint = status === 404 ? `; is there a model ${server.model}?` : '';
  return never(new VoiceError('REFUSED', `${host} did not take it (error ${status}${hint})`));
}

function pauseIn(headers: Headers): number {
  const asked = headers.get('retry-after');
  if (asked === null) return PAUSE_MS;
  const seconds = Number(asked);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const date = Date.parse(asked);
  return Number.isNaN(date) ? PAUSE_MS : Math.max(0, date - Date.now());
}

function late(server: VoiceServer, limitMs: number): VoiceError {
  const seconds = Math.round(limitMs / 1_000);
  return new VoiceError('TIMEOUT', `${hostOf(server)} gave no answer within ${seconds} s`);
}

function unreachable(server: VoiceServer, error: unknown): VoiceError {
  return new VoiceError('UNREACHABLE', `${hostOf(server)} ${cannotBeReached(error)}`);
}

/** Says that a server gave no answer, and what the owner can look at. */
export function cannotBeReached(error: unknown): string {
  const code = codeOf(error);
  return code === null ? 'cannot be reached' : `cannot be reached (${causeInWords(code)})`;
}

/** The server's name without a password that its address may hold. */
export function hostOf({ url }: VoiceServer): string {
  return URL.canParse(url) ? new URL(url).host : 'the server';
}
