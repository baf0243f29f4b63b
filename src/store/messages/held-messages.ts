import type { Database } from 'better-sqlite3';
import { z } from 'zod';

export type NewHeldMessage = {
  readonly jid: string;
  readonly id: string;
  readonly sender: string;
  readonly payload: unknown;
};

/** A message that waits for inbound filters. `seq` grows in the order in which messages came. */
export type HeldMessage = NewHeldMessage & { readonly seq: number };

/** The number of messages that wait for the same reason; null while filters are at work on them. */
export type HeldCount = { readonly problem: string | null; readonly messages: number };

/** Messages that are on disk and acknowledged, and not part of their chat before filters have looked at them. */
export interface HeldMessages {
  /** Adds a message. One that waits already changes nothing. */
  add(message: NewHeldMessage, now: number): void;
  /** Returns the oldest of a chat; null when none waits there. */
  next(jid: string): HeldMessage | null;
  /** Returns the chats in which messages wait. */
  chats(): readonly string[];
  /** Notes why a filter could not look at a message. */
  note(seq: number, problem: string): void;
  /** Takes a message out. Returns its chat, which may have another address by now; null if it is gone. */
  take(seq: number): string | null;
  counted(): readonly HeldCount[];
}

const Row = z.object({
  seq: z.int(),
  jid: z.string(),
  id: z.string(),
  sender: z.string(),
  payload: z.string(),
});
const Chat = z.object({ jid: z.string() });
const Count = z.object({ problem: z.string().nullable(), messages: z.int() });

export function openHeldMessages(database: Database): HeldMessages {
  const add = database.prepare(`
    INSERT INTO held_messages (jid, id, sender, payload, held_at)
    VALUES (:jid, :id, :sender, :payload, :now) ON CONFLICT (jid, id) DO NOTHING`);
  const next = database.prepare(`
    SELECT seq, jid, id, sender, payload FROM held_messages WHERE jid = ? ORDER BY seq LIMIT 1`);
  const chats = database.prepare('SELECT DISTINCT jid FROM held_messages');
  const note = database.prepare('UPDATE held_messages SET problem = :problem WHERE seq = :seq');
  const take = database.prepare('DELETE FROM held_messages WHERE seq = ? RETURNING jid');
  const counted = database.prepare(`
    SELECT problem, count(*) AS messages FROM held_messages GROUP BY problem
    ORDER BY messages DESC, problem`);
  return {
    add: ({ payload, ...message }, now) =>
      void add.run({ ...message, payload: JSON.stringify(payload), now }),
    next(jid) {
      const row = next.get(jid);
      if (row === undefined) return null;
      const { payload, ...message } = Row.parse(row);
      return { ...message, payload: JSON.parse(payload) };
    },
    chats: () => chats.all().map((row) => Chat.parse(row).jid),
    note: (seq, problem) => void note.run({ seq, problem }),
    take(seq) {
      const row = take.get(seq);
      return row === undefined ? null : Chat.parse(row).jid;
    },
    counted: () => counted.all().map((row) => Count.parse(row)),
  };
}
