import { load } from 'sqlite-vec';
import type { OwnDatabase } from '../../lib/own-database.ts';

/** The migrations of the memory's database. Indexes of each folder are made when it has its first note. */
export const MIGRATIONS: readonly string[] = [
  `
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE scopes (id INTEGER PRIMARY KEY AUTOINCREMENT, folder TEXT NOT NULL UNIQUE) STRICT;
-- A file, or the messages or answers of a chat. Files have a mark of their last state, chats a cursor.
CREATE TABLE sources (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  scope INTEGER NOT NULL REFERENCES scopes (id),
  kind TEXT NOT NULL CHECK (kind IN ('file', 'message', 'answer')),
  name TEXT NOT NULL,
  mark TEXT,
  first INTEGER,
  cursor INTEGER NOT NULL DEFAULT 0,
  seen INTEGER NOT NULL DEFAULT 0,
  UNIQUE (scope, kind, name)
) STRICT;
-- state: 0 waits for its vector, 1 has one, 2 was refused by the server.
CREATE TABLE notes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  scope INTEGER NOT NULL REFERENCES scopes (id),
  source INTEGER NOT NULL REFERENCES sources (id),
  place INTEGER NOT NULL,
  heading TEXT,
  who TEXT,
  said_at INTEGER,
  text TEXT NOT NULL,
  digest TEXT NOT NULL,
  state INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX notes_of_source ON notes (source, place);
CREATE INDEX notes_by_digest ON notes (scope, digest);
CREATE INDEX notes_by_state ON notes (state, scope, id);
CREATE TABLE vectors (note INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
`,
];

/** Returns why vectors cannot be searched on this machine; null where sqlite-vec is loaded. */
export function loadVectors(database: OwnDatabase): string | null {
  // What was forgotten is not to be found in the file.
  database.pragma('secure_delete = ON');
  try {
    load(database as Parameters<typeof load>[0]);
    return null;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `sqlite-vec cannot be loaded here (${reason.split('\n')[0]}): words alone are searched.`;
  }
}

/** Values that are kept beside the notes. */
export type Facts = {
  get(name: string): string | null;
  set(name: string, value: string | null): void;
};

export function openFacts(database: OwnDatabase): Facts {
  const get = database.prepare('SELECT value FROM facts WHERE name = ?').pluck();
  const put = database.prepare(
    'INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  const remove = database.prepare('DELETE FROM facts WHERE name = ?');
  return {
    get(name) {
      const value = get.get(name);
      return typeof value === 'string' ? value : null;
    },
    set: (name, value) => void (value === null ? remove.run(name) : put.run(name, value)),
  };
}
