import { jsonWithin, MESSENGER_BOUNDS } from '../../lib/bounded-json.ts';

/** The longest line that is kept; of a longer one the rest is left out. */
const LONGEST = 16_000_000;

/**
 * Reads a stream of bytes as lines of text, each once its end has arrived. Bytes that are not UTF-8 become �; an
 * unfinished last line is dropped. A null body has no lines.
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

/** Reads JSON; undefined if the text is not JSON, or is larger than a message may be. */
export function jsonIn(text: string): unknown {
  return jsonWithin(text, MESSENGER_BOUNDS);
}
