import { type Channel, LaterDelivery, UnknownDelivery } from '../../channels/channel.ts';
import { TIMED_OUT, withTimeout } from '../../lib/timeout.ts';
import { EDITABLE_MS } from '../../store/drafts.ts';
import type { Outbound } from '../../store/store.ts';
import type { Budgets, PaidWork } from '../budget/budgets.ts';
import type {
  ChannelsPort,
  ClockPort,
  LogPort,
  StorePort,
  TimeoutsPort,
} from '../contracts/ports.ts';
import { persist } from '../turns/persist.ts';
import type { GivenUp } from './given-up-notices.ts';
import { outboundFor } from './outbound-for.ts';
import type { OutgoingFiles } from './outgoing-files.ts';

/** After this many refusals by a connected channel, a message no longer holds up later ones. */
const MAX_ATTEMPTS = 10;
const MAX_PAUSE_MS = 60_000;
/** A message that a channel asked to keep is looked at again after a day, whatever the clock says. */
const MAX_KEPT_MS = 86_400_000;

export interface Delivery {
  /** Looks for something to send; called when a message was queued or a channel connected. */
  wake(): void;
  /**
   * Goes on until nothing can be sent or the time is over, and then sends nothing more. What was being
   * sent has an unknown outcome, which the next process deals with.
   */
  stop(graceMs: number): Promise<void>;
}

export type DeliveryOptions = StorePort &
  ChannelsPort &
  ClockPort &
  LogPort &
  TimeoutsPort & {
    readonly outgoingFiles: OutgoingFiles;
    /** Charges a group's folder, as `Budgets` do. */
    readonly pay: Budgets['pay'];
    /** Resolves when no part of an answer is on its way to a chat, which could overtake the answer; null for none. */
    readonly quiet: (jid: string) => Promise<void> | null;
    /** A message of this chat left the outbox, one way or the other. */
    readonly onDelivered: (jid: string) => void;
    /** A message is not sent again, and was perhaps never taken; or it waits for long. */
    readonly onGivenUp: (message: GivenUp) => void;
  };

/**
 * Sends the outbox: one message per chat at a time, in order, each until it is accepted. The state is on disk before
 * and after every send, so a crash repeats at most one message per chat.
 */
export function openDelivery(options: DeliveryOptions): Delivery {
  const { store, channels, now, log, timeouts, outgoingFiles } = options;
  const underWay = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  /** Messages that a channel asked to keep, since this process began. */
  const kept = new Set<string>();
  /** The time of the last report to the owner, for each channel that keeps messages. */
  const toldAt = new Map<string, number>();
  let isStopped = false;

  function wake(): void {
    if (isStopped) return;
    clearTimeout(timer);
    let nextTryMs = Number.POSITIVE_INFINITY;
    for (const message of store.outbox.heads()) {
      const channel = channels.find((candidate) => candidate.ownsJid(message.jid));
      if (underWay.has(message.jid) || channel?.status().state !== 'connected') continue;
      const waitMs = message.nextTryAt - now();
      // One that is due later than it can have been put off was put off before the clock was set back.
      const longestMs = kept.has(message.messageId) ? MAX_KEPT_MS : MAX_PAUSE_MS;
      if (waitMs > 0 && waitMs <= longestMs) nextTryMs = Math.min(nextTryMs, waitMs);
      else underWay.set(message.jid, deliver(channel, message));
    }
    if (Number.isFinite(nextTryMs)) timer = setTimeout(wake, nextTryMs);
  }

  async function deliver(channel: Channel, message: Outbound): Promise<void> {
    const { messageId, jid } = message;
    const quiet = options.quiet(jid);
    if (quiet !== null) await quiet;
    if (isStopped) return;
    await note(() => store.outbox.markSending(messageId));
    if (isStopped) return;
    const failure = await failureOf(channel, message);
    await note(() =>
      failure === null
        ? store.outbox.markSent(messageId)
        : noteFailure(channel, message, failure.error),
    );
    if (isStopped) return;
    if (message.attachments.length > 0) outgoingFiles.sweep();
    if (failure === null) {
      log.info('a message was sent', { group: groupOf(jid), channel: channel.name, id: messageId });
    }
    if (failure === null) kept.delete(messageId);
    underWay.delete(jid);
    options.onDelivered(jid);
    wake();
  }

  /** Retries a write until it is stored: a message whose sending is not noted would be sent again. */
  const note = (write: () => void) =>
    persist(write, { log, timeouts, what: 'what was sent', isOver: () => isStopped });

  /** Sends a message; returns null once it was taken, else the failure. */
  async function failureOf(
    channel: Channel,
    message: Outbound,
  ): Promise<{ readonly error: unknown } | null> {
    try {
      const whole = outboundFor(channel.capabilities ?? {}, message, {
        pathOf: outgoingFiles.pathOf,
        pay: payFor(message.jid),
        progressBefore: (later) => store.outbox.progressBefore(later, now() - EDITABLE_MS),
      });
      const sending = channel.send({ ...whole, ...askedBy(channel, message) });
      await sendWithin(sending, timeouts.sendTimeoutMs);
      return null;
    } catch (error) {
      return { error };
    }
  }

  function payFor(jid: string) {
    const folder = groupOf(jid);
    return folder === undefined ? null : (work: PaidWork) => options.pay(folder, work);
  }

  function askedBy(channel: Channel, { turnId }: Outbound) {
    if (turnId === null || channel.answered === undefined) return {};
    return { answersTo: store.turns.asked(turnId) };
  }

  function noteFailure(channel: Channel, message: Outbound, error: unknown): void {
    const { messageId, jid, attempts } = message;
    const reason = error instanceof Error ? error.message : String(error);
    const { name } = channel;
    log.warn('a message was not taken', { group: groupOf(jid), channel: name, attempts, reason });
    const nextTryAt = now() + Math.min(timeouts.retryMs * 2 ** attempts, MAX_PAUSE_MS);
    if (error instanceof LaterDelivery) {
      keep(channel, message, error);
    } else if (error instanceof UnknownDelivery) {
      const outcome = store.outbox.markUnknown(messageId, nextTryAt, reason);
      if (outcome === 'unknown') options.onGivenUp({ messageId, jid, outcome, error: reason });
    } else if (attempts + 1 < MAX_ATTEMPTS || channel.status().state !== 'connected') {
      store.outbox.postpone(messageId, nextTryAt, reason);
    } else {
      store.outbox.giveUp(messageId, reason);
      options.onGivenUp({ messageId, jid, outcome: 'refused', error: reason });
    }
  }

  function keep(
    { name }: Channel,
    message: Outbound,
    { notBefore, message: error }: LaterDelivery,
  ) {
    const { messageId, jid, attempts, nextTryAt } = message;
    store.outbox.keep(messageId, notBefore, error);
    // One that was due later already was kept before a restart, and told of.
    const isKnown = kept.has(messageId) || (attempts === 0 && nextTryAt > now());
    kept.add(messageId);
    const isTold = now() - (toldAt.get(name) ?? Number.NEGATIVE_INFINITY) < MAX_KEPT_MS;
    if (isKnown || isTold) return;
    toldAt.set(name, now());
    options.onGivenUp({ messageId, jid, outcome: 'kept', error });
  }

  const groupOf = (jid: string) => store.groups.byJid(jid)?.folder;

  /** Each message that is sent makes way for the next one of its chat. */
  async function allSent(): Promise<void> {
    while (underWay.size > 0 && !isStopped) await Promise.race(underWay.values());
  }

  return {
    wake,
    async stop(graceMs) {
      await withTimeout(allSent(), graceMs);
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Waits for a channel at most `timeoutMs`, so that one that never answers does not silence its chat. */
async function sendWithin(sending: Promise<void>, timeoutMs: number): Promise<void> {
  if ((await withTimeout(sending, timeoutMs)) !== TIMED_OUT) return;
  throw new UnknownDelivery(`no answer within ${timeoutMs} ms`);
}
