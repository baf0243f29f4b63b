import { join } from 'node:path';
import { z } from 'zod';
import type { OpenDatabase } from '../../lib/own-database.ts';

const KEPT_MS = 30 * 86_400_000;

/** The table of Slack's ids of files, in the channel's database. */
export const FILE_MIGRATIONS = [
  `CREATE TABLE file (
     jid TEXT NOT NULL, id TEXT NOT NULL, file_id TEXT NOT NULL, seen_at INTEGER NOT NULL,
     PRIMARY KEY (jid, id)
   ) STRICT;
   CREATE INDEX file_by_time ON file (seen_at);`,
];

const Row = z.object({ fileId: z.string() });

/** Ids of the files that came with messages. They are on disk; a file is asked for by its id when it is fetched. */
export interface FileReferences {
  keep(jid: string, messageId: string, fileId: string): void;
  of(jid: string, messageId: string): string | null;
  forgetChat(jid: string): void;
}

/** Opens the references, in a database that has the table for them, and forgets those of a month ago. */
export function openFileReferences(openDatabase: OpenDatabase, now: () => number): FileReferences {
  // What was sent is in the same database, which was opened with the migrations of both.
  const database = openDatabase([]);
  const insert = database.prepare(
    'INSERT OR IGNORE INTO file (jid, id, file_id, seen_at) VALUES (:jid, :messageId, :fileId, :now)',
  );
  const find = database.prepare('SELECT file_id AS fileId FROM file WHERE jid = ? AND id = ?');
  const forget = database.prepare('DELETE FROM file WHERE jid = ?');
  database.prepare('DELETE FROM file WHERE seen_at < ?').run(now() - KEPT_MS);
  return {
    keep: (jid, messageId, fileId) => void insert.run({ jid, messageId, fileId, now: now() }),
    of: (jid, messageId) => Row.optional().parse(find.get(jid, messageId))?.fileId ?? null,
    forgetChat: (jid) => void forget.run(jid),
  };
}

/** Returns the folder of files that were fetched and that the host has not yet taken. */
export function fetchedFolder(dataDir: string): string {
  return join(dataDir, 'slack', 'media');
}
