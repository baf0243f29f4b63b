import type { Channel } from '../../channels/channel.ts';
import type { Store, Turn } from '../../store/store.ts';

/** Tells a chat's channel what of it is answered, once the answers are delivered. */
export interface Acknowledging {
  /** A turn's end is stored. */
  ended(turn: Turn): void;
  /** Something of the chat was delivered, or has changed otherwise. */
  check(jid: string): void;
  /** The store is closed after a stop, and no caller waits any more. */
  stop(): void;
}

export type AcknowledgingParts = {
  readonly store: Store;
  readonly channelOf: (jid: string) => Channel | undefined;
};

/**
 * Opens the acknowledging of answered messages. Those of an earlier process are acknowledged with their chat
 * as a whole.
 */
export function openAcknowledging({ store, channelOf }: AcknowledgingParts): Acknowledging {
  const undelivered = new Map<string, Turn>();
  let isStopped = false;

  function check(jid: string): void {
    const channel = channelOf(jid);
    if (isStopped || channel === undefined) return;
    for (const turn of undelivered.values()) {
      if (turn.jid !== jid || store.outbox.hasUnsentOf(turn.id)) continue;
      undelivered.delete(turn.id);
      channel.answered?.(jid, store.turns.asked(turn.id));
    }
    if (store.turns.isOpen(jid) || store.outbox.hasUnsent(jid)) return;
    if (store.heldMessages.next(jid) !== null) return;
    channel.chatAcknowledged?.(jid);
  }

  return {
    check,
    ended(turn) {
      if (channelOf(turn.jid)?.answered !== undefined) undelivered.set(turn.id, turn);
      check(turn.jid);
    },
    stop() {
      isStopped = true;
    },
  };
}
