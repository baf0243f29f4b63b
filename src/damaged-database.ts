import { setTimeout as delay } from 'node:timers/promises';
import type { Channel } from './channels/channel.ts';
import { noteDamage } from './store/database-condition.ts';
import type { StoreError } from './store/error.ts';

/** The parts of the assistant that say its last words. */
export type LastWords = {
  /** The database's file. */
  readonly path: string;
  readonly channels: () => readonly Channel[];
  /** The owner's own chats, as they were known before. */
  readonly ownersChats: () => readonly string[];
  readonly print: (text: string) => void;
  readonly newId: () => string;
  readonly exit: () => void;
};

/** Time to reach the owner in their chats. */
const TELL_MS = 4_000;

/**
 * Ends the assistant when its database turns out to be damaged: whatever goes on would write to it, and a restart
 * would meet the same page. The owner is told in the terminal and, past the outbox, in their own chats.
 */
export function onDamagedDatabase(words: LastWords): (error: StoreError) => void {
  let isEnding = false;
  return (error) => {
    if (isEnding) return;
    isEnding = true;
    noteDamage(words.path, error.message.slice(0, 500));
    words.print(error.message);
    // Work that is under way meets the damage, too.
    process.on('uncaughtException', () => {});
    void Promise.race([tellOwner(words, error.message), delay(TELL_MS)]).finally(words.exit);
  };
}

async function tellOwner({ channels, ownersChats, newId }: LastWords, message: string) {
  const text = `I have stopped. ${message}`;
  await Promise.allSettled(
    ownersChats().map(async (jid) => {
      const channel = channels().find((one) => one.ownsJid(jid));
      if (channel?.status().state !== 'connected') return;
      await channel.send({ id: newId(), jid, text });
    }),
  );
}
