import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { request } from '../kit/http.ts';
import { jsonIn } from '../kit/lines.ts';

const Answer = z.looseObject({
  result: z.unknown().optional(),
  error: z
    .looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() })
    .optional(),
});

/** Numbers of signal-cli's errors. */
export const RPC_CODES = {
  userError: -1,
  ioError: -3,
  untrustedKey: -4,
  rateLimit: -5,
  captchaRejected: -6,
  methodNotFound: -32601,
  invalidParams: -32602,
} as const;

/** The longest time that a command may take: signal-cli uploads files before it answers. */
const ANSWER_MS = 180_000;

/** signal-cli has refused a command. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Calls a command of signal-cli. @throws RpcError where it is refused, HttpFailure where no answer comes */
export type CallRpc = (
  method: string,
  params: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
) => Promise<unknown>;

/** Makes the caller of a signal-cli. @param url its address, without a slash at the end */
export function rpcAt(url: string, answerMs = ANSWER_MS): CallRpc {
  return async (method, params, signal) => {
    const timeout = AbortSignal.timeout(answerMs);
    const response = await request(`${url}/api/v1/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: randomUUID(), method, params }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    const read = Answer.safeParse(jsonIn(await response.text().catch(() => ''))).data;
    if (read === undefined) throw new RpcError(0, 'an answer that is not signal-cli’s', null);
    const { error, result } = read;
    if (error !== undefined) throw new RpcError(error.code, error.message, error.data);
    return result;
  };
}
