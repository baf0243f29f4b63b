import type { OwnDatabase } from '../../lib/own-database.ts';

/** The tables of the sanitizer's own database. */
export const MIGRATIONS = [
  `CREATE TABLE marked (
     kind TEXT PRIMARY KEY,
     messages INTEGER NOT NULL,
     last_at INTEGER NOT NULL
   ) STRICT`,
];

/** Number of messages in which one kind of thing was found. */
export type MarkCount = {
  readonly kind: string;
  readonly messages: number;
  readonly lastAt: number;
};

/** Counts a message for each kind of thing that was found in it. */
export function countMarks(database: OwnDatabase, kinds: readonly string[], at: number): void {
  const add = database.prepare(
    `INSERT INTO marked (kind, messages, last_at) VALUES (?, 1, ?)
     ON CONFLICT (kind) DO UPDATE SET messages = messages + 1, last_at = excluded.last_at`,
  );
  database.transaction(() => {
    for (const kind of new Set(kinds)) add.run(kind, at);
  })();
}

/** Returns all counts, the highest first. */
export function markCounts(database: Pick<OwnDatabase, 'prepare'>): readonly MarkCount[] {
  return database
    .prepare<[], MarkCount>(
      'SELECT kind, messages, last_at AS lastAt FROM marked ORDER BY messages DESC, kind',
    )
    .all();
}
