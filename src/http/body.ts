import type { IncomingMessage } from 'node:http';

/** Calls back once after a delay, unless the returned function was called before. */
export type SetTimer = (delayMs: number, onElapsed: () => void) => () => void;

export type BodyLimits = {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly setTimer: SetTimer;
};

/** A body, or the status of the answer to one that is too long, too slow or cut off. */
export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'refused'; readonly status: 400 | 408 | 413 };

/** Reads a body within its limits. Never rejects, and holds no more than the limit. */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Body> {
  const { maxBytes, timeoutMs, setTimer } = limits;
  const { promise, resolve } = Promise.withResolvers<Body>();
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    return Promise.resolve({ kind: 'refused', status: 413 });
  }
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const onData = (chunk: Buffer): void => {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) refuse(413);
    else chunks.push(chunk);
  };
  const refuse = (status: 400 | 408 | 413): void => {
    request.off('data', onData);
    request.pause();
    resolve({ kind: 'refused', status });
  };
  const cancel = setTimer(timeoutMs, () => refuse(408));
  request.on('data', onData);
  request.once('end', () => resolve({ kind: 'whole', bytes: Buffer.concat(chunks) }));
  request.once('error', () => refuse(400));
  request.once('close', () => refuse(400));
  return promise.finally(cancel);
}
