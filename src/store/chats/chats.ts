import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { PRESS } from '../messages/messages.ts';

/** A chat that exists somewhere; being here gives it no rights. */
export type Chat = {
  readonly jid: string;
  readonly channel: string;
  readonly name: string | null;
  readonly isDirect: boolean;
};

/** A chat that was heard of, and of a direct one the person who wrote there, if that is known. */
export type SeenChat = Chat & { readonly person?: string | null };

/** What goes on in the registered chats of a channel. */
export type ChannelTraffic = {
  readonly channel: string;
  readonly chats: number;
  /** When the newest message came; null for none among the newest of each chat. */
  readonly receivedAt: number | null;
  /** When the newest message that the far end has taken was written; null for none. */
  readonly sentAt: number | null;
};

export interface Chats {
  /** Adds the chat, or keeps its name and person up to date; a missing one never replaces a known one. */
  see(chat: SeenChat, now: number): void;
  /** Finds a chat, also under an address that it had before. */
  byJid(jid: string): Chat | null;
  /** Finds the chat of a person with the assistant, by the address under which they write; the newest of several. */
  directWith(channel: string, person: string): Chat | null;
  /** Returns the address that a chat goes by: another one, where it was merged into that. */
  current(jid: string): string;
  /**
   * Returns chats that are no registered group and were not merged into another, newest first, at most
   * `limit` of them.
   */
  unregistered(limit: number): readonly Chat[];
  /**
   * Notes that the owner took the assistant out of a chat: until it is registered again, it is a stranger's.
   */
  dismiss(jid: string): void;
  isDismissed(jid: string): boolean;
  /** Returns the traffic of each channel with a registered chat; what the owner says by a page did not come by it. */
  traffic(): readonly ChannelTraffic[];
}

const Row = z
  .object({ jid: z.string(), channel: z.string(), name: z.string().nullable(), is_direct: z.int() })
  .transform((row) => ({
    jid: row.jid,
    channel: row.channel,
    name: row.name,
    isDirect: row.is_direct === 1,
  }));

const TrafficRow = z
  .object({
    channel: z.string(),
    chats: z.int(),
    received_at: z.int().nullable(),
    sent_at: z.int().nullable(),
  })
  .transform(({ received_at: receivedAt, sent_at: sentAt, ...row }) => ({
    ...row,
    receivedAt,
    sentAt,
  }));
const Jid = z.object({ jid: z.string() });

/** SQL for the address that the chat `:jid` goes by. */
export const CURRENT_JID = 'coalesce((SELECT merged_into FROM chats WHERE chats.jid = :jid), :jid)';

/** A chat in which only a page is used is not searched further for what came by its channel. */
const LOOKED_THROUGH = 200;

/** The resolution of a chat's last-seen time. */
const SEEN_TO_MS = 60_000;

export function openChats(database: Database): Chats {
  // A chat is seen with each of its messages: what is known to the minute is not written again.
  const see = database.prepare(`
    INSERT INTO chats (jid, channel, name, is_direct, person, seen_at)
    VALUES (:jid, :channel, :name, :isDirect, :person, :now)
    ON CONFLICT (jid) DO UPDATE SET name = coalesce(:name, name), person = coalesce(:person, person), seen_at = :now
    WHERE name IS NOT coalesce(:name, name) OR person IS NOT coalesce(:person, person)
      OR abs(:now - seen_at) > ${SEEN_TO_MS}`);
  const columns = 'SELECT jid, channel, name, is_direct FROM chats';
  const byJid = database.prepare(`${columns} WHERE jid = ${CURRENT_JID}`);
  const directWith = database.prepare(`${columns}
    WHERE channel = ? AND person = ? AND is_direct = 1 AND merged_into IS NULL ORDER BY seen_at DESC, jid LIMIT 1`);
  const current = database.prepare(`SELECT ${CURRENT_JID} AS jid`);
  const unregistered = database.prepare(`${columns}
    WHERE jid NOT IN (SELECT jid FROM groups) AND merged_into IS NULL ORDER BY seen_at DESC, jid LIMIT ?`);
  const dismiss = database.prepare('UPDATE chats SET is_dismissed = 1 WHERE jid = ?');
  const isDismissed = database.prepare('SELECT 1 FROM chats WHERE jid = ? AND is_dismissed = 1');
  const traffic = database.prepare(`
    SELECT channel, count(*) AS chats,
      max((SELECT stored_at FROM
        (SELECT seq, id, stored_at FROM messages WHERE messages.jid = groups.jid ORDER BY seq DESC LIMIT ${LOOKED_THROUGH})
        WHERE id NOT GLOB '${PRESS}*' ORDER BY seq DESC LIMIT 1)) AS received_at,
      max((SELECT created_at FROM outbox
        WHERE outbox.jid = groups.jid AND state = 'sent' ORDER BY seq DESC LIMIT 1)) AS sent_at
    FROM groups JOIN chats ON chats.jid = groups.jid GROUP BY channel`);
  return {
    see: ({ person = null, ...chat }, now) =>
      void see.run({ ...chat, person, isDirect: Number(chat.isDirect), now }),
    byJid(jid) {
      const row = byJid.get({ jid });
      return row === undefined ? null : Row.parse(row);
    },
    directWith(channel, person) {
      const row = directWith.get(channel, person);
      return row === undefined ? null : Row.parse(row);
    },
    current: (jid) => Jid.parse(current.get({ jid })).jid,
    unregistered: (limit) => unregistered.all(limit).map((row) => Row.parse(row)),
    dismiss: (jid) => void dismiss.run(jid),
    isDismissed: (jid) => isDismissed.get(jid) !== undefined,
    traffic: () => traffic.all().map((row) => TrafficRow.parse(row)),
  };
}
