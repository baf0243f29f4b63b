import type {
  AnyMessageContent,
  MiscMessageGenerationOptions,
  WASocket,
} from '@whiskeysockets/baileys';
import { z } from 'zod';
import { cutText } from '../../../lib/cut-text.ts';
import type { ChannelClock, OutboundChoices, OutboundMessage } from '../../channel.ts';
import { WhatsAppError } from '../failure.ts';
import type { Baileys } from '../session/baileys.ts';
import { uploadedFile } from './file-message.ts';
import { formatParts } from './format.ts';
import { checkNewPerson } from './new-people.ts';
import { fitsPoll, nameOf, POLL_NODE, type Polls, pollMessage } from './poll.ts';
import { messageIdOf, type Sent } from './sent.ts';
import { type Rate, Throttle } from './throttle.ts';

/** The rate at which messages are sent, and the time that WhatsApp may take to accept one, in milliseconds. */
export type DeliveryPace = {
  readonly perChat: Rate;
  readonly overall: Rate;
  /** People who have had nothing from the assistant for a month, and may get something within a day. */
  readonly newChatsADay: number;
  readonly ackMs: number;
  /** The host gives up after a while: a longer wait is for its next attempt. */
  readonly longestWaitMs: number;
};

export const DELIVERY_PACE: DeliveryPace = {
  perChat: { burst: 4, everyMs: 2_000 },
  overall: { burst: 20, everyMs: 500 },
  newChatsADay: 30,
  ackMs: 20_000,
  longestWaitMs: 20_000,
};

export type DeliveryOptions = {
  /** The connection that is open now, or null. */
  readonly socket: () => WASocket | null;
  readonly baileys: Baileys;
  /** Tells whether the account itself has this address. */
  readonly isSelf: (jid: string) => boolean;
  readonly sent: Sent;
  readonly polls: Polls;
  readonly pace: DeliveryPace;
  readonly clock: ChannelClock;
};

/** Phones show the first lines. */
const MAX_QUOTED_BYTES = 1_000;

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
    this.#throttle = new Throttle(options.pace, options.clock.random);
  }

  /**
   * @throws WhatsAppError NOT_CONNECTED, TOO_MANY, UPLOAD_FAILED, REFUSED when WhatsApp has not taken every
   * part; UNCONFIRMED when no answer came; sending it again is safe: the ids are the same. LaterDelivery to one
   * new person too many today
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

  async #sendParts(message: OutboundMessage): Promise<void> {
    const { id, jid, text, choices, attachments = [] } = message;
    const [only = text, ...more] = formatParts(text);
    const change = more.length > 0 ? null : this.#changeIn(message, only);
    if (change !== null) {
      return await this.#sendOnce(
        messageIdOf(id, 0),
        { jid, text: only, of: id },
        (messageId, socket) => socket.sendMessage(jid, change, { messageId }),
      );
    }
    for (const [index, part] of formatParts(text).entries()) {
      const quoted = index === 0 ? quotationIn(message) : {};
      const content: AnyMessageContent = { text: part, linkPreview: null };
      await this.#sendOnce(
        messageIdOf(id, index),
        { jid, text: part, of: id },
        (messageId, socket) =>
          // A preview would make us fetch an address that the model chose.
          socket.sendMessage(jid, content, { messageId, ...quoted }),
      );
    }
    if (choices !== undefined && fitsPoll(choices)) await this.#sendPoll(id, jid, choices);
    for (const [index, file] of attachments.entries()) {
      const said = { jid, text: `[${file.name}]`, of: id };
      await this.#sendOnce(messageIdOf(id, `file ${index}`), said, async (messageId, socket) => {
        const { baileys, sent } = this.#options;
        const made = await uploadedFile({ baileys, socket, sent }, { jid, id: messageId, file });
        await socket.relayMessage(jid, made, { messageId });
      });
    }
  }

  /** A poll goes below the text, which can be answered by apps that show none. */
  async #sendPoll(id: string, jid: string, choices: OutboundChoices): Promise<void> {
    const said = { jid, text: nameOf(choices), of: id };
    await this.#sendOnce(messageIdOf(id, 'poll'), said, async (messageId, socket) => {
      const parts = { ...this.#options, socket };
      const made = await pollMessage(parts, { jid, id: messageId, choices });
      await socket.relayMessage(jid, made, { messageId, additionalNodes: [POLL_NODE] });
    });
  }

  /** Makes what changes an earlier message: its text, or an emoji on it; null for a message of its own. */
  #changeIn(message: OutboundMessage, text: string): AnyMessageContent | null {
    const { jid, replaces, reactsTo } = message;
    if (replaces !== undefined) {
      const edit = { remoteJid: jid, id: messageIdOf(replaces, 0), fromMe: true };
      return { text, edit, linkPreview: null };
    }
    if (reactsTo === undefined) return null;
    const { id, sender } = reactsTo;
    const place = jid.endsWith('@g.us') ? { participant: sender } : {};
    const key = { remoteJid: jid, id, fromMe: this.#options.isSelf(sender), ...place };
    return { react: { text: message.text, key } };
  }

  /** Sends what WhatsApp has not taken yet. */
  async #sendOnce(
    id: string,
    said: { readonly jid: string; readonly text: string; readonly of: string },
    send: (id: string, socket: WASocket) => Promise<unknown>,
  ): Promise<void> {
    if (this.#options.sent.begin({ id, ...said })) return;
    checkNewPerson(this.#options, said.jid);
    await this.#waitForTurn(said.jid);
    await this.#sendPart(id, send);
    this.#options.sent.markTaken(id);
  }

  async #waitForTurn(jid: string): Promise<void> {
    const { clock } = this.#options;
    const now = clock.now();
    const waitMs = this.#throttle.waitMs(jid, now);
    if (waitMs > this.#options.pace.longestWaitMs) {
      throw new WhatsAppError('TOO_MANY', 'Too many messages at once; this one is sent later.');
    }
    this.#throttle.count(jid, now);
    if (waitMs <= 0) return;
    await clock.pause(waitMs, this.#stop.signal);
    if (this.#stop.signal.aborted) throw notConnected();
  }

  async #sendPart(
    id: string,
    send: (id: string, socket: WASocket) => Promise<unknown>,
  ): Promise<void> {
    const socket = this.#options.socket();
    if (socket === null) throw notConnected();
    // The answer may be there before the call that sent the question returns.
    const acknowledged = socket.waitForMessage<unknown>(id, this.#options.pace.ackMs).then(
      (ack) => ({ ack }),
      (error: unknown) => ({ error }),
    );
    try {
      await send(id, socket);
    } catch (error) {
      if (error instanceof WhatsAppError) throw error;
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

/** Returns the quotation of the message that is answered, as WhatsApp shows it above the answer. */
function quotationIn({
  jid,
  replyTo,
}: OutboundMessage): Pick<MiscMessageGenerationOptions, 'quoted'> {
  if (replyTo === undefined) return {};
  const { id, sender: participant, text } = replyTo;
  const key = { remoteJid: jid, id, participant, fromMe: false };
  const conversation = cutText(text, MAX_QUOTED_BYTES).text;
  return { quoted: { key, message: { conversation } } };
}

function notConnected(cause?: unknown): WhatsAppError {
  const text = 'WhatsApp is not connected; the message was not sent.';
  return new WhatsAppError('NOT_CONNECTED', text, { cause });
}

function unconfirmed(reason: string, cause?: unknown): WhatsAppError {
  const text = `WhatsApp did not say that it took the message (${reason}).`;
  return new WhatsAppError('UNCONFIRMED', text, { cause });
}
