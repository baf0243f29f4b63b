import type { TransportClock } from './program-transport.ts';

const BURST_MS = 1_000;
/** Heard of a server within that time; the rest waits in its connections. */
const MAX_LINES = 10_000;
const MAX_BYTES = 16 * 1_048_576;

/** The pace of all streams of one server: however much it says, it does not take the time of the chats. */
export class Pace {
  readonly #clock: TransportClock;
  #freeAt = Number.NEGATIVE_INFINITY;

  constructor(clock: TransportClock) {
    this.#clock = clock;
  }

  /** Waits as long as a part of a stream is too much for now. */
  async hear(chunk: Uint8Array): Promise<void> {
    await this.#spend(linesIn(chunk) / MAX_LINES + chunk.length / MAX_BYTES);
  }

  /** Waits until a stream may be opened again: a server can ask for that without a pause. */
  async open(): Promise<void> {
    await this.#spend(1 / MAX_OPENED);
  }

  /** @param share of what a burst may be; what was not used of one burst is left, and no more */
  async #spend(share: number): Promise<void> {
    const { now, setTimer } = this.#clock;
    this.#freeAt = Math.max(this.#freeAt, now() - BURST_MS) + share * BURST_MS;
    const delayMs = this.#freeAt - now();
    if (delayMs > 0) await new Promise<void>((resolve) => void setTimer(delayMs, resolve));
  }
}

/** Streams that are opened in a burst. */
const MAX_OPENED = 5;

function linesIn(chunk: Uint8Array): number {
  let lines = 0;
  for (const byte of chunk) if (byte === 10 || byte === 13) lines += 1;
  return lines;
}
