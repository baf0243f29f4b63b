import { join } from 'node:path';
import { z } from 'zod';
import type { OwnDatabase } from '../../../lib/own-database.ts';

const KEPT_MS = 30 * 86_400_000;

/** The table of references to files, in the channel's database. */
export const FILE_MIGRATION = `CREATE TABLE file (
   jid TEXT NOT NULL, id TEXT NOT NULL, reference TEXT NOT NULL, seen_at INTEGER NOT NULL, PRIMARY KEY (jid, id)
 ) STRICT;
 CREATE INDEX file_by_time ON file (seen_at);`;

const Reference = z.object({
  /** The address within Matrix: `mxc://example.org/abc`. */
  url: z.string(),
  name: z.string().nullable(),
  sizeBytes: z.number().nullable(),
  /** Keys of a file that is encrypted, as its message has them; null for one that is not. */
  encryption: z.string().nullable(),
});

/** The place of a file. */
export type FileReference = z.output<typeof Reference>;

const Row = z.object({ reference: z.string() });

/** References to the files that came with messages. They are on disk; contents are fetched when asked for. */
export interface FileReferences {
  keep(jid: string, messageId: string, file: FileReference): void;
  of(jid: string, messageId: string): FileReference | null;
  forgetChat(jid: string): void;
}

/** Opens the references, in a database that has the table for them, and forgets those of a month ago. */
export function openFileReferences(database: OwnDatabase, now: () => number): FileReferences {
  const insert = database.prepare(
    'INSERT OR IGNORE INTO file (jid, id, reference, seen_at) VALUES (?, ?, ?, ?)',
  );
  const find = database.prepare('SELECT reference FROM file WHERE jid = ? AND id = ?');
  const forget = database.prepare('DELETE FROM file WHERE jid = ?');
  database.prepare('DELETE FROM file WHERE seen_at < ?').run(now() - KEPT_MS);
  return {
    keep: (jid, messageId, file) =>
      void insert.run(jid, messageId, JSON.stringify(file), Math.round(now())),
    of(jid, messageId) {
      const row = Row.optional().parse(find.get(jid, messageId));
      return row === undefined ? null : Reference.parse(JSON.parse(row.reference));
    },
    forgetChat: (jid) => void forget.run(jid),
  };
}

/** Returns the folder of files that were fetched and that the host has not yet taken. */
export function fetchedFolder(dataDir: string): string {
  return join(dataDir, 'matrix', 'media');
}
