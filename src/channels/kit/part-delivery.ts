import type { ChannelClock, OutboundMessage } from '../channel.ts';

/** The host waits a minute for a send: a longer pause is for its next attempt. */
const LONGEST_PAUSE_MS = 20_000;
const ATTEMPTS = 3;
const CLOSE_MS = 5_000;
const KEPT_MESSAGES = 200;

/** One messenger, as far as sending goes. */
export type PartSender<P> = {
  /** Called before a message is split, such as to learn what the messenger has of it. Rejects where it cannot be sent. */
  readonly prepare?: (message: OutboundMessage) => Promise<void>;
  /** Splits a message into what is sent one after the other. */
  readonly partsOf: (message: OutboundMessage) => readonly P[];
  /** Sends one part; rejects where it was not taken. */
  readonly send: (message: OutboundMessage, part: P, signal: AbortSignal) => Promise<void>;
  /** Returns for how long the messenger asks to wait before the next attempt; null for another failure. */
  readonly pauseMs: (error: unknown) => number | null;
  /** Waits for that long: the channel's clock. */
  readonly pause: ChannelClock['pause'];
  /** Makes the error that the host gets. */
  readonly explain: (error: unknown) => Error;
};

/**
 * Sends messages in parts, one after the other, to a messenger that accepts no ids of ours, where a part sent twice
 * appears twice. If a message fails halfway, the accepted parts are remembered, and sending the message with that id
 * again continues after them.
 */
export class PartDelivery<P> {
  readonly #sender: PartSender<P>;
  readonly #stop = new AbortController();
  readonly #underway = new Map<string, Promise<void>>();
  readonly #taken = new Map<string, number>();

  constructor(sender: PartSender<P>) {
    this.#sender = sender;
  }

  /** Aborted when the delivery is closed and its time is over. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Rejects with what the sender's `explain` makes of the failure of a part. */
  send(message: OutboundMessage): Promise<void> {
    const { id } = message;
    // The host may lose patience and send again what is still on its way.
    const same = this.#underway.get(id);
    if (same !== undefined) return same;
    const sending = this.#sendParts(message).finally(() => this.#underway.delete(id));
    this.#underway.set(id, sending);
    return sending;
  }

  /** Waits for parts that are being sent; rejects those that take too long. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#stop.abort(), CLOSE_MS);
    await Promise.allSettled(this.#underway.values());
    clearTimeout(timer);
    this.#stop.abort();
  }

  async #sendParts(message: OutboundMessage): Promise<void> {
    const { id } = message;
    try {
      await this.#sender.prepare?.(message);
      const parts = this.#sender.partsOf(message);
      for (const part of parts.slice(this.#taken.get(id) ?? 0)) {
        await this.#sendPart(message, part);
        this.#remember(id);
      }
    } catch (error) {
      throw this.#sender.explain(error);
    }
    this.#taken.delete(id);
  }

  async #sendPart(message: OutboundMessage, part: P): Promise<void> {
    const { signal } = this.#stop;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#sender.send(message, part, signal);
      } catch (error) {
        const waitMs = this.#sender.pauseMs(error);
        if (waitMs === null || waitMs > LONGEST_PAUSE_MS || attempt === ATTEMPTS) throw error;
        await this.#sender.pause(waitMs, signal);
        signal.throwIfAborted();
      }
    }
  }

  #remember(id: string): void {
    const [oldest] = this.#taken.keys();
    if (this.#taken.size >= KEPT_MESSAGES && oldest !== undefined) this.#taken.delete(oldest);
    this.#taken.set(id, (this.#taken.get(id) ?? 0) + 1);
  }
}
