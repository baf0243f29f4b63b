import { z } from 'zod';
import { type OpenDatabase, withoutWaiting } from '../../lib/own-database.ts';

const MIGRATIONS = [
  `CREATE TABLE cursor (
     mailbox TEXT PRIMARY KEY, uid_validity TEXT, last_uid INTEGER NOT NULL, since INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE mail (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, jid TEXT NOT NULL, id TEXT NOT NULL, message_id TEXT,
     refs TEXT NOT NULL, subject TEXT NOT NULL, thread TEXT NOT NULL, at INTEGER NOT NULL, UNIQUE (jid, id)
   ) STRICT;
   CREATE INDEX mail_of_thread ON mail (jid, thread);
   CREATE INDEX mail_by_message_id ON mail (message_id);
   CREATE TABLE file (
     jid TEXT NOT NULL, id TEXT NOT NULL, uid INTEGER NOT NULL, uid_validity TEXT NOT NULL, part TEXT NOT NULL,
     size INTEGER NOT NULL, name TEXT, at INTEGER NOT NULL, PRIMARY KEY (jid, id)
   ) STRICT;
   CREATE TABLE member (jid TEXT NOT NULL, address TEXT NOT NULL, PRIMARY KEY (jid, address)) STRICT;
   CREATE TABLE sent (
     id TEXT PRIMARY KEY, message_id TEXT NOT NULL, jid TEXT NOT NULL, thread TEXT NOT NULL,
     is_done INTEGER NOT NULL, at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX sent_by_message_id ON sent (message_id);
   CREATE INDEX sent_of_thread ON sent (jid, thread, at);`,
];
/** Older mail is answered without its headers. */
const KEPT_MS = 90 * 86_400_000;

const Cursor = z.object({
  uidValidity: z.string().nullable(),
  lastUid: z.int(),
  since: z.number(),
});
const Mail = z.object({
  jid: z.string(),
  id: z.string(),
  messageId: z.string().nullable(),
  refs: z.string(),
  subject: z.string(),
  thread: z.string(),
});
const FileRow = z.object({
  uid: z.int(),
  uidValidity: z.string(),
  part: z.string(),
  size: z.int(),
  name: z.string().nullable(),
});
const Sent = z.object({ messageId: z.string(), isDone: z.int() });

/** The place up to which a mailbox is stored. Without a `uidValidity` nothing was read yet. */
export type Cursor = z.output<typeof Cursor>;
/** A mail that came in, as far as an answer needs it. `refs` are message ids with spaces between them. */
export type KnownMail = z.output<typeof Mail>;
/** The place of a file in the mailbox. */
export type FilePlace = z.output<typeof FileRow>;

/** All that the channel keeps on disk. */
export interface Records {
  /** Returns the mailbox's cursor, which begins at this moment. */
  cursor(mailbox: string): Cursor;
  advance(mailbox: string, uidValidity: string, lastUid: number): void;
  noteMail(mail: KnownMail): void;
  mail(jid: string, id: string): KnownMail | null;
  /** Returns the last mail of a thread; of the chat where no thread is named. */
  lastMail(jid: string, thread: string | null): KnownMail | null;
  /** Returns the thread in which a message of either side is; null for none that is known. */
  threadOf(messageId: string): string | null;
  noteFile(jid: string, id: string, file: FilePlace): void;
  file(jid: string, id: string): FilePlace | null;
  addMember(jid: string, address: string): void;
  members(jid: string): readonly string[];
  /** Returns how far a message is: its id for the world is the same each time. */
  begin(sent: {
    id: string;
    messageId: string;
    jid: string;
    thread: string;
  }): 'new' | 'begun' | 'done';
  /** Nobody has got it: the next attempt is the first one. */
  withdraw(id: string): void;
  done(id: string): void;
  /** Counts what was sent in a thread since then; in the whole chat where none is named. */
  sentSince(jid: string, thread: string | null, since: number): number;
  forgetChat(jid: string): void;
}

/** Opens the records in the channel's own database. */
export function openRecords(openDatabase: OpenDatabase, now: () => number): Records {
  const database = openDatabase(MIGRATIONS);
  const mailColumns = 'jid, id, message_id AS messageId, refs, subject, thread';
  const prepare = (sql: string) => database.prepare(sql);
  const cursor = prepare(
    'SELECT uid_validity AS uidValidity, last_uid AS lastUid, since FROM cursor WHERE mailbox = ?',
  );
  const beginCursor = prepare('INSERT INTO cursor VALUES (?, NULL, 0, ?)');
  const advance = prepare('UPDATE cursor SET uid_validity = ?, last_uid = ? WHERE mailbox = ?');
  const noteMail = prepare(
    `INSERT OR IGNORE INTO mail (jid, id, message_id, refs, subject, thread, at)
     VALUES (:jid, :id, :messageId, :refs, :subject, :thread, :now)`,
  );
  const mail = prepare(`SELECT ${mailColumns} FROM mail WHERE jid = ? AND id = ?`);
  const lastMail = prepare(
    `SELECT ${mailColumns} FROM mail WHERE jid = :jid AND (:thread IS NULL OR thread = :thread) ORDER BY seq DESC LIMIT 1`,
  );
  const threadOf = prepare(
    `SELECT thread FROM mail WHERE message_id = :id UNION ALL SELECT thread FROM sent WHERE message_id = :id LIMIT 1`,
  );
  const noteFile = prepare(
    `INSERT OR REPLACE INTO file VALUES (:jid, :id, :uid, :uidValidity, :part, :size, :name, :now)`,
  );
  const file = prepare(
    'SELECT uid, uid_validity AS uidValidity, part, size, name FROM file WHERE jid = ? AND id = ?',
  );
  const addMember = prepare('INSERT OR IGNORE INTO member VALUES (?, ?)');
  const members = prepare('SELECT address FROM member WHERE jid = ? ORDER BY rowid').pluck();
  const sent = prepare('SELECT message_id AS messageId, is_done AS isDone FROM sent WHERE id = ?');
  const begin = prepare('INSERT INTO sent VALUES (:id, :messageId, :jid, :thread, 0, :now)');
  const withdraw = prepare('DELETE FROM sent WHERE id = ? AND is_done = 0');
  const done = prepare('UPDATE sent SET is_done = 1 WHERE id = ?');
  const count = prepare(
    'SELECT count(*) FROM sent WHERE jid = :jid AND (:thread IS NULL OR thread = :thread) AND is_done = 1 AND at > :since',
  ).pluck();
  const tables = ['mail', 'file', 'member', 'sent'];
  for (const table of ['mail', 'file', 'sent']) {
    prepare(`DELETE FROM ${table} WHERE at < ?`).run(now() - KEPT_MS);
  }

  // A power cut that takes back what was noted of a mail takes back the cursor's step past it as well: it is read again.
  const inPassing = (work: () => unknown) => void withoutWaiting(database, work);
  return {
    cursor(mailbox) {
      if (cursor.get(mailbox) === undefined) beginCursor.run(mailbox, now());
      return Cursor.parse(cursor.get(mailbox));
    },
    advance: (mailbox, uidValidity, lastUid) =>
      inPassing(() => advance.run(uidValidity, lastUid, mailbox)),
    noteMail: (one) => inPassing(() => noteMail.run({ ...one, now: now() })),
    mail: (jid, id) => Mail.optional().parse(mail.get(jid, id)) ?? null,
    lastMail: (jid, thread) => Mail.optional().parse(lastMail.get({ jid, thread })) ?? null,
    threadOf(id) {
      const row = z.object({ thread: z.string() }).optional().parse(threadOf.get({ id }));
      return row?.thread ?? null;
    },
    noteFile: (jid, id, place) => inPassing(() => noteFile.run({ jid, id, ...place, now: now() })),
    file: (jid, id) => FileRow.optional().parse(file.get(jid, id)) ?? null,
    addMember: (jid, address) => void addMember.run(jid, address),
    members: (jid) => z.array(z.string()).parse(members.all(jid)),
    begin({ id, ...others }) {
      const row = Sent.optional().parse(sent.get(id));
      if (row !== undefined) return row.isDone === 1 ? 'done' : 'begun';
      begin.run({ id, ...others, now: now() });
      return 'new';
    },
    withdraw: (id) => void withdraw.run(id),
    done: (id) => void done.run(id),
    sentSince: (jid, thread, since) => z.int().parse(count.get({ jid, thread, since })),
    forgetChat(jid) {
      for (const table of tables) prepare(`DELETE FROM ${table} WHERE jid = ?`).run(jid);
    },
  };
}
