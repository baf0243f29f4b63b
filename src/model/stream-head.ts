import { z } from 'zod';
import { jsonWithin } from '../lib/bounded-json.ts';

/** A server may wait with comments as long as it likes; more than this is an answer, whatever it is. */
const MAX_HELD_BYTES = 65_536;
const NEWLINE = 10;

/** An error that a server sent in its stream. */
export type StreamError = { readonly status: number; readonly body: string };

/** The meaning of one event at the head of a stream: nothing said yet, an answer that has begun, or an error. */
export type HeadEvent = 'waiting' | 'begun' | { readonly status: number };

/**
 * The head of a streamed answer, up to its first word. Servers that are overloaded say so in a stream that has begun
 * well; before the first word that is a refusal like any other, which can be tried again.
 */
export class StreamHead {
  readonly #readEvent: (event: unknown) => HeadEvent;
  #held: Buffer[] = [];
  #sizeBytes = 0;
  #pending = '';
  #hasBegun = false;

  /** @param readEvent tells what an event means, as its protocol has it */
  constructor(readEvent: (event: unknown) => HeadEvent) {
    this.#readEvent = readEvent;
  }

  /** Takes a piece of the stream. @returns bytes that can go on, nothing yet (null), or the error in it */
  take(chunk: Buffer): Buffer | StreamError | null {
    if (this.#hasBegun) return chunk;
    this.#held.push(chunk);
    this.#sizeBytes += chunk.length;
    this.#pending += chunk.toString('latin1');
    const lines = chunk.includes(NEWLINE) ? this.#pending.split('\n') : [];
    if (lines.length > 0) this.#pending = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data:')) continue;
      const data = Buffer.from(line.slice(5).trim(), 'latin1').toString();
      const found = this.#readEvent(parseJson(data));
      if (found === 'waiting') continue;
      return found === 'begun' ? this.end() : { status: found.status, body: data };
    }
    return this.#sizeBytes > MAX_HELD_BYTES ? this.end() : null;
  }

  /** Returns all that was held; what comes from now on passes. */
  end(): Buffer {
    this.#hasBegun = true;
    return Buffer.concat(this.#held.splice(0));
  }
}

const Said = z.object({
  type: z.string().nullish().catch(null),
  code: z.union([z.string(), z.number()]).nullish().catch(null),
  message: z.string().nullish().catch(null),
});

/** Statuses by the words that servers have for their errors; the first that fits counts. */
const STATUSES: readonly (readonly [RegExp, number])[] = [
  [/overloaded|capacity|busy/i, 529],
  [/rate.?limit|too many requests/i, 429],
  [/authentication|api.?key/i, 401],
  [/permission/i, 403],
  [/not.?found/i, 404],
  [/too.?large/i, 413],
  [/invalid.?request|bad.?request/i, 400],
  [/timeout/i, 504],
];

/** Returns the status that an error in a stream would have had before it. */
export function statusOfError(error: unknown): number {
  const said = Said.safeParse(typeof error === 'string' ? { message: error } : error).data;
  const code = Number(said?.code);
  if (Number.isInteger(code) && code >= 400 && code < 600) return code;
  const words = `${said?.type ?? ''} ${said?.code ?? ''} ${said?.message ?? ''}`;
  return STATUSES.find(([fits]) => fits.test(words))?.[1] ?? 500;
}

/** Null for `[DONE]`, and for what no protocol has: the agent is to see it. */
function parseJson(text: string): unknown {
  return jsonWithin(text) ?? null;
}
