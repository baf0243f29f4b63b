import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { MAX_MESSAGE_BYTES } from './program-transport.ts';

/**
 * Creates a fetch for one server of the owner's list. What that server names, such as where to log in, is asked as
 * well: a server of the internet cannot have this machine or its network asked in that way. Bodies are limited.
 *
 * @param leadsInside tells whether an address is of this machine or its network
 */
export function fetchFor(server: URL, leadsInside: (url: URL) => Promise<boolean>): FetchLike {
  async function check(url: URL): Promise<void> {
    if (url.origin === server.origin) return;
    if (/^https?:$/.test(url.protocol)) {
      // The owner has named an inner server: its login is in the same network, mostly.
      if (!(await leadsInside(url)) || (await leadsInside(server))) return;
    }
    throw new Error(`the server names ${url.origin}, which is no address of the internet`);
  }

  return async (given, init) => {
    const url = new URL(given);
    await check(url);
    // The library follows redirects itself, within one origin.
    return limited(await fetch(url, { ...init, redirect: 'manual' }));
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
