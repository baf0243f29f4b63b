import type { Database } from 'better-sqlite3';
import { z } from 'zod';

export type NewMessage = {
  readonly jid: string;
  readonly id: string;
  readonly sender: string;
  readonly senderName: string | null;
  readonly isOwner: boolean;
  readonly text: string;
  readonly sentAt: number;
  /** Somebody else wrote its words or files: it was forwarded, or has files that are no voice message. */
  readonly isOutside?: boolean;
  /** The thread within the chat, where the channel has such. */
  readonly thread?: string;
  /** The thread as people know it. */
  readonly threadName?: string;
};

/** A press on a choice, which the channel knows by no id. `of` is the turn that had asked. */
export type NewPress = Pick<NewMessage, 'jid' | 'sender' | 'isOwner' | 'text'> & {
  readonly question: string;
  readonly of: string | null;
};

/** Begins the ids of presses: no message of a channel can be shown to be answered by them. */
export const PRESS = 'press:';

/** `seq` is the cursor: it grows with every message that is stored, whatever the clocks say. */
export type StoredMessage = NewMessage & { readonly seq: number };

export interface Messages {
  /** Returns the new cursor, or null for a message that is here already (a redelivery). */
  add(message: NewMessage, now: number): number | null;
  has(jid: string, id: string): boolean;
  /** Stores a press as the words that it says, in the thread of its question. Null where it is here already. */
  addPress(press: NewPress, now: number): number | null;
  bySeq(seq: number): StoredMessage | null;
  /**
   * Returns the last `limit` messages of a chat between two cursors, both included, oldest first; without
   * those that were commands.
   */
  between(range: MessageRange, limit: number): readonly StoredMessage[];
  countBetween(range: MessageRange): number;
  /** Returns the authors in a chat, with the last name of each. */
  sendersOf(jid: string): readonly Sender[];
  /** Deletes everything that was said in a chat, by whomever. */
  removeOf(jid: string): void;
}

export type Sender = { readonly sender: string; readonly name: string | null };

export type MessageRange = { readonly jid: string; readonly from: number; readonly upto: number };

const Row = z
  .object({
    seq: z.int(),
    jid: z.string(),
    id: z.string(),
    sender: z.string(),
    sender_name: z.string().nullable(),
    is_owner: z.int(),
    text: z.string(),
    sent_at: z.int(),
    thread_name: z.string().nullable(),
  })
  .transform((row) => ({
    seq: row.seq,
    jid: row.jid,
    id: row.id,
    sender: row.sender,
    senderName: row.sender_name,
    isOwner: row.is_owner === 1,
    text: row.text,
    sentAt: row.sent_at,
    ...(row.thread_name === null ? {} : { threadName: row.thread_name }),
  }));
const SenderRow = z.object({ sender: z.string(), name: z.string().nullable() });
const Count = z.object({ count: z.int() });

export function openMessages(database: Database): Messages {
  const columns =
    'SELECT seq, jid, id, sender, sender_name, is_owner, text, sent_at, thread_name FROM messages';
  // Owner's commands and the answers to their questions are between the owner and the host.
  const commands = "SELECT upto_seq FROM turns WHERE jid = :jid AND kind = 'command'";
  const range = `jid = :jid AND seq BETWEEN :from AND :upto AND seq NOT IN (${commands})`;
  const insert = database.prepare(`
    INSERT INTO messages (jid, id, sender, sender_name, is_owner, text, sent_at, thread, thread_name,
      is_outside, stored_at)
    VALUES (:jid, :id, :sender, :senderName, :isOwner, :text, :sentAt, :thread, :threadName,
      :isOutside, :now)
    ON CONFLICT (jid, id) DO NOTHING`);
  const has = database.prepare('SELECT 1 FROM messages WHERE jid = ? AND id = ?');
  const insertPress = database.prepare(`
    INSERT INTO messages (jid, id, sender, sender_name, is_owner, text, sent_at, thread, stored_at)
    VALUES (:jid, :id, :sender,
      (SELECT sender_name FROM messages WHERE jid = :jid AND sender = :sender ORDER BY seq DESC LIMIT 1),
      :isOwner, :text, :now,
      (SELECT asked.thread FROM turns JOIN messages AS asked ON asked.seq = turns.upto_seq
       WHERE turns.id = :of AND turns.jid = :jid), :now)
    ON CONFLICT (jid, id) DO NOTHING`);
  const bySeq = database.prepare(`${columns} WHERE seq = ?`);
  const between = database.prepare(`${columns} WHERE ${range} ORDER BY seq DESC LIMIT :limit`);
  const count = database.prepare(`SELECT count(*) AS count FROM messages WHERE ${range}`);
  // A bare column beside max() is taken from the row that holds the maximum.
  const senders = database.prepare(`
    SELECT sender, name FROM (
      SELECT sender, sender_name AS name, max(seq) FROM messages WHERE jid = ? GROUP BY sender)
    ORDER BY sender`);
  const remove = database.prepare('DELETE FROM messages WHERE jid = ?');
  const removeAnswers = database.prepare('DELETE FROM answers WHERE jid = ?');
  return {
    add(message, now) {
      const { changes, lastInsertRowid } = insert.run({
        ...message,
        isOwner: Number(message.isOwner),
        thread: message.thread ?? null,
        threadName: message.threadName ?? null,
        isOutside: Number(message.isOutside ?? false),
        now,
      });
      return changes === 0 ? null : Number(lastInsertRowid);
    },
    has: (jid, id) => has.get(jid, id) !== undefined,
    addPress({ jid, question, sender, isOwner, text, of }, now) {
      const id = `${PRESS}${question}`;
      const row = { jid, id, sender, isOwner: Number(isOwner), text, of, now };
      const { changes, lastInsertRowid } = insertPress.run(row);
      return changes === 0 ? null : Number(lastInsertRowid);
    },
    bySeq(seq) {
      const row = bySeq.get(seq);
      return row === undefined ? null : Row.parse(row);
    },
    between: (asked, limit) =>
      between
        .all({ ...asked, limit })
        .map((row) => Row.parse(row))
        .reverse(),
    countBetween: (asked) => Count.parse(count.get(asked)).count,
    sendersOf: (jid) => senders.all(jid).map((row) => SenderRow.parse(row)),
    removeOf(jid) {
      remove.run(jid);
      removeAnswers.run(jid);
    },
  };
}

/** A file that came with a message, as its sender describes it; what it holds is not kept here. */
type StoredAttachment = {
  readonly kind: string;
  readonly mimeType: string | null;
  readonly sizeBytes: number | null;
  readonly name: string | null;
};

export interface Attachments {
  /** Adds attachments, which are deleted with their message. */
  add(messageSeq: number, attachments: readonly StoredAttachment[]): void;
  /** Returns the attachments of a message in a chat, by the message's own id. */
  of(jid: string, messageId: string): readonly StoredAttachment[];
}

const AttachmentRow = z
  .object({
    kind: z.string(),
    mime_type: z.string().nullable(),
    size_bytes: z.int().nullable(),
    name: z.string().nullable(),
  })
  .transform(({ kind, mime_type: mimeType, size_bytes: sizeBytes, name }) => ({
    kind,
    mimeType,
    sizeBytes,
    name,
  }));

export function openAttachments(database: Database): Attachments {
  const insert = database.prepare(`
    INSERT INTO attachments (message_seq, number, kind, mime_type, size_bytes, name)
    VALUES (:seq, :number, :kind, :mimeType, :sizeBytes, :name)`);
  const find = database.prepare(`
    SELECT attachments.kind, mime_type, size_bytes, name FROM attachments
    JOIN messages ON messages.seq = message_seq
    WHERE messages.jid = ? AND messages.id = ? ORDER BY number`);
  return {
    add(seq, attachments) {
      for (const [number, { kind, mimeType, sizeBytes, name }] of attachments.entries()) {
        insert.run({ seq, number, kind, mimeType, sizeBytes, name });
      }
    },
    of: (jid, messageId) => find.all(jid, messageId).map((row) => AttachmentRow.parse(row)),
  };
}
