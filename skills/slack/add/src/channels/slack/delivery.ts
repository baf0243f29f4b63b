import { setTimeout as delay } from 'node:timers/promises';
import type { webApi } from '@slack/bolt';
import type { OutboundMessage } from '../channel.ts';
import { explainSendFailure, readFailure, SlackError } from './failure.ts';
import { formatParts } from './format.ts';
import { channelIdOf } from './jid.ts';

/** The host waits a minute for a send: a longer pause is for its next attempt. */
const LONGEST_PAUSE_MS = 20_000;
const ATTEMPTS = 3;
const CLOSE_MS = 5_000;
const KEPT_MESSAGES = 200;

/**
 * Sends messages in parts, one after the other.
 *
 * Slack takes no ids, so a part sent twice is there twice: when a message fails half way, what was
 * taken is remembered, and sending the message with that id again goes on behind it.
 */
export class Delivery {
  readonly #web: webApi.WebClient;
  readonly #signal: AbortSignal;
  readonly #underway = new Map<string, Promise<void>>();
  readonly #taken = new Map<string, number>();

  constructor(web: webApi.WebClient, signal: AbortSignal) {
    this.#web = web;
    this.#signal = signal;
  }

  /**
   * @throws SlackError when Slack has not taken every part
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

  /** Lets what is under way end, for a while. */
  async close(): Promise<void> {
    const waiting = new AbortController();
    const { signal } = waiting;
    const late = delay(CLOSE_MS, undefined, { signal }).catch(() => {
      // Everything ended in time.
    });
    await Promise.race([Promise.allSettled(this.#underway.values()), late]);
    waiting.abort();
  }

  async #sendParts({ id, jid, text }: OutboundMessage): Promise<void> {
    const channel = channelIdOf(jid);
    if (channel === null) throw new SlackError('JID_INVALID', `${jid} is not a channel on Slack.`);
    for (const part of formatParts(text).slice(this.#taken.get(id) ?? 0)) {
      try {
        await this.#post(channel, part);
      } catch (error) {
        throw explainSendFailure(error);
      }
      this.#remember(id);
    }
    this.#taken.delete(id);
  }

  async #post(channel: string, text: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        // A preview would make Slack fetch an address that the model chose.
        const quietly = { unfurl_links: false, unfurl_media: false };
        await this.#web.chat.postMessage({ channel, text, ...quietly });
        return;
      } catch (error) {
        const failure = readFailure(error);
        const isWorthWaiting =
          failure.kind === 'rate-limited' && failure.waitMs <= LONGEST_PAUSE_MS;
        if (!isWorthWaiting || attempt === ATTEMPTS) throw error;
        await delay(failure.waitMs, undefined, { signal: this.#signal });
      }
    }
  }

  #remember(id: string): void {
    const [oldest] = this.#taken.keys();
    if (this.#taken.size >= KEPT_MESSAGES && oldest !== undefined) this.#taken.delete(oldest);
    this.#taken.set(id, (this.#taken.get(id) ?? 0) + 1);
  }
}
