import { z } from 'zod';
import { type OwnDatabase, withoutWaiting } from '../../../lib/own-database.ts';
import type { SavedSession } from '../gateway/session.ts';

/** The table of the session, in the channel's database. */
export const SESSION_MIGRATION = `CREATE TABLE session (
   one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, resume_url TEXT NOT NULL,
   sequence INTEGER NOT NULL, api_url TEXT NOT NULL
 ) STRICT;`;

const Row = z.object({
  id: z.string(),
  resumeUrl: z.string(),
  sequence: z.int(),
  apiUrl: z.string(),
});

/** The session at the gateway, on disk: a later process goes on where this one ended. */
export interface SessionBook {
  load(): SavedSession | null;
  begin(session: SavedSession): void;
  /** Notes that all events up to this one are stored. */
  advance(sequence: number): void;
  drop(): void;
}

/** Opens the book, in a database that has the table for it. A session of another server is not gone on with. */
export function openSessionBook(database: OwnDatabase, apiUrl: string): SessionBook {
  const find = database.prepare(
    'SELECT id, resume_url AS resumeUrl, sequence, api_url AS apiUrl FROM session',
  );
  const replace = database.prepare(
    `INSERT OR REPLACE INTO session (one, id, resume_url, sequence, api_url)
     VALUES (1, :id, :resumeUrl, :sequence, :apiUrl)`,
  );
  const advance = database.prepare('UPDATE session SET sequence = ? WHERE sequence < ?');
  const drop = database.prepare('DELETE FROM session');
  return {
    load() {
      const row = Row.optional().parse(find.get());
      return row === undefined || row.apiUrl !== apiUrl ? null : row;
    },
    begin: (session) => void replace.run({ ...session, apiUrl }),
    // Lost, Discord sends the events after it once more.
    advance: (sequence) => withoutWaiting(database, () => void advance.run(sequence, sequence)),
    drop: () => void drop.run(),
  };
}
