import { causeInWords, codeOf } from '../cause.ts';
import type { HttpServer } from './config.ts';

/** The answer of a server at an address to a first message. */
export type Probe =
  | { readonly kind: 'answers' }
  | { readonly kind: 'login' }
  | { readonly kind: 'failed'; readonly reason: string };

/** Says hello to a server as a client does, and keeps no session. Never rejects. */
export async function probe({ url, headers }: HttpServer, timeoutMs: number): Promise<Probe> {
  const hello = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'patchclaw', version: '1.0.0' },
    },
  };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(hello),
      // Another server would be shown the headers.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    if (response.ok) return { kind: 'answers' };
    if (response.status === 401) return { kind: 'login' };
    return { kind: 'failed', reason: `it answered ${response.status}` };
  } catch (error) {
    const { message, cause } = error as Error;
    const own = cause instanceof Error ? cause.message : message;
    return { kind: 'failed', reason: connectionProblem(error) ?? own };
  }
}

/** Returns what the owner can look at where a connection failed; null where its code says nothing of that. */
export function connectionProblem(error: unknown): string | null {
  const code = codeOf(error);
  const words = code === null ? null : causeInWords(code);
  return words === code ? null : words;
}
