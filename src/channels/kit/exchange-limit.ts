/** A person at a device says less. Two agents that answer each other say more, without end. */
const MOST = 30;
const WINDOW_MS = 600_000;

/** Holds two agents apart that answer each other: their far ends cannot tell a program from a person. */
export interface ExchangeLimit {
  /** Notes that the assistant has said something in a chat. */
  answered(chat: string): void;
  /**
   * Notes a message in a chat, and tells whether it is taken: it is not where it came after so many answers in ten
   * minutes that were each followed by a message. A message that follows no answer always is.
   */
  takes(chat: string): boolean;
}

/** Opens the limit for the chats of one channel; what was said before a restart does not count. */
export function openExchangeLimit(now: () => number): ExchangeLimit {
  const chats = new Map<string, { isAnswered: boolean; exchanges: number[] }>();
  return {
    answered(chat) {
      const known = chats.get(chat);
      if (known !== undefined) known.isAnswered = true;
    },
    takes(chat) {
      const { isAnswered, exchanges } = chats.get(chat) ?? { isAnswered: false, exchanges: [] };
      const recent = exchanges.filter((at) => now() - at < WINDOW_MS);
      const isTaken = recent.length < MOST;
      if (isAnswered && isTaken) recent.push(now());
      chats.set(chat, { isAnswered: isAnswered && !isTaken, exchanges: recent });
      return isTaken;
    },
  };
}
