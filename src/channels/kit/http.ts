import { UnknownDelivery } from '../channel.ts';
import { causeInWords, codeOf } from './cause.ts';
import type { ConnectFailure } from './stay-connected.ts';

/** There was no connection yet that a request could have gone over. */
const NEVER_SENT = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
]);

/** The pause where a far end asks for one without a time. */
const UNNAMED_PAUSE_MS = 1_000;

/** A request without an answer, or without success. It contains no address: addresses may contain tokens. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  /** The status of the answer; null where none came. */
  readonly status: number | null;
  /** The time that the far end asks to wait; null for another failure. */
  readonly waitMs: number | null;
  /** The far end may have carried the request out. */
  readonly mayBeDone: boolean;

  constructor(reason: string, answer: Pick<HttpFailure, 'status' | 'waitMs' | 'mayBeDone'>) {
    super(reason);
    this.status = answer.status;
    this.waitMs = answer.waitMs;
    this.mayBeDone = answer.mayBeDone;
  }
}

/**
 * Asks a far end by HTTP.
 *
 * @throws HttpFailure where no answer comes, and for an answer that is no success
 */
export async function request(address: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    // Elsewhere the token would be told to another server.
    response = await fetch(address, { redirect: 'error', ...init });
  } catch (error) {
    throw unanswered(error);
  }
  if (response.ok) return response;
  await response.body?.cancel();
  const { status } = response;
  const waitMs = status === 429 ? pauseIn(response.headers) : null;
  throw new HttpFailure(`error ${status}`, { status, waitMs, mayBeDone: status >= 500 });
}

/**
 * Makes the error that the host gets for a failed message: refused, or with an unknown outcome. Other errors stay.
 */
export function explainSend(title: string, error: unknown): Error {
  if (!(error instanceof HttpFailure))
    return error instanceof Error ? error : new Error(String(error));
  const failure = error;
  if (failure.mayBeDone) {
    return new UnknownDelivery(
      `${title} did not say whether it took the message (${failure.message}).`,
    );
  }
  return failure.status === null
    ? new Error(`${title} cannot be reached (${failure.message}).`)
    : new Error(`${title} refused the message (${failure.message}).`);
}

/** Says why there is no connection. If the far end does not know the token, only the owner can help. */
export function explainConnect(
  title: string,
  tokenSetting: string,
  error: unknown,
): ConnectFailure {
  const { status, waitMs, message } = error instanceof HttpFailure ? error : unanswered(error);
  if (status === 401 || status === 403) {
    const detail = `${title} does not know the token. Write the right one as ${tokenSetting} into .env and restart.`;
    return { status: { state: 'refused', detail }, isFinal: true, waitMs: null };
  }
  const detail =
    waitMs === null
      ? `${title} cannot be reached (${message}). Trying again.`
      : `${title} asks for a pause. Trying again.`;
  return { status: { state: 'connecting', detail }, isFinal: false, waitMs };
}

function unanswered(error: unknown): HttpFailure {
  const reason = codeOf(error) ?? 'no answer';
  return new HttpFailure(causeInWords(reason), {
    status: null,
    waitMs: null,
    mayBeDone: !NEVER_SENT.has(reason),
  });
}

function pauseIn(headers: Headers): number {
  const seconds = Number.parseFloat(headers.get('retry-after') ?? '');
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : UNNAMED_PAUSE_MS;
}
