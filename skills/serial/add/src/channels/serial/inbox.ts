import type { ChannelClock, ChannelEvents, ChannelLog, InboundMessage } from '../channel.ts';
import { isAllowed } from '../kit/allow-list.ts';
import { backoffMs } from '../kit/backoff.ts';
import type { ExchangeLimit } from '../kit/exchange-limit.ts';
import {
  CHAT,
  JID,
  type LineMessage,
  type ReadLine,
  readLine,
  type SentFrame,
} from './line-message.ts';
import { createLineSplitter, MAX_LINE_BYTES } from './line-splitter.ts';
import type { SerialSettings } from './settings.ts';

/** With so many lines in hand the device is held back, as far as the system's buffer lasts. */
const MOST_IN_HAND = 1_000;
/** Noise is told about once in this time: a wrong speed makes a lot of it. */
const NOISE_MS = 60_000;

export type InboxOptions = {
  readonly settings: Pick<SerialSettings, 'allowFrom' | 'isOwner' | 'takesPlainText'>;
  readonly events: ChannelEvents;
  readonly log: ChannelLog;
  readonly clock: ChannelClock;
  readonly signal: AbortSignal;
  readonly limit: ExchangeLimit;
};

/** Takes the bytes of a line, and hands its messages to the host, in order. */
export interface Inbox {
  /** Begins with a new line: half a line of the one before is dropped. */
  begin(hold: (isHeld: boolean) => void): (chunk: Uint8Array) => void;
  /** Resolves when all that was read is stored, or was given up at the signal. */
  idle(): Promise<void>;
}

/** Opens the way in. */
export function openInbox(options: InboxOptions): Inbox {
  const { settings, events, log, clock, signal, limit } = options;
  const epoch = `${clock.now().toString(36)}${Math.floor(clock.random() * 36 ** 6).toString(36)}`;
  let waiting: (() => Promise<void>)[] = [];
  let storing: Promise<void> | null = null;
  let hold: (isHeld: boolean) => void = () => {};
  let count = 0;
  let noiseToldAt = Number.NEGATIVE_INFINITY;

  function onLine(bytes: Uint8Array): void {
    onRead(readLine(bytes, settings.takesPlainText));
  }

  function onRead(read: ReadLine): void {
    if (read.kind === 'frame') {
      if (!takesFrame(read.frame)) onRead(read.asMessage);
    } else if (read.kind === 'noise') onNoise(read.reason);
    else if (read.kind === 'message') take(workFor(read.message));
  }

  function takesFrame({ sender, body }: SentFrame): boolean {
    const isKnown = isAllowed(settings.allowFrom, sender);
    return isKnown && events.onFrame?.({ jid: JID, sender, body }) === true;
  }

  function onNoise(reason: string): void {
    if (clock.now() - noiseToldAt < NOISE_MS) return;
    noiseToldAt = clock.now();
    log.warn('a line of the serial device was ignored', { reason });
  }

  function workFor(read: LineMessage): () => Promise<void> {
    const { sender } = read;
    if (!isAllowed(settings.allowFrom, sender)) return async () => events.onStranger?.(sender);
    if (!limit.takes(JID, events)) {
      onNoise('its sender answers each answer: another agent is there');
      return async () => {};
    }
    count += 1;
    const message = inboundOf(read, `${epoch}-${count}`);
    return () => events.onMessage(message);
  }

  function inboundOf({ content, sender, id }: LineMessage, ownId: string): InboundMessage {
    return {
      id: id === null ? ownId : `id-${id}`,
      jid: JID,
      chatName: CHAT,
      isDirect: true,
      sender,
      senderName: null,
      isOwner: settings.isOwner,
      mentionsAssistant: false,
      text: content,
      sentAt: clock.now(),
    };
  }

  function take(work: () => Promise<void>): void {
    waiting.push(work);
    if (waiting.length >= MOST_IN_HAND) hold(true);
    storing ??= storeAll();
  }

  /** Hands over together, to be stored together, all lines that came while the last ones were stored. */
  async function storeAll(): Promise<void> {
    for (let failures = 0; waiting.length > 0 && !signal.aborted; ) {
      const batch = waiting;
      waiting = [];
      const left = await storeBatch(batch);
      waiting = [...left, ...waiting];
      if (waiting.length < MOST_IN_HAND) hold(false);
      if (left.length === 0) failures = 0;
      else await clock.pause(backoffMs(failures++, clock.random()), signal);
    }
    storing = null;
  }

  async function storeBatch(batch: readonly (() => Promise<void>)[]) {
    const outcomes = await Promise.allSettled(batch.map((work) => work()));
    const first = outcomes.find(({ status }) => status === 'rejected');
    if (first?.status === 'rejected') {
      log.warn('lines of the serial device were not stored and are kept for the next attempt', {
        cause: first.reason instanceof Error ? first.reason.message : String(first.reason),
      });
    }
    return batch.filter((_, at) => outcomes[at]?.status === 'rejected');
  }

  return {
    begin(holdLine) {
      hold = holdLine;
      const onTooLong = () => onNoise(`it is longer than ${MAX_LINE_BYTES} bytes`);
      return createLineSplitter({ onLine, onTooLong });
    },
    idle: () => storing ?? Promise.resolve(),
  };
}
