import { z } from 'zod';
import { type OpenDatabase, withoutWaiting } from '../../lib/own-database.ts';
import { openSentMessages, type SentMessages } from '../kit/sent-messages.ts';

const MIGRATION = `
  CREATE TABLE inbox (seq INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL) STRICT;
  CREATE TABLE file (
    jid TEXT NOT NULL, id TEXT NOT NULL, far_id TEXT NOT NULL, size INTEGER, name TEXT,
    seen_at INTEGER NOT NULL, PRIMARY KEY (jid, id)
  ) STRICT;
  CREATE INDEX file_by_time ON file (seen_at);
  CREATE TABLE edit (jid TEXT NOT NULL, far_id TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (jid, far_id)) STRICT;`;
const KEPT_MS = 30 * 86_400_000;

/** A file as signal-cli has it. */
export type FileReference = {
  readonly farId: string;
  readonly size: number | null;
  readonly name: string | null;
};

/** An event that signal-cli has told, and that the host has not stored yet. */
export type KeptEvent = { readonly seq: number; readonly event: string };

/** The records that the channel keeps on disk. */
export type Records = {
  readonly sent: SentMessages;
  /** signal-cli forgets an event once it has told it: here it waits for the host. */
  readonly inbox: {
    add(event: string): void;
    next(): KeptEvent | null;
    done(seq: number): void;
  };
  readonly files: {
    keep(jid: string, id: string, file: FileReference): void;
    of(jid: string, id: string): FileReference | null;
  };
  /** The number of edits of a message: apps take ten and drop the others. */
  readonly edits: {
    count(jid: string, farId: string): number;
    note(jid: string, before: string, after: string): void;
  };
  forgetChat(jid: string): void;
};

const SignalEvent = z.object({ seq: z.int(), event: z.string() });
const SignalFile = z.object({
  farId: z.string(),
  size: z.number().nullable(),
  name: z.string().nullable(),
});
const Count = z.object({ count: z.int() });

/** Opens the channel's database. */
export function openRecords(openDatabase: OpenDatabase, now: () => number): Records {
  const sent = openSentMessages(openDatabase, now, [MIGRATION]);
  const database = openDatabase([]);
  const add = database.prepare('INSERT INTO inbox (event) VALUES (?)');
  const next = database.prepare('SELECT seq, event FROM inbox ORDER BY seq LIMIT 1');
  const done = database.prepare('DELETE FROM inbox WHERE seq = ?');
  const keep = database.prepare(
    'INSERT OR REPLACE INTO file VALUES (:jid, :id, :farId, :size, :name, :now)',
  );
  const find = database.prepare(
    'SELECT far_id AS farId, size, name FROM file WHERE jid = ? AND id = ?',
  );
  const count = database.prepare('SELECT count FROM edit WHERE jid = ? AND far_id = ?');
  const noteEdit = database.prepare('INSERT OR REPLACE INTO edit VALUES (?, ?, ?)');
  const dropEdit = database.prepare('DELETE FROM edit WHERE jid = ? AND far_id = ?');
  const forget = ['file', 'edit'].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE jid = ?`),
  );
  database.prepare('DELETE FROM file WHERE seen_at < ?').run(now() - KEPT_MS);
  const countOf = (jid: string, farId: string) =>
    Count.optional().parse(count.get(jid, farId))?.count ?? 0;
  return {
    sent,
    inbox: {
      add: (event) => void add.run(event),
      next: () => SignalEvent.optional().parse(next.get()) ?? null,
      // Lost, it is handed over again, and known to the host.
      done: (seq) => withoutWaiting(database, () => void done.run(seq)),
    },
    files: {
      keep: (jid, id, file) => void keep.run({ jid, id, ...file, now: now() }),
      of: (jid, id) => SignalFile.optional().parse(find.get(jid, id)) ?? null,
    },
    edits: {
      count: countOf,
      note(jid, before, after) {
        noteEdit.run(jid, after, countOf(jid, before) + 1);
        dropEdit.run(jid, before);
      },
    },
    forgetChat(jid) {
      sent.forgetChat(jid);
      for (const statement of forget) statement.run(jid);
    },
  };
}
