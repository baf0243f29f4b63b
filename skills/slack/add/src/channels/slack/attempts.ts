import { z } from 'zod';
import type { OpenDatabase } from '../../lib/own-database.ts';

const KEPT_MS = 30 * 86_400_000;

/** The table of attempts, in the channel's database. */
export const ATTEMPT_MIGRATIONS = [
  `CREATE TABLE attempt (
     id TEXT NOT NULL, part INTEGER NOT NULL, jid TEXT NOT NULL, thread TEXT, text TEXT NOT NULL,
     begun_at INTEGER NOT NULL, PRIMARY KEY (id, part)
   ) STRICT;
   CREATE TABLE upload (
     id TEXT NOT NULL, part INTEGER NOT NULL, jid TEXT NOT NULL, file_id TEXT NOT NULL,
     begun_at INTEGER NOT NULL, PRIMARY KEY (id, part)
   ) STRICT;`,
];

const Attempt = z.object({
  part: z.int(),
  thread: z.string().nullable(),
  text: z.string(),
  begunAt: z.int(),
});
const Upload = z.object({ fileId: z.string(), begunAt: z.int() });

/** A part of a message or draft that was posted, without a note of what became of it. */
export type Attempt = Readonly<z.output<typeof Attempt>>;
/** A file that was shown in a conversation, or nearly. */
export type Upload = Readonly<z.output<typeof Upload>>;

type Part = { readonly id: string; readonly part: number };

/**
 * What Slack may have of a message, whatever became of the process that sent it: it takes no ids of ours by which it
 * would know one that is repeated. Each is on disk before Slack gets it.
 */
export interface Attempts {
  /** Notes a part before it is posted; one that is repeated counts from its first attempt on. */
  begin(attempt: Part & Omit<Attempt, 'begunAt'> & { readonly jid: string }): void;
  of(id: string): readonly Attempt[];
  /** The outcome of a part is known. */
  end(part: Part): void;
  beginUpload(upload: Part & { readonly jid: string; readonly fileId: string }): void;
  uploadOf(part: Part): Upload | null;
  forgetChat(jid: string): void;
}

/** Opens the attempts, in a database that has their tables, and forgets those of a month ago. */
export function openAttempts(openDatabase: OpenDatabase, now: () => number): Attempts {
  const database = openDatabase([]);
  const begin = database.prepare(
    `INSERT INTO attempt (id, part, jid, thread, text, begun_at)
     VALUES (:id, :part, :jid, :thread, :text, :now)
     ON CONFLICT (id, part) DO UPDATE SET text = excluded.text, thread = excluded.thread`,
  );
  const attempts = database.prepare(
    'SELECT part, thread, text, begun_at AS begunAt FROM attempt WHERE id = ? ORDER BY part',
  );
  const end = database.prepare('DELETE FROM attempt WHERE id = :id AND part = :part');
  const beginUpload = database.prepare(
    `INSERT OR REPLACE INTO upload (id, part, jid, file_id, begun_at)
     VALUES (:id, :part, :jid, :fileId, :now)`,
  );
  const upload = database.prepare(
    'SELECT file_id AS fileId, begun_at AS begunAt FROM upload WHERE id = :id AND part = :part',
  );
  for (const table of ['attempt', 'upload']) {
    database.prepare(`DELETE FROM ${table} WHERE begun_at < ?`).run(now() - KEPT_MS);
  }
  return {
    begin: (attempt) => void begin.run({ ...attempt, now: now() }),
    of: (id) => attempts.all(id).map((row) => Attempt.parse(row)),
    end: (part) => void end.run(part),
    beginUpload: (one) => void beginUpload.run({ ...one, now: now() }),
    uploadOf: (part) => Upload.optional().parse(upload.get(part)) ?? null,
    forgetChat(jid) {
      for (const table of ['attempt', 'upload']) {
        database.prepare(`DELETE FROM ${table} WHERE jid = ?`).run(jid);
      }
    },
  };
}
