import { join } from 'node:path';
import { z } from 'zod';
import type { OwnDatabase } from '../../../lib/own-database.ts';

const KEPT_MS = 30 * 86_400_000;

/** The table of references to files, in the channel's database. */
export const FILE_MIGRATION = `CREATE TABLE file (
   jid TEXT NOT NULL, id TEXT NOT NULL, far_id TEXT NOT NULL, attachment_id TEXT NOT NULL,
   seen_at INTEGER NOT NULL, PRIMARY KEY (jid, id)
 ) STRICT;
 CREATE INDEX file_by_time ON file (seen_at);`;

/** The place of a file at Discord. Its address is asked for each time: it is good for a day. */
export type FileReference = { readonly farId: string; readonly attachmentId: string };

const Row = z.object({ farId: z.string(), attachmentId: z.string() });

/** References to the files that came with messages. They are on disk; contents are fetched when asked for. */
export interface FileReferences {
  keep(jid: string, messageId: string, file: FileReference): void;
  of(jid: string, messageId: string): FileReference | null;
  forgetChat(jid: string): void;
}

/** Opens the references, in a database that has the table for them, and forgets those of a month ago. */
export function openFileReferences(database: OwnDatabase, now: () => number): FileReferences {
  const insert = database.prepare(
    `INSERT OR IGNORE INTO file (jid, id, far_id, attachment_id, seen_at)
     VALUES (:jid, :messageId, :farId, :attachmentId, :now)`,
  );
  const find = database.prepare(
    'SELECT far_id AS farId, attachment_id AS attachmentId FROM file WHERE jid = ? AND id = ?',
  );
  const forget = database.prepare('DELETE FROM file WHERE jid = ?');
  database.prepare('DELETE FROM file WHERE seen_at < ?').run(now() - KEPT_MS);
  return {
    keep: (jid, messageId, file) => void insert.run({ jid, messageId, ...file, now: now() }),
    of: (jid, messageId) => Row.optional().parse(find.get(jid, messageId)) ?? null,
    forgetChat: (jid) => void forget.run(jid),
  };
}

/** Returns the folder of files that were fetched and that the host has not yet taken. */
export function fetchedFolder(dataDir: string): string {
  return join(dataDir, 'discord', 'media');
}
