import { z } from 'zod';
import { causeInWords, codeOf } from '../kit/cause.ts';
import { jsonIn } from '../kit/lines.ts';

/** A request that was not answered, or not with success. It holds no address and no token. */
export class MatrixFailure extends Error {
  override readonly name = 'MatrixFailure';
  /** The status of the answer; null where none came. */
  readonly status: number | null;
  /** The error as Matrix names it: `M_FORBIDDEN`; empty where there is none. */
  readonly errcode: string;
  /** The time that the server asks to wait; null for another failure. */
  readonly waitMs: number | null;

  constructor(words: string, answer: Pick<MatrixFailure, 'status' | 'errcode' | 'waitMs'>) {
    super(words);
    this.status = answer.status;
    this.errcode = answer.errcode;
    this.waitMs = answer.waitMs;
  }
}

export type Asked = {
  readonly body?: unknown;
  /** A body that is no JSON, such as a file. */
  readonly bytes?: { readonly content: Uint8Array<ArrayBuffer>; readonly type: string };
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
};

/** The pause where a server asks for one without a time. */
const UNNAMED_PAUSE_MS = 1_000;
const TIMEOUT_MS = 30_000;
const V3 = '/_matrix/client/v3';

const Refusal = z.looseObject({
  errcode: z.string().default(''),
  error: z.string().default(''),
  retry_after_ms: z.number().nonnegative().optional(),
});

/** The client-server API of one account. */
export class MatrixApi {
  readonly #homeserver: string;
  readonly #token: string | null;

  constructor({ homeserver, token }: { homeserver: string; token: string | null }) {
    this.#homeserver = homeserver;
    this.#token = token;
  }

  /**
   * Asks the server, below `/_matrix/client/v3` or at a whole path.
   *
   * @throws MatrixFailure where no answer comes, for an answer that is no success, and for one that is no JSON
   */
  async call(method: string, path: string, asked: Asked = {}): Promise<unknown> {
    const response = await this.#ask(method, path, asked);
    let text: string;
    try {
      text = await response.text();
    } catch (error) {
      throw unanswered(error);
    }
    const answer = jsonIn(text);
    if (response.ok && answer !== undefined) return answer;
    throw refusalIn(response, answer);
  }

  /** Fetches a file; the caller reads its body. @throws MatrixFailure */
  async download(path: string, signal: AbortSignal): Promise<Response> {
    const response = await this.#ask('GET', path, { signal });
    if (response.ok) return response;
    const answer = jsonIn(await response.text().catch(() => ''));
    throw refusalIn(response, answer);
  }

  async #ask(method: string, path: string, asked: Asked): Promise<Response> {
    const { body, bytes, signal, timeoutMs = TIMEOUT_MS } = asked;
    const timeout = AbortSignal.timeout(timeoutMs);
    const type = bytes?.type ?? (body === undefined ? null : 'application/json');
    const sent = bytes?.content ?? (body === undefined ? null : JSON.stringify(body));
    try {
      return await fetch(`${this.#homeserver}${/^\/[._]/.test(path) ? '' : V3}${path}`, {
        method,
        headers: {
          ...(this.#token === null ? {} : { authorization: `Bearer ${this.#token}` }),
          ...(type === null ? {} : { 'content-type': type }),
        },
        ...(sent === null ? {} : { body: sent }),
        // Files may be elsewhere, where fetch does not tell the token; nothing else is.
        redirect: path.includes('/media/') ? 'follow' : 'error',
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
    } catch (error) {
      throw unanswered(error);
    }
  }
}

/** Writes a path of which some parts come from elsewhere. */
export function pathOf(strings: TemplateStringsArray, ...parts: readonly string[]): string {
  return String.raw({ raw: strings }, ...parts.map(encodeURIComponent));
}

function refusalIn({ status, headers, ok }: Response, answer: unknown): MatrixFailure {
  if (ok) {
    const words = 'what came back is no answer of Matrix’s';
    return new MatrixFailure(words, { status: null, errcode: '', waitMs: null });
  }
  const {
    errcode,
    error,
    retry_after_ms: named,
  } = Refusal.safeParse(answer).data ?? {
    errcode: '',
    error: '',
  };
  const isLimit = status === 429 || errcode === 'M_LIMIT_EXCEEDED';
  const words = error === '' ? `error ${status}` : error.slice(0, 200);
  const waitMs = isLimit ? (named ?? secondsIn(headers) ?? UNNAMED_PAUSE_MS) : null;
  return new MatrixFailure(words, { status, errcode, waitMs });
}

function secondsIn(headers: Headers): number | null {
  const seconds = Number.parseFloat(headers.get('retry-after') ?? '');
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : null;
}

function unanswered(error: unknown): MatrixFailure {
  const words = causeInWords(codeOf(error) ?? 'no answer');
  return new MatrixFailure(words, { status: null, errcode: '', waitMs: null });
}
