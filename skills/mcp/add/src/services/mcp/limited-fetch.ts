import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { fetch, type RequestInit } from 'undici';
import { JsonCount } from '../../lib/bounded-json.ts';
import { Pace } from './pace.ts';
import {
  MAX_MESSAGE_BYTES,
  MESSAGE_COUNT,
  TOO_MANY_PARTS,
  type TransportClock,
} from './program-transport.ts';
import { type Network, openServerAgent } from './server-network.ts';

/** A fetch that tells, beside the error of the body, where a message of a server is too long or has too many values. */
export type LimitedFetch = (
  ...[url, init, onTooMuch]: [...Parameters<FetchLike>, onTooMuch?: (what: string) => void]
) => ReturnType<FetchLike>;

/**
 * Creates a fetch for one server of the owner's list. What that server names, such as where to log in, is asked as
 * well: a server of the internet cannot have this machine or its network asked in that way. Bodies are limited, and
 * streams of events are heard at a pace.
 */
export function fetchFor(server: URL, network: Network, clock: TransportClock): LimitedFetch {
  const dispatcher = openServerAgent(server, network);
  const pace = new Pace(clock);
  return async (given, init, onTooMuch = () => {}) => {
    const url = new URL(given);
    if (!/^https?:$/.test(url.protocol)) {
      throw new Error(`the server names ${url.href}, which is not an address of the internet`);
    }
    const isStream = new Headers(init?.headers).get('accept') === EVENTS;
    if (isStream) await pace.open();
    // The library follows redirects itself, within one origin.
    // The types of Node's own fetch and of the package differ; the values are the same.
    const options = { ...init, redirect: 'manual', dispatcher } as unknown as RequestInit;
    const response = (await fetch(url.href, options)) as unknown as Response;
    return limited(response, { pace, onTooMuch });
  };
}

const EVENTS = 'text/event-stream';

type Limits = { readonly pace: Pace; readonly onTooMuch: (what: string) => void };

/**
 * Ends a body that is longer than any message may be. A stream of events has no such end: there each event is
 * limited, by the empty line after it.
 */
function limited(response: Response, { pace, onTooMuch }: Limits): Response {
  if (response.body === null) return response;
  const isStream = (response.headers.get('content-type') ?? '').includes(EVENTS);
  let sizeBytes = 0;
  let count = new JsonCount(MESSAGE_COUNT);
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        if (isStream) await pace.hear(chunk);
        const end = isStream ? lastEventEnd(chunk) : -1;
        sizeBytes = end === -1 ? sizeBytes + chunk.length : chunk.length - end;
        let isTooMuch = end !== -1 && count.add(chunk.subarray(0, end)) !== null;
        if (end !== -1) count = new JsonCount(MESSAGE_COUNT);
        isTooMuch ||= count.add(chunk.subarray(Math.max(end, 0))) !== null;
        const problem =
          sizeBytes > MAX_MESSAGE_BYTES
            ? 'longer than 16 MB'
            : isTooMuch
              ? `of ${TOO_MANY_PARTS}`
              : null;
        if (problem === null) controller.enqueue(chunk);
        else {
          controller.error(new Error(`The server sent a message ${problem}.`));
          onTooMuch(problem);
        }
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
