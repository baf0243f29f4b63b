import type { ChannelClock, ChannelEvents, ChannelLog, InboundMessage } from '../channel.ts';
import { isAllowed } from '../kit/allow-list.ts';
import { backoffMs } from '../kit/backoff.ts';
import type { ExchangeLimit } from '../kit/exchange-limit.ts';
import { jidOf } from './jid.ts';
import { type MqttMessage, readPayload } from './payload.ts';
import type { Records } from './records.ts';
import { chatOf, type Topics } from './topics.ts';

/** A message as the broker hands it over. */
export type Publication = {
  readonly topic: string;
  readonly payload: Uint8Array;
  /** The broker's number of it in this session; null with QoS 0, where it is not repeated. */
  readonly packet: number | null;
  /** The broker has handed it over before, and does not know whether it was taken. */
  readonly isRepeat: boolean;
  /** It was kept by the broker for those who come later, and was said some time ago. */
  readonly isRetained: boolean;
};

export type InboxOptions = {
  readonly allowFrom: readonly string[];
  readonly topics: Topics;
  readonly records: Pick<Records, 'idOf'>;
  readonly events: ChannelEvents;
  readonly log: ChannelLog;
  readonly clock: ChannelClock;
  readonly limit: ExchangeLimit;
};

/** Resolves with true when the message is stored, or is none; with false where the signal came before. Never rejects. */
export type Take = (publication: Publication, signal: AbortSignal) => Promise<boolean>;

/** Opens the way in: messages are handed to the host one after the other, each until it is stored. */
export function openInbox(options: InboxOptions): Take {
  const { allowFrom, topics, records, events, log, clock, limit } = options;
  const epoch = `${clock.now().toString(36)}${Math.floor(clock.random() * 36 ** 6).toString(36)}`;
  let count = 0;

  return async (publication, signal) => {
    const work = workFor(publication);
    if (work === null) return true;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        await work();
        return true;
      } catch (error) {
        const cause = error instanceof Error ? error.message : String(error);
        log.warn('a message by MQTT was not stored; the broker keeps it', { cause });
        await clock.pause(backoffMs(failures, clock.random()), signal);
      }
    }
    return false;
  };

  function workFor(publication: Publication): (() => Promise<void>) | null {
    const { topic, payload, isRetained } = publication;
    const ignore = (reason: string): null => {
      log.warn('a message by MQTT was ignored', { topic, reason });
      return null;
    };
    if (isRetained) return ignore('the broker has retained it, so it is of an earlier time');
    const read = readPayload(payload);
    if (read.kind === 'noise') return ignore(read.reason);
    if (read.kind === 'empty') return null;
    if (read.kind === 'frame') {
      const { sender, body } = read;
      const chat = chatOf(topics, topic, null);
      const isKnown = chat !== null && isAllowed(allowFrom, sender);
      const isTaken = isKnown && events.onFrame?.({ jid: jidOf(chat), sender, body }) === true;
      return isTaken ? null : ignore('it is a frame that nobody takes');
    }
    const { sender, chat: named } = read.message;
    if (!isAllowed(allowFrom, sender)) return async () => events.onStranger?.(sender);
    const chat = chatOf(topics, topic, named);
    if (chat === null) return ignore('its chat_id cannot be one, or is that of another topic');
    if (!limit.takes(jidOf(chat), events)) {
      return ignore('its sender answers each answer: another agent is there');
    }
    const message = inboundOf(read.message, { chat, id: idOf(read.message, publication) });
    return () => events.onMessage(message);
  }

  function idOf({ id, sender }: MqttMessage, publication: Publication): string {
    if (id !== null) return `id-${sender}-${id}`;
    const { packet, isRepeat, topic, payload } = publication;
    count += 1;
    const fresh = `${epoch}-${count}`;
    return packet === null ? fresh : records.idOf({ packet, isRepeat, topic, payload, fresh });
  }

  function inboundOf(
    { content, sender }: MqttMessage,
    { chat, id }: { readonly chat: string; readonly id: string },
  ): InboundMessage {
    return {
      id,
      jid: jidOf(chat),
      chatName: chat,
      isDirect: true,
      sender,
      senderName: null,
      isOwner: false,
      mentionsAssistant: false,
      text: content,
      sentAt: clock.now(),
    };
  }
}
