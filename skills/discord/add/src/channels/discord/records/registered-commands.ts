import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { OwnDatabase } from '../../../lib/own-database.ts';

/** The table that says which commands Discord has, in the channel's database. */
export const COMMANDS_MIGRATION = `CREATE TABLE registered (
   application_id TEXT PRIMARY KEY, digest TEXT NOT NULL
 ) STRICT;`;

/** The digest of a list is asked for before it is sent. */
export interface RegisteredCommands {
  has(applicationId: string, commands: readonly object[]): boolean;
  note(applicationId: string, commands: readonly object[]): void;
}

/** Opens the note of what was registered, in a database that has the table for it. */
export function openRegisteredCommands(database: OwnDatabase): RegisteredCommands {
  const Row = z.object({ digest: z.string() });
  const find = database.prepare('SELECT digest FROM registered WHERE application_id = ?');
  const replace = database.prepare('INSERT OR REPLACE INTO registered VALUES (?, ?)');
  const digestOf = (commands: readonly object[]) =>
    createHash('sha256').update(JSON.stringify(commands)).digest('hex');
  return {
    has: (id, commands) => Row.optional().parse(find.get(id))?.digest === digestOf(commands),
    note: (id, commands) => void replace.run(id, digestOf(commands)),
  };
}
