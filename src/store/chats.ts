import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** A chat that exists somewhere; being here gives it no rights. */
export type Chat = {
  readonly jid: string;
  readonly channel: string;
  readonly name: string | null;
  readonly isDirect: boolean;
};

export interface Chats {
  /** Adds the chat, or keeps its name up to date; a missing name never replaces a known one. */
  see(chat: Chat, now: number): void;
  /** Chats that are no registered group, newest first. */
  unregistered(): readonly Chat[];
}

const Row = z
  .object({ jid: z.string(), channel: z.string(), name: z.string().nullable(), is_direct: z.int() })
  .transform((row) => ({
    jid: row.jid,
    channel: row.channel,
    name: row.name,
    isDirect: row.is_direct === 1,
  }));

export function chatsOf(database: Database): Chats {
  const see = database.prepare(`
    INSERT INTO chats (jid, channel, name, is_direct, seen_at)
    VALUES (:jid, :channel, :name, :isDirect, :now)
    ON CONFLICT (jid) DO UPDATE SET name = coalesce(:name, name), seen_at = :now`);
  const unregistered = database.prepare(`
    SELECT jid, channel, name, is_direct FROM chats
    WHERE jid NOT IN (SELECT jid FROM groups) ORDER BY seen_at DESC, jid LIMIT 200`);
  return {
    see: (chat, now) => void see.run({ ...chat, isDirect: Number(chat.isDirect), now }),
    unregistered: () => unregistered.all().map((row) => Row.parse(row)),
  };
}
