import type { IncomingHttpHeaders } from 'node:http';
import type { Model } from './model.ts';

/** The only headers of an agent's request that go on to any model; a key among them never does. */
const PASSED_ON = ['accept', 'content-type'];

/** Returns the path of a call on the agent's socket; null when it is none that an agent may make. */
export function callPath(
  model: Model,
  method: string | undefined,
  target: string | undefined,
): string | null {
  if (method !== 'POST' || target === undefined) return null;
  return model.paths.includes(target) ? target : null;
}

/** Returns where a call goes. */
export function modelUrl({ server, protocol }: Model, path: string): URL {
  return server.url?.(path) ?? protocol.urlOf(server.baseUrl, path);
}

/** Returns the headers of the call to the model's server: the agent's few, and the key as it is now. */
export async function modelHeaders(
  { server, protocol }: Model,
  given: IncomingHttpHeaders,
): Promise<Record<string, string>> {
  // Token counts are read from the answer as it passes, so it must not come compressed.
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  for (const name of PASSED_ON) {
    const value = given[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return { ...headers, ...protocol.headersOf(given), ...(await server.headers()) };
}

/** Reads the body of an answer as text; null when it is longer than that many bytes. */
export async function readText(answer: Response, maxBytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of answer.body ?? []) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
