import { z } from 'zod';
import { type OwnDatabase, withoutWaiting } from '../../../lib/own-database.ts';

/** The table of the position in the server's stream, in the channel's database. */
export const POSITION_MIGRATION = `CREATE TABLE position (
   one INTEGER PRIMARY KEY CHECK (one = 1), account TEXT NOT NULL, since TEXT NOT NULL
 ) STRICT;`;

const Row = z.object({ account: z.string(), since: z.string() });

/** The place up to which everything of an account is stored, as the server's token for it. */
export interface SyncPosition {
  /** Returns null for an account that was never here, and for another one than the last. */
  load(account: string): string | null;
  /** Notes that all before this token is stored. */
  advance(account: string, since: string): void;
}

/** Opens the position, in a database that has the table for it. */
export function openSyncPosition(database: OwnDatabase): SyncPosition {
  const find = database.prepare('SELECT account, since FROM position');
  const replace = database.prepare(
    'INSERT OR REPLACE INTO position (one, account, since) VALUES (1, ?, ?)',
  );
  return {
    load(account) {
      const row = Row.optional().parse(find.get());
      return row?.account === account ? row.since : null;
    },
    // Lost, the server sends what came since once more.
    advance: (account, since) => withoutWaiting(database, () => void replace.run(account, since)),
  };
}
