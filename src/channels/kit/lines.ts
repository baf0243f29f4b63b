import { jsonWithin, MESSENGER_BOUNDS } from '../../lib/bounded-json.ts';

/** The longest line that is kept; of a longer one the rest is left out. */
const LONGEST = 16_000_000;

/**
 * Reads a stream of bytes as lines of text, each when its end has come. Bytes that are no UTF-8 become �; a line without
 * an end is none. There are none in a body that is null.
 */
export async function* linesOf(bytes: AsyncIterable<Uint8Array> | null): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let length = 0;
  for await (const chunk of bytes ?? []) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    if (length < LONGEST) pieces.push(first);
    length += first.length;
    for (const next of others) {
      yield pieces.join('').replace(/\r$/, '');
      pieces = [next];
      length = next.length;
    }
  }
}

/** Reads JSON; undefined where a text is none, or holds more than a message may. */
export function jsonIn(text: string): unknown {
  return jsonWithin(text, MESSENGER_BOUNDS);
}
