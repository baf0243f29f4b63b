import { isPassing } from '../../store/error.ts';
import type { HostOptions } from '../contracts/options.ts';
import { parseQuestion, type Question } from '../contracts/question.ts';
import { ownersChats } from '../groups/owners-chats.ts';

/** Asks the owner, in the middle of a turn, whether something may be done. */
export interface OwnerConsent {
  /** Closes what an earlier process asked: its turns run again, and ask again. */
  start(): void;
  /** Resolves with the owner's word; with false when they talk of something else, or not in time. */
  ask(wish: ConsentWish): Promise<boolean>;
  /** Takes the owner's yes or no. Returns what they are told. */
  answer(id: string, isYes: boolean): string;
  /** Something was said or has ended in the owner's chats: the next question may be due. */
  wake(): void;
  /** A turn is over, and nobody waits for what it asked. */
  abandon(turnId: string): void;
  /** Nothing is written from here on. */
  stop(): void;
}

export type ConsentWish = {
  readonly turnId: string;
  /** The whole question, without how to answer it. */
  readonly text: string;
  /** What was asked about, in a few words: “`send_message`”. */
  readonly what: string;
};

type Waiting = ConsentWish & {
  readonly id: string;
  readonly resolve: (isAllowed: boolean) => void;
};

type Open = Waiting & { readonly jid: string; readonly cancelTimer: () => void };

export type OwnerConsentOptions = Pick<
  HostOptions,
  'store' | 'channels' | 'mainChat' | 'now' | 'newId' | 'setTimer' | 'timeouts' | 'log'
> & {
  readonly onQueued: () => void;
};

/**
 * One question is open at a time, in the owner's chat where they wrote last, and others wait for it:
 * also for a question of a command, and for a command at work that may ask one.
 */
export function openOwnerConsent(options: OwnerConsentOptions): OwnerConsent {
  const { store, mainChat, now, newId, setTimer, timeouts, log, onQueued } = options;
  let waiting: Waiting[] = [];
  let open: Open | null = null;
  let isStopped = false;

  const pendingIn = (jid: string) => parseQuestion(store.questions.pending(jid));
  const isCommandAtWork = () => store.turns.commandAtWork('main') !== undefined;
  const queue = (jid: string, text: string) =>
    store.outbox.add({ messageId: newId(), jid, text }, now());

  function wake(): void {
    if (isStopped || (open === null && waiting.length === 0)) return;
    try {
      endIfWithdrawn();
      openNext();
    } catch (error) {
      if (!isPassing(error)) throw error;
      log.error('the database takes no question now', { error: String(error) });
    }
  }

  /** The owner talks of something else; where a command is at work, it may be the answer itself. */
  function endIfWithdrawn(): void {
    if (open === null || isCommandAtWork()) return;
    if (pendingIn(open.jid)?.consent !== open.id) end(false);
  }

  function openNext(): void {
    const [next, ...others] = waiting;
    if (open !== null || next === undefined || isCommandAtWork()) return;
    const jid = ownersChats(options)[0]?.jid ?? mainChat.jid;
    if (store.questions.pending(jid) !== undefined) return;
    const { id, text, what } = next;
    const asked = `${text}\n\nAllow it? Say yes or no.`;
    store.transaction(() => {
      // The question is not older than its own text, which would else count as said since.
      queue(jid, asked);
      store.questions.open(jid, questionOf(id, asked, what), now());
    });
    waiting = others;
    open = { ...next, jid, cancelTimer: setTimer(timeouts.consentMs, () => expire(id)) };
    onQueued();
  }

  function end(isAllowed: boolean): void {
    const ended = open;
    open = null;
    ended?.cancelTimer();
    ended?.resolve(isAllowed);
  }

  /** Closes the question that is open, if it is this one, and tells why. */
  function close(isMeant: (one: Waiting) => boolean, reason: string): void {
    if (isStopped || open === null || !isMeant(open)) return;
    const { jid, id } = open;
    if (pendingIn(jid)?.consent === id) {
      store.transaction(() => {
        store.questions.close(jid);
        queue(jid, reason);
      });
      onQueued();
    }
    end(false);
    wake();
  }

  function expire(id: string): void {
    if (open?.id !== id) return;
    close((one) => one.id === id, `There was no answer in time: ${open.what} was not allowed.`);
  }

  return {
    start() {
      for (const { jid } of store.groups.mains()) {
        if ((pendingIn(jid)?.consent ?? null) !== null) store.questions.close(jid);
      }
    },
    ask: (wish) =>
      new Promise((resolve) => {
        waiting.push({ ...wish, id: newId(), resolve });
        wake();
      }),
    answer(id, isYes) {
      if (open?.id !== id) return 'What this answers has ended meanwhile. Nothing was done.';
      const { what } = open;
      end(isYes);
      return isYes ? `${what} is allowed, this once.` : `${what} was not allowed.`;
    },
    wake,
    abandon(turnId) {
      const isMeant = (one: Waiting): boolean => one.turnId === turnId;
      for (const one of waiting.filter(isMeant)) one.resolve(false);
      waiting = waiting.filter((one) => !isMeant(one));
      close(isMeant, 'What was asked last is not needed any more: the agent has ended.');
    },
    stop() {
      isStopped = true;
      open?.cancelTimer();
    },
  };
}

function questionOf(id: string, text: string, what: string): Partial<Question> {
  return { command: '', consent: id, data: null, text, declined: `${what} was not allowed.` };
}
