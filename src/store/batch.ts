import type { Database } from 'better-sqlite3';
import { isIndexDamage } from './messages/search-index.ts';

/** The outcome of one piece of work: its result, or the error that undid this work alone. */
export type Result<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * Runs pieces of work in order and writes them to disk together: one commit, and so one wait for the
 * disk, for all of them. What one throws undoes that one alone.
 *
 * @throws what makes the whole transaction fail, such as a full disk; nothing is written then
 */
export function createBatch(
  database: Database,
): <T>(works: readonly (() => T)[]) => readonly Result<T>[] {
  return (works) => database.transaction(() => works.map((work) => attempt(database, work)))();
}

function attempt<T>(database: Database, work: () => T): Result<T> {
  try {
    // Inside a transaction, this is a savepoint.
    return { kind: 'done', value: database.transaction(work)() };
  } catch (error) {
    // SQLite itself has taken everything back: what came before is lost too, and must not pass for stored.
    if (!database.inTransaction) throw error;
    // Perhaps what came before has done it, and is not stored either.
    if (isIndexDamage(error)) throw error;
    return { kind: 'failed', error };
  }
}
