/** So many at once, and then one every so often, in milliseconds. */
export type Rate = { readonly burst: number; readonly everyMs: number };

/** A pause is up to so much longer by chance: people do not write at even intervals. */
const JITTER = 0.5;

/**
 * Keeps sends below a rate per chat and one over all: an account that writes faster than people do is
 * blocked by WhatsApp.
 *
 * Source: the virtual scheduling form of the generic cell rate algorithm, ITU-T I.371.
 */
export class Throttle {
  readonly #perChat: Rate;
  readonly #overall: Rate;
  readonly #random: () => number;
  readonly #chats = new Map<string, number>();
  #due = 0;
  #latest = 0;

  /** @param random a number from 0 up to, not including, 1 */
  constructor(rates: { readonly perChat: Rate; readonly overall: Rate }, random: () => number) {
    this.#perChat = rates.perChat;
    this.#overall = rates.overall;
    this.#random = random;
  }

  /** Returns the milliseconds that the next message to this chat has to wait. */
  waitMs(chat: string, now: number): number {
    this.#follow(now);
    const own = waitOf(this.#chats.get(chat) ?? 0, this.#perChat, now);
    const waitMs = Math.max(0, own, waitOf(this.#due, this.#overall, now));
    return waitMs * (1 + JITTER * this.#random());
  }

  /** Counts a message that goes out now, or after its wait. */
  count(chat: string, now: number): void {
    this.#follow(now);
    this.#forgetIdle(now);
    this.#chats.set(chat, Math.max(this.#chats.get(chat) ?? 0, now) + this.#perChat.everyMs);
    this.#due = Math.max(this.#due, now) + this.#overall.everyMs;
  }

  /** Sets what is due back together with the clock, which would otherwise hold all messages for as long. */
  #follow(now: number): void {
    const back = this.#latest - now;
    this.#latest = now;
    if (back <= 0) return;
    for (const [chat, due] of this.#chats) this.#chats.set(chat, due - back);
    this.#due -= back;
  }

  #forgetIdle(now: number): void {
    for (const [chat, due] of this.#chats) {
      if (due <= now) this.#chats.delete(chat);
    }
  }
}

function waitOf(due: number, { burst, everyMs }: Rate, now: number): number {
  return due - now - (burst - 1) * everyMs;
}
