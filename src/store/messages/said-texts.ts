import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** Messages of people, or answers of the assistant. Each kind has its own cursor. */
export type SaidKind = 'message' | 'answer';

/** Something that was said in a chat; `sender` is null for the assistant. */
export type SaidText = {
  readonly seq: number;
  readonly sender: string | null;
  readonly saidAt: number;
  readonly text: string;
};

/** A place in what was said in a chat. */
export type SaidCursor = { readonly jid: string; readonly kind: SaidKind; readonly seq: number };

/** Everything that was said in a chat, read from its beginning, for data that is kept beside the database. */
export interface SaidTexts {
  /** Returns what follows a cursor, oldest first, without commands and what the host said itself. */
  after(cursor: SaidCursor, limit: number): readonly SaidText[];
  /**
   * Returns the first `seq` of a chat, and the number of rows up to a cursor, commands among them. They change
   * where a chat was deleted or became part of another.
   */
  extent(cursor: SaidCursor): { readonly first: number | null; readonly count: number };
}

const Row = z
  .object({
    seq: z.int(),
    sender: z.string().nullable(),
    said_at: z.int(),
    text: z.string(),
  })
  .transform(({ said_at: saidAt, ...row }) => ({ ...row, saidAt }));
const Extent = z.object({ first: z.int().nullable(), count: z.int() });

export function openSaid(database: Database): SaidTexts {
  const extentOf = (table: string) =>
    database.prepare(`
      SELECT (SELECT min(seq) FROM ${table} WHERE jid = :jid) AS first,
        (SELECT count(*) FROM ${table} WHERE jid = :jid AND seq <= :seq) AS count`);
  const statements = {
    message: {
      after: database.prepare(`
        SELECT seq, coalesce(sender_name, sender) AS sender, sent_at AS said_at, text FROM messages
        WHERE jid = :jid AND seq > :seq
          AND seq NOT IN (SELECT upto_seq FROM turns WHERE jid = :jid AND kind = 'command')
        ORDER BY seq LIMIT :limit`),
      extent: extentOf('messages'),
    },
    answer: {
      after: database.prepare(`
        SELECT seq, NULL AS sender, said_at, text FROM answers
        WHERE jid = :jid AND seq > :seq AND seq NOT IN (SELECT seq FROM host_answers)
        ORDER BY seq LIMIT :limit`),
      extent: extentOf('answers'),
    },
  };
  return {
    after: ({ kind, jid, seq }, limit) =>
      statements[kind].after.all({ jid, seq, limit }).map((row) => Row.parse(row)),
    extent: ({ kind, jid, seq }) => Extent.parse(statements[kind].extent.get({ jid, seq })),
  };
}
