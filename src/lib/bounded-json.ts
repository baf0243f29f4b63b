import { Worker } from 'node:worker_threads';

/** The most that one JSON text from outside may hold. */
export type JsonBounds = {
  readonly maxBytes: number;
  /** Values in all, however they are nested. */
  readonly maxValues: number;
  readonly maxDepth: number;
};

/** Bounds for a message, an event or a page of a list. */
export const USUAL_BOUNDS: JsonBounds = { maxBytes: 1_048_576, maxValues: 20_000, maxDepth: 64 };

/**
 * Bounds for what a messenger sends: a text in it may be long, but it has few parts. A part that is nested too deeply
 * must not lose the message around it.
 */
export const MESSENGER_BOUNDS: JsonBounds = {
  ...USUAL_BOUNDS,
  maxBytes: 16_777_216,
  maxDepth: 10_000,
};

/** JSON from outside: a value within its bounds, or one sentence that says why there is none. */
export type BoundedJson =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly problem: string };

/** A longer text is read by another thread: reading it here would stop all chats meanwhile. */
const MAX_BYTES_HERE = 262_144;

/**
 * Reads JSON from outside. Values and depth are counted before anything is made of the text, so that a text of many tiny
 * parts costs no more than its bytes. A long text is read in a thread of its own.
 *
 * @param bytes the caller's no longer: the other thread takes a long text over, which a copy would delay
 */
export async function readJson(bytes: Uint8Array, bounds: JsonBounds): Promise<BoundedJson> {
  if (bytes.length <= MAX_BYTES_HERE) return readJsonHere(bytes, bounds);
  if (bytes.length > bounds.maxBytes) return { kind: 'refused', problem: tooLong(bounds) };
  return await readElsewhere(bytes, bounds);
}

/** Reads JSON from outside in this thread, for texts whose bounds are small. */
export function readJsonHere(given: Uint8Array | string, bounds: JsonBounds): BoundedJson {
  // A character is three bytes at most, so a text that is too long is not written out as bytes first.
  if (given.length > bounds.maxBytes) return { kind: 'refused', problem: tooLong(bounds) };
  const bytes = typeof given === 'string' ? Buffer.from(given) : given;
  const problem = bytes.length > bounds.maxBytes ? tooLong(bounds) : problemOf(bytes, bounds);
  if (problem !== null) return { kind: 'refused', problem };
  try {
    return { kind: 'value', value: JSON.parse(Buffer.from(bytes).toString()) };
  } catch {
    return { kind: 'refused', problem: 'The text is not JSON.' };
  }
}

/**
 * Reads short JSON from outside; undefined if it is not JSON, or exceeds its bounds: the caller's schema refuses it.
 */
export function jsonWithin(given: Uint8Array | string, bounds = USUAL_BOUNDS): unknown {
  const read = readJsonHere(given, bounds);
  return read.kind === 'value' ? read.value : undefined;
}

function readElsewhere(bytes: Uint8Array, bounds: JsonBounds): Promise<BoundedJson> {
  const { promise, resolve } = Promise.withResolvers<BoundedJson>();
  const isWhole = bytes.length === bytes.buffer.byteLength;
  const worker = new Worker(new URL('./bounded-json-worker.ts', import.meta.url), {
    workerData: { bytes, bounds },
    transferList: isWhole && bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [],
    execArgv: [],
    env: {},
  });
  worker.once('message', resolve);
  worker.once('error', () => resolve({ kind: 'refused', problem: 'The text cannot be read.' }));
  worker.once('exit', () => resolve({ kind: 'refused', problem: 'The text cannot be read.' }));
  return promise;
}

function tooLong({ maxBytes }: JsonBounds): string {
  return `The text is longer than ${Math.round(maxBytes / 1024)} KB.`;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];

function problemOf(bytes: Uint8Array, bounds: JsonBounds): string | null {
  return new JsonCount(bounds).add(bytes);
}

/**
 * Counts values and depth without making anything of them, also of a text that comes in parts. The text may be no JSON
 * at all.
 */
export class JsonCount {
  readonly #bounds: Omit<JsonBounds, 'maxBytes'>;
  #values = 1;
  #depth = 0;
  #place: 'outside' | 'in a string' | 'after a backslash' = 'outside';

  constructor(bounds: Omit<JsonBounds, 'maxBytes'>) {
    this.#bounds = bounds;
  }

  /** Counts what comes next. @returns what is beyond the bounds, as a sentence; null if nothing is */
  add(bytes: Uint8Array): string | null {
    const { maxValues, maxDepth } = this.#bounds;
    for (let at = this.#afterString(bytes, 0); at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) {
        this.#place = 'in a string';
        at = this.#afterString(bytes, at + 1) - 1;
      } else if (byte === COMMA) this.#values += 1;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        this.#values += 1;
        this.#depth += 1;
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) this.#depth -= 1;
      if (this.#values > maxValues) return `The text has more than ${maxValues} values.`;
      if (this.#depth > maxDepth) return `The text has more than ${maxDepth} levels.`;
    }
    return null;
  }

  /** Returns where a string that has begun is over, which is the start where none has. */
  #afterString(bytes: Uint8Array, start: number): number {
    let at = start;
    if (this.#place === 'after a backslash') {
      this.#place = 'in a string';
      at += 1;
    }
    if (this.#place === 'outside') return at;
    while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    if (at < bytes.length) this.#place = 'outside';
    else if (at > bytes.length) this.#place = 'after a backslash';
    return at + 1;
  }
}
