import { z } from 'zod';
import type { OpenDatabase } from '../../lib/own-database.ts';

/**
 * The record of what was written on the line, on disk: a device cannot tell a line that comes twice, and none of it says
 * that it has one.
 */
export interface Written {
  /** Returns how many parts of a message are on the line. */
  partsOf(id: string): number;
  /** Notes that a part is being written. */
  begin(id: string): void;
  /** Notes that so many parts are written. */
  end(id: string, parts: number): void;
  /** Tells whether the last part may have been cut, so that the line has to be ended before the next one. */
  isCut(): boolean;
}

const MIGRATIONS = [
  `CREATE TABLE written (
     id TEXT PRIMARY KEY, parts INTEGER NOT NULL, is_open INTEGER NOT NULL, at INTEGER NOT NULL
   ) STRICT;`,
];
/** The host sends nothing again that is older. */
const KEPT_MS = 7 * 86_400_000;

const Row = z.object({ parts: z.int() });

/** Opens the record in the channel's own database. */
export function openWritten(openDatabase: OpenDatabase, now: () => number): Written {
  const database = openDatabase(MIGRATIONS);
  const find = database.prepare('SELECT parts FROM written WHERE id = ?');
  const begin = database.prepare(
    `INSERT INTO written VALUES (:id, 0, 1, :at)
     ON CONFLICT (id) DO UPDATE SET is_open = 1, at = excluded.at`,
  );
  const end = database.prepare('UPDATE written SET parts = :parts, is_open = 0 WHERE id = :id');
  const cut = database.prepare(
    'SELECT 1 FROM written WHERE is_open = 1 AND at = (SELECT max(at) FROM written)',
  );
  database.prepare('DELETE FROM written WHERE at < ?').run(now() - KEPT_MS);
  return {
    partsOf(id) {
      const row = find.get(id);
      return row === undefined ? 0 : Row.parse(row).parts;
    },
    begin: (id) => void begin.run({ id, at: now() }),
    end: (id, parts) => void end.run({ id, parts }),
    isCut: () => cut.get() !== undefined,
  };
}
