import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** Something that was said in a chat, by a person or by the assistant. */
export type SaidInChat = {
  readonly jid: string;
  /** Milliseconds since the epoch: when a person sent it as their channel says, or when the assistant said it. */
  readonly at: number;
  /** The channel's id of the person; null for the assistant. */
  readonly sender: string | null;
  readonly senderName: string | null;
  readonly isOwner: boolean;
  readonly text: string;
};

const Row = z
  .object({
    jid: z.string(),
    at: z.int(),
    sender: z.string().nullable(),
    sender_name: z.string().nullable(),
    is_owner: z.int(),
    text: z.string(),
  })
  .transform(({ sender_name: senderName, is_owner: isOwner, ...row }) => ({
    ...row,
    senderName,
    isOwner: isOwner !== 0,
  }));

/**
 * Returns a reader for everything that was said in some chats, in the order in which it was stored, a row at a time.
 */
export function createTranscriptReader(
  database: Database,
): (jids: readonly string[]) => Iterable<SaidInChat> {
  const said = database.prepare(`
    SELECT jid, sent_at AS at, sender, sender_name, is_owner, text, stored_at AS stored, 0 AS kind, seq
    FROM messages WHERE jid IN (SELECT value FROM json_each(:jids))
    UNION ALL
    SELECT jid, said_at, NULL, NULL, 0, text, said_at, 1, seq
    FROM answers WHERE jid IN (SELECT value FROM json_each(:jids))
    ORDER BY stored, kind, seq`);
  return function* read(jids) {
    for (const row of said.iterate({ jids: JSON.stringify(jids) })) yield Row.parse(row);
  };
}
