import Database from 'better-sqlite3';

/**
 * Runs what goes through the full-text index.
 *
 * A damaged one is made again from the messages themselves, and the work done again: storing a message
 * writes to it, and a search that does not work is no reason to refuse what is said. The index may say
 * so only when a transaction ends, so it is the whole one that is done again.
 */
export function throughIndexOf(database: Database.Database): <T>(work: () => T) => T {
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

/** Where its own tables contradict each other, the index says so as a doubled key of theirs. */
export function isIndexDamage(error: unknown): boolean {
  const codes = ['SQLITE_CORRUPT_VTAB', 'SQLITE_CONSTRAINT_PRIMARYKEY'];
  return error instanceof Database.SqliteError && codes.includes(error.code);
}
