import type { Database } from 'better-sqlite3';
import { NotUsable } from './contribution.ts';

/** A SQLite database of one contribution's own. The assistant closes it when it ends. */
export type OwnDatabase = Omit<Database, 'close'>;

/**
 * Opens the contribution's own database under `data/databases/`, and applies the migrations that it has not seen
 * yet, in their order. They only add, and one that was published is never changed: a new one follows it.
 *
 * Each call returns the same database, brought up to the migrations of that call. It is kept when the contribution is taken out of the tree.
 *
 * @throws NotUsable where the database or a migration cannot be used
 */
export type OpenDatabase = (migrations: readonly string[]) => OwnDatabase;

/**
 * Does work whose commit does not wait for the disk, for facts that can be learned again, such as how far a feed was
 * read. A crash loses nothing. A power cut can undo it, with everything that was written later to this database
 * without waiting. The next commit that waits takes it to disk too.
 */
export function withoutWaiting<T>(database: OwnDatabase, work: () => T): T {
  // Inside a transaction it is that one's commit that waits.
  if (database.inTransaction) return work();
  database.exec('PRAGMA synchronous = NORMAL');
  try {
    return work();
  } finally {
    database.exec('PRAGMA synchronous = FULL');
  }
}

/** The databases of all contributions. */
export interface OwnDatabases {
  of(kind: 'channel' | 'command' | 'filter' | 'service' | 'tool', name: string): OpenDatabase;
  close(): void;
}

/** Refuses every database: for programs without a data folder, and for tests. */
export const NO_DATABASES: OwnDatabases = {
  of: (kind, name) => () => {
    throw new NotUsable(`There is no place for the database of the ${kind} ${name}.`);
  },
  close() {},
};
