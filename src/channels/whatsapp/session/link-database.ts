import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { WhatsAppError } from '../failure.ts';

const SCHEMA = `
  -- Who this device is: one row, replaced as a whole when the device is paired again.
  CREATE TABLE IF NOT EXISTS credentials (
    id INTEGER PRIMARY KEY CHECK (id = 1), json TEXT NOT NULL, is_removed INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE IF NOT EXISTS keys (
    type TEXT NOT NULL, id TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (type, id)
  ) STRICT, WITHOUT ROWID;
  -- Every address that was seen, with the one address that its chat goes by.
  CREATE TABLE IF NOT EXISTS addresses (jid TEXT PRIMARY KEY, chat TEXT NOT NULL) STRICT, WITHOUT ROWID;
  -- Chats that turned out to be one person's, until the host has made them one.
  CREATE TABLE IF NOT EXISTS merges (
    from_chat TEXT PRIMARY KEY, to_chat TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- What was decrypted and is not yet known to be stored by the host.
  CREATE TABLE IF NOT EXISTS inbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT NOT NULL UNIQUE, message TEXT NOT NULL,
    node BLOB NOT NULL, plain BLOB NOT NULL, received_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS inbox_by_message ON inbox (message);
  -- What goes out, stored before it is sent.
  CREATE TABLE IF NOT EXISTS sent (
    id TEXT PRIMARY KEY, jid TEXT NOT NULL, text TEXT NOT NULL, is_taken INTEGER NOT NULL DEFAULT 0,
    sent_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Of files and polls that go out: the message, which says where WhatsApp has the file, or how votes are read.
  CREATE TABLE IF NOT EXISTS sent_files (
    id TEXT PRIMARY KEY REFERENCES sent (id) ON DELETE CASCADE, message BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Of polls: the question that each asks, with the words of its options. Their messages are in sent_files.
  CREATE TABLE IF NOT EXISTS polls (
    id TEXT PRIMARY KEY REFERENCES sent (id) ON DELETE CASCADE, question TEXT NOT NULL, words TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Of what goes out: the host's message that it is a part of.
  CREATE TABLE IF NOT EXISTS sent_parts (
    id TEXT PRIMARY KEY REFERENCES sent (id) ON DELETE CASCADE, message TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS media (
    jid TEXT NOT NULL, id TEXT NOT NULL, json TEXT NOT NULL, seen_at INTEGER NOT NULL,
    PRIMARY KEY (jid, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

/** Days that messages are kept for a repetition, and references to media for a download. */
const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;

/** The link to WhatsApp on disk. */
export type LinkDatabase = {
  readonly database: Database.Database;
  readonly folder: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  close(): void;
};

/** Returns the folder of everything that belongs to the link. */
export function whatsAppFolder(dataDir: string): string {
  return join(dataDir, 'whatsapp');
}

/** Tells whether a link database exists; an assistant that was never paired has none. */
export function hasLinkDatabase(dataDir: string): boolean {
  return existsSync(linkDatabasePath(whatsAppFolder(dataDir)));
}

/**
 * Opens the link's database, for the owner's eyes alone, and for one process at a time: two that use one
 * pairing would end each other's connections and spoil each other's keys.
 *
 * `synchronous=FULL`: a key that was used up must not come back after a power cut.
 *
 * @throws WhatsAppError IN_USE
 */
export function openLinkDatabase(dataDir: string, now: () => number): LinkDatabase {
  const folder = whatsAppFolder(dataDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = linkDatabasePath(folder);
  // SQLite gives its own files the mode of the database.
  closeSync(openSync(path, 'a', 0o600));
  const database = new Database(path, { timeout: 100 });
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.exec(`BEGIN EXCLUSIVE; ${SCHEMA} COMMIT;`);
    forgetOld(database, now());
  } catch (error) {
    database.close();
    if (!(error instanceof Database.SqliteError) || error.code !== 'SQLITE_BUSY') throw error;
    throw new WhatsAppError(
      'IN_USE',
      `Another process is using the link to WhatsApp in ${folder}. Stop the assistant first.`,
      { cause: error },
    );
  }
  return { database, folder, now, close: () => void database.close() };
}

/**
 * Deletes everything kept of a chat except its addresses: references to its files, sent messages, and received ones
 * that were not stored. No byte of it stays in the file.
 */
export function forgetChat({ database }: LinkDatabase, jid: string): void {
  database.pragma('secure_delete = ON');
  database.transaction(() => {
    database.prepare('DELETE FROM media WHERE jid = ?').run(jid);
    database.prepare('DELETE FROM sent WHERE jid = ?').run(jid);
    // A received message is named by the address that it came under, which may be the chat's other one.
    database
      .prepare(`
        DELETE FROM inbox WHERE substr(message, 1, instr(message, ' ') - 1) IN
          (SELECT :jid UNION SELECT jid FROM addresses WHERE chat = :jid)`)
      .run({ jid });
  })();
  database.pragma('secure_delete = OFF');
  database.pragma('wal_checkpoint(TRUNCATE)');
}

/** Returns the file in the link's folder. */
export function linkDatabasePath(folder: string): string {
  return join(folder, 'link.db');
}

function forgetOld(database: Database.Database, now: number): void {
  const oldest = now - KEPT_DAYS * DAY_MS;
  database.prepare('DELETE FROM sent WHERE sent_at < ?').run(oldest);
  database.prepare('DELETE FROM media WHERE seen_at < ?').run(oldest);
  database.prepare('DELETE FROM inbox WHERE received_at < ?').run(oldest);
}
