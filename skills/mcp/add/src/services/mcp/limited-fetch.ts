import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { MAX_MESSAGE_BYTES } from './program-transport.ts';

/**
 * Fetches as usual, but ends a body that is longer than any message may be. A stream of events has no such end:
 * there each event is limited, by the empty line after it.
 */
export const limitedFetch: FetchLike = async (url, init) => {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const isStream = (response.headers.get('content-type') ?? '').includes('text/event-stream');
  let sizeBytes = 0;
  const limited = response.body.pipeThrough(
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
  const made = new Response(limited, { status, statusText, headers });
  // What a redirect led to, which the constructor cannot be given.
  Object.defineProperty(made, 'url', { value: response.url });
  return made;
};

/** Returns where the last whole event of a chunk ends; -1 where none does. */
function lastEventEnd(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\r\n\r\n'));
}
