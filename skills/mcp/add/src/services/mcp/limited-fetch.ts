import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { fetch, type RequestInit } from 'undici';
import { MAX_MESSAGE_BYTES } from './program-transport.ts';
import { type Network, openServerAgent } from './server-network.ts';

/**
 * Creates a fetch for one server of the owner's list. What that server names, such as where to log in, is asked as
 * well: a server of the internet cannot have this machine or its network asked in that way. Bodies are limited.
 */
export function fetchFor(server: URL, network: Network): FetchLike {
  const dispatcher = openServerAgent(server, network);
  return async (given, init) => {
    const url = new URL(given);
    if (!/^https?:$/.test(url.protocol)) {
      throw new Error(`the server names ${url.href}, which is no address of the internet`);
    }
    // The library follows redirects itself, within one origin.
    // The types of Node's own fetch and of the package differ; the values are the same.
    const options = { ...init, redirect: 'manual', dispatcher } as unknown as RequestInit;
    return limited((await fetch(url.href, options)) as unknown as Response);
  };
}

/**
 * Ends a body that is longer than any message may be. A stream of events has no such end: there each event is
 * limited, by the empty line after it.
 */
function limited(response: Response): Response {
  if (response.body === null) return response;
  const isStream = (response.headers.get('content-type') ?? '').includes('text/event-stream');
  let sizeBytes = 0;
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const end = isStream ? lastEventEnd(chunk) : -1;
        sizeBytes = end === -1 ? sizeBytes + chunk.length : chunk.length - end;
        if (sizeBytes > MAX_MESSAGE_BYTES) {
          controller.error(new Error('The server sent a message longer than 16 MB.'));
        } else controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = response;
  const made = new Response(body, { status, statusText, headers });
  // What a redirect led to, which the constructor cannot be given.
  Object.defineProperty(made, 'url', { value: response.url });
  return made;
}

/** Returns where the last whole event of a chunk ends; -1 where none does. */
function lastEventEnd(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\r\n\r\n'));
}
