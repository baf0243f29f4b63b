import { isTransient } from '../../store/error.ts';
import type { Turn } from '../../store/store.ts';
import type { AskQuestion, AskReply } from '../contracts/ask.ts';
import type {
  ChannelsPort,
  ClockPort,
  IdPort,
  LogPort,
  MainChatPort,
  StorePort,
  TimeoutsPort,
  TimerPort,
} from '../contracts/ports.ts';
import { ownersChats } from '../groups/owners-chats.ts';
import { putQuestion } from './put-question.ts';
import { declinedText, type KeptQuestion, keptQuestion, takenReply } from './question.ts';

/** Asks people in the middle of some work. */
export interface Asking {
  /** Forgets what an earlier process asked: its turns run again, and ask again. */
  start(): void;
  ask(question: AskQuestion, about: AskedAbout): Promise<AskReply>;
  /** Something was said or has ended: a question may be answered, or the next one due. */
  wake(): void;
  /** Something was delivered in a chat: a question that is open there may be. */
  delivered(jid: string): void;
  /** Ends the questions of a turn that is over. */
  abandon(turnId: string): void;
  /** Nothing is written from here on. */
  stop(): void;
}

/** The person who is asked, and the turn that waits. */
export type AskedAbout = {
  readonly turn: Pick<Turn, 'id' | 'jid' | 'kind'>;
  /** The owner, in the chat where they wrote last; or a person in a chat, where null is the owner. */
  readonly to: 'owner' | { readonly jid: string; readonly sender: string | null };
};

export type AskingOptions = StorePort &
  ChannelsPort &
  MainChatPort &
  ClockPort &
  IdPort &
  TimerPort &
  TimeoutsPort &
  LogPort & {
    readonly onQueued: () => void;
  };

type WaitingQuestion = AskedAbout & {
  readonly id: string;
  readonly kept: KeptQuestion;
  readonly timeoutMs: number;
  readonly resolve: (reply: AskReply) => void;
  /** Ends the time of waiting to be put, and then that of waiting for the answer. */
  readonly cancelTimer: () => void;
};

type OpenQuestion = WaitingQuestion & {
  readonly jid: string;
  /** The messages that its turn answers, once the channel was told that it is put. */
  toldOf: readonly string[] | null;
};

/** More are not put to a person at once; the others wait. */
const MAX_OPEN = 3;
const LONGEST_MS = 86_400_000;
const NO: AskReply = { word: 'no', isAnswered: false };

/**
 * Opens the asking of questions. While a question is open, it is a row of the store, as are the questions that
 * commands end with. Answers are taken in the transaction that stores a message, so this code only reads what became
 * of the row.
 */
export function openAsking(options: AskingOptions): Asking {
  const { store, channels, mainChat, now, newId, setTimer, timeouts, log, onQueued } = options;
  let waiting: readonly WaitingQuestion[] = [];
  const open = new Map<string, OpenQuestion>();
  let isStopped = false;

  const queue = (jid: string, text: string): void =>
    store.outbox.add({ messageId: newId(), jid, text }, now());

  function wake(): void {
    if (isStopped || (open.size === 0 && waiting.length === 0)) return;
    try {
      for (const one of [...open.values()]) takeReply(one);
      openDue();
    } catch (error) {
      if (!isTransient(error)) throw error;
      log.error('the database takes no question now', { error: String(error) });
    }
  }

  /** A row that is gone was withdrawn, or its chat is not registered any more. */
  function takeReply(one: OpenQuestion): void {
    const row = store.asks.byId(one.id);
    if (row === null) {
      end(one, NO);
    } else if (row.reply !== null) {
      store.asks.close(one.id);
      end(one, takenReply(row.reply));
    }
  }

  function end(one: OpenQuestion, reply: AskReply): void {
    open.delete(one.id);
    one.cancelTimer();
    const { jid, turn, toldOf } = one;
    const isLast = ![...open.values()].some((other) => other.turn.id === turn.id && other.toldOf);
    if (toldOf !== null && isLast) tellChannel(jid, toldOf, false);
    one.resolve(reply);
  }

  function tellChannel(jid: string, ids: readonly string[], isOpen: boolean): void {
    channels.find((channel) => channel.ownsJid(jid))?.asking?.(jid, ids, isOpen);
  }

  /** The order within a chat is kept: with nothing unsent, the question is there. */
  function delivered(jid: string): void {
    const untold = [...open.values()].filter((one) => one.jid === jid && one.toldOf === null);
    if (untold.length === 0 || store.outbox.hasUnsent(jid)) return;
    for (const one of untold) {
      one.toldOf = store.turns.asked(one.turn.id);
      tellChannel(jid, one.toldOf, true);
    }
  }

  function openDue(): void {
    for (const one of waiting) {
      const jid = one.to === 'owner' ? (ownersChats(options)[0]?.jid ?? mainChat.jid) : one.to.jid;
      if (store.asks.inChat(jid).length >= MAX_OPEN) continue;
      waiting = waiting.filter((other) => other !== one);
      // In a chat that was unregistered no answer can come.
      one.cancelTimer();
      if (store.groups.byJid(jid) === null) one.resolve(NO);
      else put(one, jid);
    }
  }

  function put(one: WaitingQuestion, jid: string): void {
    const { id, kept, to, timeoutMs } = one;
    const sender = to === 'owner' ? null : to.sender;
    store.transaction(() => {
      const { ask, message } = putQuestion({ store }, { id, jid, sender, kept });
      const { id: threadOf, jid: place } = one.turn;
      // In the chat of the turn it is shown to those whose message the turn answers.
      const turnId = place === jid ? threadOf : null;
      store.outbox.add({ ...message, jid, turnId, threadOf }, now());
      store.asks.open(ask, now());
    });
    const cancelTimer = setTimer(timeoutMs, () => expire(id));
    open.set(id, { ...one, jid, cancelTimer, toldOf: null });
    onQueued();
  }

  /** Closes a question that is not answered, and tells why. */
  function close(one: OpenQuestion, reason: string): void {
    if (isStopped) return;
    wake();
    if (!open.has(one.id)) return;
    try {
      store.transaction(() => {
        store.asks.close(one.id);
        queue(one.jid, reason);
      });
    } catch (error) {
      if (!isTransient(error)) throw error;
      // As long as the row is there, a yes would be taken: the work waits for its end.
      log.error('the database closes no question now', { error: String(error) });
      setTimer(timeouts.retryMs, () => close(one, reason));
      return;
    }
    onQueued();
    end(one, NO);
    wake();
  }

  /** Gives up a question that could not be put in time. */
  function giveUp(id: string): void {
    const one = waiting.find((other) => other.id === id);
    waiting = waiting.filter((other) => other.id !== id);
    if (!isStopped) one?.resolve(NO);
  }

  function expire(id: string): void {
    const one = open.get(id);
    if (one === undefined) return;
    close(
      one,
      `There was no answer in time${one.kept.what === null ? '.' : ':'} ${declinedText(one.kept)}`,
    );
  }

  return {
    start: () => store.asks.closeOrphans(),
    async ask(question, about) {
      const kept = keptQuestion(question, about.turn.id);
      const timeoutMs = Math.min(question.timeoutMs ?? timeouts.consentMs, LONGEST_MS);
      const { promise, resolve } = Promise.withResolvers<AskReply>();
      const id = newId();
      const cancelTimer = setTimer(timeoutMs, () => giveUp(id));
      waiting = [...waiting, { ...about, id, kept, timeoutMs, resolve, cancelTimer }];
      wake();
      return await promise;
    },
    wake,
    delivered,
    abandon(turnId) {
      const isMeant = (one: WaitingQuestion): boolean => one.turn.id === turnId;
      for (const one of waiting.filter(isMeant)) {
        one.cancelTimer();
        one.resolve(NO);
      }
      waiting = waiting.filter((one) => !isMeant(one));
      for (const one of [...open.values()].filter(isMeant)) close(one, abandonedText(one));
    },
    stop() {
      isStopped = true;
      for (const { cancelTimer } of [...waiting, ...open.values()]) cancelTimer();
    },
  };
}

function abandonedText({ turn }: WaitingQuestion): string {
  return `What was asked last is not needed any more: the ${turn.kind} has ended.`;
}
