import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** A file that came with a message, as its sender describes it; what it holds is not kept here. */
export type StoredAttachment = {
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

const Row = z
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
    of: (jid, messageId) => find.all(jid, messageId).map((row) => Row.parse(row)),
  };
}
