import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { HttpResponse } from './route.ts';

/** Headers of every response, unless a route sets others: no caching, no frames, no content from elsewhere. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  'content-type': 'text/plain; charset=utf-8',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Sends a response. Rejects where it breaks off. */
export async function respond(
  response: ServerResponse,
  { status = 200, headers = {}, body = '' }: HttpResponse,
): Promise<void> {
  response.writeHead(status, { ...HEADERS, ...headers });
  if (typeof body === 'string' || body instanceof Uint8Array) {
    await new Promise<void>((resolve) => response.end(body, resolve));
  } else {
    response.flushHeaders();
    await pipeline(Readable.from(body), response);
  }
}

/** Sends a refusal. The connection ends with it: its request may not have been read. */
export function refuse(response: ServerResponse, status: number, reason: string): Promise<void> {
  const headers = {
    connection: 'close',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  };
  return respond(response, { status, headers, body: `${reason}\n` });
}
