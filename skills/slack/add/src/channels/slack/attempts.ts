import { z } from 'zod';
import type { OpenDatabase } from '../../lib/own-database.ts';
import {
  ATTEMPT_MIGRATION,
  type Attempts as KitAttempts,
  openAttempts as openKitAttempts,
} from '../kit/attempts.ts';

const KEPT_MS = 30 * 86_400_000;

/** The tables of attempts, in the channel's database. */
export const ATTEMPT_MIGRATIONS = [
  `${ATTEMPT_MIGRATION}
   CREATE TABLE upload (
     id TEXT NOT NULL, part INTEGER NOT NULL, jid TEXT NOT NULL, file_id TEXT NOT NULL,
     begun_at INTEGER NOT NULL, PRIMARY KEY (id, part)
   ) STRICT;`,
];

const Upload = z.object({ fileId: z.string(), begunAt: z.int() });

/** A file that was shown in a conversation, or nearly. */
export type Upload = Readonly<z.output<typeof Upload>>;

type Part = { readonly id: string; readonly part: number };

/**
 * What Slack may have of a message, whatever became of the process that sent it: it takes no ids of ours by which it
 * would know one that is repeated. Each is on disk before Slack gets it.
 */
export interface Attempts extends KitAttempts {
  beginUpload(upload: Part & { readonly jid: string; readonly fileId: string }): void;
  uploadOf(part: Part): Upload | null;
}

/** Opens the attempts, in a database that has their tables, and forgets those of a month ago. */
export function openAttempts(openDatabase: OpenDatabase, now: () => number): Attempts {
  const attempts = openKitAttempts(openDatabase, now);
  const database = openDatabase([]);
  const beginUpload = database.prepare(
    `INSERT OR REPLACE INTO upload (id, part, jid, file_id, begun_at)
     VALUES (:id, :part, :jid, :fileId, :now)`,
  );
  const upload = database.prepare(
    'SELECT file_id AS fileId, begun_at AS begunAt FROM upload WHERE id = :id AND part = :part',
  );
  const forgetUploads = database.prepare('DELETE FROM upload WHERE jid = ?');
  database.prepare('DELETE FROM upload WHERE begun_at < ?').run(now() - KEPT_MS);
  return {
    ...attempts,
    beginUpload: (one) => void beginUpload.run({ ...one, now: now() }),
    uploadOf: (part) => Upload.optional().parse(upload.get(part)) ?? null,
    forgetChat(jid) {
      attempts.forgetChat(jid);
      forgetUploads.run(jid);
    },
  };
}
