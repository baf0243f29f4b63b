import { z } from 'zod';
import { jsonWithin, MESSENGER_BOUNDS } from '../bounded-json.ts';
import { causeInWords, codeOf } from '../cause.ts';

/** The pause where Linear asks for one without a time. */
const UNNAMED_PAUSE_MS = 5_000;
const ANSWER_MS = 30_000;

/** A request that Linear did not carry out, or did not answer. It never holds the key. */
export class LinearError extends Error {
  override readonly name = 'LinearError';
  /** `key`: it is not valid; `pause`: too many requests; `refused`: this request; `unreachable`: no answer of Linear's. */
  readonly kind: 'key' | 'pause' | 'refused' | 'unreachable';
  /** The time that Linear asks to wait; null for another failure. */
  readonly waitMs: number | null;

  constructor(kind: LinearError['kind'], message: string, waitMs: number | null = null) {
    super(message);
    this.kind = kind;
    this.waitMs = waitMs;
  }
}

/** An answer, and the time at Linear's end, if it was told. */
export type LinearAnswer = { readonly data: unknown; readonly serverTime: number | null };

/** Asks Linear. @throws LinearError */
export type AskLinear = (
  query: string,
  variables: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
) => Promise<LinearAnswer>;

const Failure = z.looseObject({
  message: z.string().default('no reason given'),
  extensions: z
    .looseObject({
      code: z.string().nullish(),
      type: z.string().nullish(),
      userPresentableMessage: z.string().nullish(),
    })
    .nullish(),
});
type Failure = z.output<typeof Failure>;
const Answer = z.looseObject({ data: z.unknown().optional(), errors: z.array(Failure).nullish() });

/** Makes the caller of Linear's API, for a personal key or the token of an application. */
export function linearAt(
  { url, key }: { readonly url: string; readonly key: string },
  answerMs = ANSWER_MS,
): AskLinear {
  const authorization = key.startsWith('lin_api_') ? key : `Bearer ${key}`;
  const headers = { authorization, 'content-type': 'application/json' };
  return async (query, variables, signal) => {
    const timeout = AbortSignal.timeout(answerMs);
    const answer = await answerTo(url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query, variables }),
      // Elsewhere the key would be told to another server.
      redirect: 'error',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    const [failure] = answer.read.errors ?? [];
    if (failure !== undefined || answer.status >= 400) throw failureOf(answer, failure);
    return { data: answer.read.data, serverTime: timeIn(answer.headers) };
  };
}

type Received = {
  readonly status: number;
  readonly headers: Headers;
  readonly read: z.output<typeof Answer>;
};

async function answerTo(url: string, init: RequestInit): Promise<Received> {
  try {
    const response = await fetch(url, init);
    const { status, headers } = response;
    const text = await response.text();
    const read = Answer.safeParse(jsonWithin(text, MESSENGER_BOUNDS)).data;
    if (read === undefined && status < 400)
      throw new LinearError('unreachable', 'an answer that is none of Linear’s');
    return { status, headers, read: read ?? {} };
  } catch (error) {
    throw error instanceof LinearError ? error : new LinearError('unreachable', causeOf(error));
  }
}

/** Linear names too many requests in the body, with status 400; a proxy of theirs says 429. */
function failureOf({ status, headers }: Received, failure: Failure | undefined): LinearError {
  const { code, type, userPresentableMessage } = failure?.extensions ?? {};
  const names = [code, type].map((name) => name?.toLowerCase().replace(/[^a-z]/g, '') ?? '');
  if (status === 429 || names.includes('ratelimited')) {
    return new LinearError(
      'pause',
      'Linear asks for a pause: too many requests.',
      pauseIn(headers),
    );
  }
  if (status === 401 || names.includes('authenticationerror')) {
    return new LinearError('key', 'Linear does not know the key.');
  }
  if (status >= 500) return new LinearError('unreachable', `error ${status}`);
  const words = userPresentableMessage ?? failure?.message ?? `error ${status}`;
  return new LinearError('refused', words.replace(/\s+/g, ' ').slice(0, 300));
}

function pauseIn(headers: Headers): number {
  const seconds = Number.parseFloat(headers.get('retry-after') ?? '');
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1_000;
  // Both limits tell when they are whole again, in milliseconds since the epoch; the one that is used up counts.
  const now = timeIn(headers) ?? Date.now();
  const waits = ['requests', 'complexity', 'endpoint-requests'].flatMap((limit) => {
    const isUsedUp = Number(headers.get(`x-ratelimit-${limit}-remaining`) ?? '1') <= 0;
    const reset = Number(headers.get(`x-ratelimit-${limit}-reset`) ?? Number.NaN);
    return isUsedUp && reset > now ? [reset - now] : [];
  });
  return waits.length === 0 ? UNNAMED_PAUSE_MS : Math.max(...waits);
}

function timeIn(headers: Headers): number | null {
  const time = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(time) ? null : time;
}

function causeOf(error: unknown): string {
  const code = codeOf(error);
  return code === null ? 'no answer' : causeInWords(code);
}
