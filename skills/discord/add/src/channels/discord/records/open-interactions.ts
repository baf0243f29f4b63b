import { z } from 'zod';
import type { OwnDatabase } from '../../../lib/own-database.ts';

/** Discord takes the answer for a quarter of an hour. */
const ANSWERED_WITHIN_MS = 14 * 60_000;

/** The table of slash commands that are not answered yet, in the channel's database. */
export const INTERACTION_MIGRATION = `CREATE TABLE interaction (
   jid TEXT NOT NULL, id TEXT NOT NULL, address TEXT NOT NULL, until INTEGER NOT NULL,
   PRIMARY KEY (jid, id)
 ) STRICT;`;

/** The address of the answer to a slash command: `/webhooks/<application>/<token>`. */
export type AnswerAddress = `/webhooks/${string}`;

/** Slash commands that wait for their answers. */
export interface OpenInteractions {
  keep(jid: string, id: string, address: AnswerAddress): void;
  /** Returns the address for the answer to one of these; null where none is open. */
  of(jid: string, ids: readonly string[]): { readonly id: string; address: AnswerAddress } | null;
  close(jid: string, id: string): void;
  forgetChat(jid: string): void;
}

const Row = z.object({ id: z.string(), address: z.templateLiteral(['/webhooks/', z.string()]) });

/** Opens the list, in a database that has the table for it. */
export function openInteractions(database: OwnDatabase, now: () => number): OpenInteractions {
  const insert = database.prepare(
    'INSERT OR REPLACE INTO interaction (jid, id, address, until) VALUES (:jid, :id, :address, :until)',
  );
  const find = database.prepare(
    'SELECT id, address FROM interaction WHERE jid = ? AND id = ? AND until > ?',
  );
  const close = database.prepare('DELETE FROM interaction WHERE jid = ? AND id = ?');
  const forget = database.prepare('DELETE FROM interaction WHERE jid = ?');
  database.prepare('DELETE FROM interaction WHERE until <= ?').run(now());
  return {
    keep: (jid, id, address) =>
      void insert.run({ jid, id, address, until: now() + ANSWERED_WITHIN_MS }),
    of(jid, ids) {
      for (const id of ids) {
        const row = find.get(jid, id, now());
        if (row !== undefined) return Row.parse(row);
      }
      return null;
    },
    close: (jid, id) => void close.run(jid, id),
    forgetChat: (jid) => void forget.run(jid),
  };
}
