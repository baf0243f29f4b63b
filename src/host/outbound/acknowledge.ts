import type { Channel } from '../../channels/channel.ts';
import type { AnswerEnd } from '../../lib/answer-end.ts';
import type { Store, Turn } from '../../store/store.ts';
import type { TurnEnd } from '../turns/turn-result.ts';

type EndOfTurn = Pick<Extract<TurnEnd, { kind: 'ended' }>, 'state' | 'error' | 'isAnsweredLater'>;

/** Tells a chat's channel which messages are answered, once the answers are delivered. */
export interface Acknowledging {
  /** A turn's end is stored. */
  ended(turn: Turn, result: EndOfTurn): void;
  /** Something of the chat was delivered, or has changed otherwise. */
  check(jid: string): void;
  /** The store is closed after a stop, and no caller waits any more. */
  stop(): void;
}

type Undelivered = {
  readonly turn: Turn;
  readonly end: AnswerEnd;
  readonly isAnsweredLater: boolean;
};

export type AcknowledgingParts = {
  readonly store: Store;
  readonly channelOf: (jid: string) => Channel | undefined;
};

/**
 * Opens the acknowledging of answered messages. Those of an earlier process are acknowledged with their chat
 * as a whole.
 */
export function openAcknowledging({ store, channelOf }: AcknowledgingParts): Acknowledging {
  const undelivered = new Map<string, Undelivered>();
  let isStopped = false;

  function check(jid: string): void {
    const channel = channelOf(jid);
    if (isStopped || channel === undefined) return;
    for (const { turn, end, isAnsweredLater } of undelivered.values()) {
      if (turn.jid !== jid || store.outbox.hasUnsentOf(turn.id)) continue;
      if (isAnsweredLater && (store.turns.isOpen(jid) || store.outbox.hasUnsent(jid))) continue;
      undelivered.delete(turn.id);
      channel.answered?.(jid, store.turns.asked(turn.id), end);
    }
    if (store.turns.isOpen(jid) || store.outbox.hasUnsent(jid)) return;
    if (store.heldMessages.next(jid) !== null) return;
    channel.chatAcknowledged?.(jid);
  }

  return {
    check,
    ended(turn, result) {
      if (channelOf(turn.jid)?.answered !== undefined) {
        const isAnsweredLater = result.isAnsweredLater === true;
        undelivered.set(turn.id, { turn, end: answerEnd(result), isAnsweredLater });
      }
      check(turn.jid);
    },
    stop() {
      isStopped = true;
    },
  };
}

/** By the code of a turn that did not end with an answer. */
const END_BY_CODE: Readonly<Record<string, AnswerEnd>> = {
  REJECTED: 'rejected',
  BUDGET: 'budget-used-up',
  CANCELLED: 'stopped',
  CRASHED: 'given-up',
  NO_MODEL: 'no-model',
  NO_ENGINE: 'no-sandbox',
};

function answerEnd({ state, error }: EndOfTurn): AnswerEnd {
  return state === 'answered' ? 'answered' : (END_BY_CODE[error ?? ''] ?? 'failed');
}
