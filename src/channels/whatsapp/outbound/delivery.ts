import { setTimeout as delay } from 'node:timers/promises';
import type { WASocket } from '@whiskeysockets/baileys';
import { z } from 'zod';
import type { OutboundMessage } from '../../channel.ts';
import { WhatsAppError } from '../failure.ts';
import { formatParts } from './format.ts';
import { messageIdOf, type Sent } from './sent.ts';
import { type Rate, Throttle } from './throttle.ts';

/** The rate at which messages are sent, and the time that WhatsApp may take to accept one, in milliseconds. */
export type DeliveryPace = {
  readonly perChat: Rate;
  readonly overall: Rate;
  readonly ackMs: number;
  /** The host gives up after a while: a longer wait is for its next attempt. */
  readonly longestWaitMs: number;
};

export const DELIVERY_PACE: DeliveryPace = {
  perChat: { burst: 4, everyMs: 2_000 },
  overall: { burst: 20, everyMs: 500 },
  ackMs: 20_000,
  longestWaitMs: 20_000,
};

export type DeliveryOptions = {
  /** The connection that is open now, or null. */
  readonly socket: () => WASocket | null;
  readonly sent: Sent;
  readonly pace: DeliveryPace;
};

const Ack = z.looseObject({ attrs: z.looseObject({ error: z.string().optional() }) });

/**
 * Sends messages in parts, one after the other, each under an id that was stored before. A part counts
 * as sent when WhatsApp's server says that it has it, not when it was written to the line.
 */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #throttle: Throttle;
  readonly #stop = new AbortController();
  readonly #underway = new Map<string, Promise<void>>();

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#throttle = new Throttle(options.pace);
  }

  /**
   * @throws WhatsAppError NOT_CONNECTED, TOO_MANY, REFUSED when WhatsApp has not taken every part;
   * UNCONFIRMED when no answer came; sending it again is safe: the ids are the same
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

  /** Ends what waits for its turn; what is on the line has `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#stop.abort();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, graceMs);
    await Promise.race([Promise.allSettled(this.#underway.values()), late]);
    clearTimeout(timer);
  }

  async #sendParts({ id, jid, text }: OutboundMessage): Promise<void> {
    for (const [index, part] of formatParts(text).entries()) {
      const messageId = messageIdOf(id, index);
      if (this.#options.sent.begin({ id: messageId, jid, text: part })) continue;
      await this.#waitForTurn(jid);
      await this.#sendPart({ id: messageId, jid, text: part });
      this.#options.sent.markTaken(messageId);
    }
  }

  async #waitForTurn(jid: string): Promise<void> {
    const now = Date.now();
    const waitMs = this.#throttle.waitMs(jid, now);
    if (waitMs > this.#options.pace.longestWaitMs) {
      throw new WhatsAppError('TOO_MANY', 'Too many messages at once; this one is sent later.');
    }
    this.#throttle.count(jid, now);
    try {
      if (waitMs > 0) await delay(waitMs, undefined, { signal: this.#stop.signal });
    } catch (error) {
      throw notConnected(error);
    }
  }

  async #sendPart({ id, jid, text }: OutboundMessage): Promise<void> {
    const socket = this.#options.socket();
    if (socket === null) throw notConnected();
    // The answer may be there before the call that sent the question returns.
    const acknowledged = socket.waitForMessage<unknown>(id, this.#options.pace.ackMs).then(
      (ack) => ({ ack }),
      (error: unknown) => ({ error }),
    );
    try {
      // A preview would make us fetch an address that the model chose.
      await socket.sendMessage(jid, { text, linkPreview: null }, { messageId: id });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw unconfirmed(reason, error);
    }
    const answer = await acknowledged;
    if ('error' in answer || answer.ack === undefined) {
      throw unconfirmed('no answer');
    }
    const { error } = Ack.parse(answer.ack).attrs;
    if (error !== undefined) {
      throw new WhatsAppError('REFUSED', `WhatsApp refused the message (error ${error}).`);
    }
  }
}

function notConnected(cause?: unknown): WhatsAppError {
  const text = 'WhatsApp is not connected; the message was not sent.';
  return new WhatsAppError('NOT_CONNECTED', text, { cause });
}

function unconfirmed(reason: string, cause?: unknown): WhatsAppError {
  const text = `WhatsApp did not say that it took the message (${reason}).`;
  return new WhatsAppError('UNCONFIRMED', text, { cause });
}
