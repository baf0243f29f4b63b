import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { fetch, type RequestInit } from 'undici';
import { Pace } from './pace.ts';
import { MAX_MESSAGE_BYTES, type TransportClock } from './program-transport.ts';
import { type Network, openServerAgent } from './server-network.ts';

/** A fetch that tells, beside the error of the body, where a server has sent more than a message may be. */
export type LimitedFetch = (
  ...[url, init, onTooLong]: [...Parameters<FetchLike>, onTooLong?: () => void]
) => ReturnType<FetchLike>;

/**
 * Creates a fetch for one server of the owner's list. What that server names, such as where to log in, is asked as
 * well: a server of the internet cannot have this machine or its network asked in that way. Bodies are limited, and
 * streams of events are heard at a pace.
 */
export function fetchFor(server: URL, network: Network, clock: TransportClock): LimitedFetch {
  const dispatcher = openServerAgent(server, network);
  const pace = new Pace(clock);
  return async (given, init, onTooLong = () => {}) => {
    const url = new URL(given);
    if (!/^https?:$/.test(url.protocol)) {
      throw new Error(`the server names ${url.href}, which is no address of the internet`);
    }
    const isStream = new Headers(init?.headers).get('accept') === EVENTS;
    if (isStream) await pace.open();
    // The library follows redirects itself, within one origin.
    // The types of Node's own fetch and of the package differ; the values are the same.
    const options = { ...init, redirect: 'manual', dispatcher } as unknown as RequestInit;
    const response = (await fetch(url.href, options)) as unknown as Response;
    return limited(response, { pace, onTooLong });
  };
}

const EVENTS = 'text/event-stream';

type Limits = { readonly pace: Pace; readonly onTooLong: () => void };

/**
 * Ends a body that is longer than any message may be. A stream of events has no such end: there each event is
 * limited, by the empty line after it.
 */
function limited(response: Response, { pace, onTooLong }: Limits): Response {
  if (response.body === null) return response;
  const isStream = (response.headers.get('content-type') ?? '').includes(EVENTS);
  let sizeBytes = 0;
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        if (isStream) await pace.hear(chunk);
        const end = isStream ? lastEventEnd(chunk) : -1;
        sizeBytes = end === -1 ? sizeBytes + chunk.length : chunk.length - end;
        if (sizeBytes > MAX_MESSAGE_BYTES) {
          controller.error(new Error('The server sent a message longer than 16 MB.'));
          onTooLong();
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
