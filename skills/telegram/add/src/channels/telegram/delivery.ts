import { setTimeout as delay } from 'node:timers/promises';
import { type Api, GrammyError } from 'grammy';
import type { OutboundMessage } from '../channel.ts';
import { explainSendFailure, retryAfterMs, TelegramError } from './failure.ts';
import { formatParts, type Part } from './format.ts';
import { chatIdOf } from './jid.ts';
import { forGrammy } from './signal.ts';

/** The host waits a minute for a send: a longer pause is for its next attempt. */
const LONGEST_PAUSE_MS = 20_000;
const ATTEMPTS = 3;
const CLOSE_MS = 5_000;
const KEPT_MESSAGES = 200;

/**
 * Sends messages in parts, one after the other.
 *
 * Telegram takes no ids, so a part sent twice is there twice: when a message fails half way, what was
 * taken is remembered, and sending the message with that id again goes on behind it.
 */
export class Delivery {
  readonly #api: Api;
  readonly #stop = new AbortController();
  readonly #underway = new Map<string, Promise<void>>();
  readonly #taken = new Map<string, number>();

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * @throws TelegramError when Telegram has not taken every part
   * @throws UnknownDelivery when nobody knows whether it has
   */
  send(message: OutboundMessage): Promise<void> {
    const { id } = message;
    // The host may lose patience and send again what is still on its way.
    const same = this.#underway.get(id);
    if (same !== undefined) return same;
    const sending = this.#sendParts(message).finally(() => this.#underway.delete(id));
    this.#underway.set(id, sending);
    return sending;
  }

  async showTyping(jid: string): Promise<void> {
    try {
      await this.#api.sendChatAction(chatIn(jid), 'typing', {}, forGrammy(this.#stop.signal));
    } catch (error) {
      throw explainSendFailure(error);
    }
  }

  /** Lets what is under way end; what takes too long is rejected. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#stop.abort(), CLOSE_MS);
    await Promise.allSettled(this.#underway.values());
    clearTimeout(timer);
    this.#stop.abort();
  }

  async #sendParts({ id, jid, text }: OutboundMessage): Promise<void> {
    const chatId = chatIn(jid);
    for (const part of formatParts(text).slice(this.#taken.get(id) ?? 0)) {
      await this.#sendPart(chatId, part);
      this.#remember(id);
    }
    this.#taken.delete(id);
  }

  async #sendPart(chatId: number, part: Part): Promise<void> {
    try {
      await this.#request(chatId, part.html, { parse_mode: 'HTML' }).catch((error) => {
        // Mostly formatting that Telegram does not take; anything else is refused a second time.
        if (!(error instanceof GrammyError) || error.error_code !== 400) throw error;
        return this.#request(chatId, part.plain, {});
      });
    } catch (error) {
      throw explainSendFailure(error);
    }
  }

  async #request(chatId: number, text: string, format: { parse_mode?: 'HTML' }): Promise<void> {
    const { signal } = this.#stop;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#api.sendMessage(
          chatId,
          text,
          // A preview would make Telegram fetch an address that the model chose.
          { ...format, link_preview_options: { is_disabled: true } },
          forGrammy(signal),
        );
        return;
      } catch (error) {
        const isTooMany = error instanceof GrammyError && error.error_code === 429;
        if (!isTooMany || attempt === ATTEMPTS || retryAfterMs(error) > LONGEST_PAUSE_MS) {
          throw error;
        }
        await delay(retryAfterMs(error), undefined, { signal });
      }
    }
  }

  #remember(id: string): void {
    const [oldest] = this.#taken.keys();
    if (this.#taken.size >= KEPT_MESSAGES && oldest !== undefined) this.#taken.delete(oldest);
    this.#taken.set(id, (this.#taken.get(id) ?? 0) + 1);
  }
}

function chatIn(jid: string): number {
  const chatId = chatIdOf(jid);
  if (chatId === null) throw new TelegramError('JID_INVALID', `${jid} is not a chat on Telegram.`);
  return chatId;
}
