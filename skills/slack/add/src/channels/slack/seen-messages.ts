import { z } from 'zod';
import { type OpenDatabase, withoutWaiting } from '../../lib/own-database.ts';
import { jidOf } from './jid.ts';

const MOST = 100;
const REMEMBERED_MS = 30 * 86_400_000;

/** The table of the last message of each conversation and thread, in the channel's database. */
export const SEEN_MIGRATIONS = [
  `CREATE TABLE seen (
     channel TEXT NOT NULL, thread TEXT NOT NULL, jid TEXT NOT NULL, ts TEXT NOT NULL, seen_at INTEGER NOT NULL,
     PRIMARY KEY (channel, thread)
   ) STRICT;`,
];

const Row = z.object({ channel: z.string(), thread: z.string(), ts: z.string() });

/** The last message that was stored of a conversation, or of a thread in it. */
export type SeenMessage = {
  readonly channel: string;
  /** The time stamp of the message that began the thread; null for the conversation itself. */
  readonly thread: string | null;
  readonly ts: string;
};

/** The last message that was stored of each conversation and thread: what came after it was missed. */
export interface SeenMessages {
  note(message: SeenMessage): void;
  /** Returns those of the last thirty days, the newest first. */
  latest(): readonly SeenMessage[];
  /** The app is not in the conversation any more. */
  forget(channel: string): void;
  forgetChat(jid: string): void;
}

/** Opens the list, in a database that has the table for it. */
export function openSeenMessages(openDatabase: OpenDatabase, now: () => number): SeenMessages {
  const database = openDatabase([]);
  // Time stamps have ten digits, a point and six more, so their order is that of their texts.
  const note = database.prepare(
    `INSERT INTO seen (channel, thread, jid, ts, seen_at) VALUES (:channel, :thread, :jid, :ts, :now)
     ON CONFLICT (channel, thread) DO UPDATE SET ts = max(ts, excluded.ts), seen_at = excluded.seen_at`,
  );
  const latest = database.prepare(
    `SELECT channel, thread, ts FROM seen WHERE seen_at > ? ORDER BY seen_at DESC LIMIT ${MOST}`,
  );
  const forget = database.prepare('DELETE FROM seen WHERE channel = ?');
  const forgetChat = database.prepare('DELETE FROM seen WHERE jid = ?');
  database.prepare('DELETE FROM seen WHERE seen_at < ?').run(now() - REMEMBERED_MS);
  return {
    // Lost, the messages after the one before are asked for again, and known to the host.
    note: ({ channel, thread, ts }) =>
      withoutWaiting(
        database,
        () => void note.run({ channel, thread: thread ?? '', jid: jidOf(channel), ts, now: now() }),
      ),
    latest: () =>
      z
        .array(Row)
        .parse(latest.all(now() - REMEMBERED_MS))
        .map((row) => ({ ...row, thread: row.thread === '' ? null : row.thread })),
    forget: (channel) => void forget.run(channel),
    forgetChat: (jid) => void forgetChat.run(jid),
  };
}
