import type { ChannelEvents } from '../channel.ts';

/** A person at a device says less. Two agents that answer each other say more, without end. */
const MOST = 30;
const WINDOW_MS = 600_000;
/** The owner is told of a chat once in this time. */
const TOLD_MS = 86_400_000;

/** Stops two agents from answering each other forever: their far ends cannot tell a program from a person. */
export interface ExchangeLimit {
  /** Notes that the assistant has said something in a chat. */
  answered(chat: string): void;
  /**
   * Notes a message in a chat, and tells whether it is accepted. It is refused after too many answers in ten minutes
   * that were each followed by a message. A message that follows no answer is always accepted. The owner is told of
   * the first refused message, once a day for each chat.
   */
  takes(chat: string, events: Pick<ChannelEvents, 'onNotice'>): boolean;
}

/** Opens the limit for the chats of one channel. Messages from before a restart do not count. */
export function openExchangeLimit(now: () => number): ExchangeLimit {
  const chats = new Map<string, { isAnswered: boolean; exchanges: number[] }>();
  const told = new Map<string, number>();

  function tell(chat: string, { onNotice }: Pick<ChannelEvents, 'onNotice'>): void {
    if (now() - (told.get(chat) ?? Number.NEGATIVE_INFINITY) < TOLD_MS) return;
    told.set(chat, now());
    onNotice?.(
      `Another agent seems to be at the other end of ${chat}: it answered ${MOST} answers within ten minutes. So that the two do not talk without end, its messages are dropped until it has been quiet for a while, ten minutes at most. The log names each.`,
    );
  }

  return {
    answered(chat) {
      const known = chats.get(chat);
      if (known !== undefined) known.isAnswered = true;
    },
    takes(chat, events) {
      const { isAnswered, exchanges } = chats.get(chat) ?? { isAnswered: false, exchanges: [] };
      const recent = exchanges.filter((at) => now() - at < WINDOW_MS);
      const isTaken = recent.length < MOST;
      if (isAnswered && isTaken) recent.push(now());
      chats.set(chat, { isAnswered: isAnswered && !isTaken, exchanges: recent });
      if (!isTaken) tell(chat, events);
      return isTaken;
    },
  };
}
