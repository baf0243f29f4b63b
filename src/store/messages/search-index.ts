import Database from 'better-sqlite3';

/**
 * Runs work that uses the full-text index.
 *
 * A damaged index is rebuilt from the messages themselves, and the work repeated. Storing a message writes to
 * it, and a broken search is no reason to refuse messages. The index may report damage only when a
 * transaction ends, so the whole transaction is repeated.
 */
export function createThroughIndex(database: Database.Database): <T>(work: () => T) => T {
  const remake = database.transaction(() => {
    for (const words of ['message_words', 'answer_words']) {
      database.exec(`INSERT INTO ${words} (${words}) VALUES ('rebuild')`);
    }
    database.exec(
      'UPDATE indexed_messages SET upto_seq = (SELECT coalesce(max(seq), 0) FROM messages)',
    );
  });
  return (work) => {
    if (database.inTransaction) return work();
    try {
      return work();
    } catch (error) {
      if (!isIndexDamage(error)) throw error;
      remake();
      return work();
    }
  };
}

/**
 * Recognises damage of the index, which reports a contradiction between its own tables as their doubled key.
 */
export function isIndexDamage(error: unknown): boolean {
  const codes = ['SQLITE_CORRUPT_VTAB', 'SQLITE_CONSTRAINT_PRIMARYKEY'];
  return error instanceof Database.SqliteError && codes.includes(error.code);
}
