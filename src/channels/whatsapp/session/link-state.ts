import Database from 'better-sqlite3';
import { z } from 'zod';
import { hasLinkDatabase, linkDatabasePath, whatsAppFolder } from './link-database.ts';

/** The state of the link, as seen without opening it for use. */
export type LinkState =
  | { readonly kind: 'absent' | 'unpaired' | 'removed' }
  /** The running assistant holds it. */
  | { readonly kind: 'in-use' }
  | { readonly kind: 'paired'; readonly phoneNumber: string };

const Row = z.object({ json: z.string(), is_removed: z.int() });
const Paired = z.looseObject({ account: z.looseObject({}), me: z.looseObject({ id: z.string() }) });

/** Reads the state of the link, and the account if it is paired. Changes nothing. */
export function readLinkState(dataDir: string): LinkState {
  if (!hasLinkDatabase(dataDir)) return { kind: 'absent' };
  const path = linkDatabasePath(whatsAppFolder(dataDir));
  const database = new Database(path, { readonly: true, timeout: 0 });
  try {
    const row = Row.optional().parse(
      database.prepare('SELECT json, is_removed FROM credentials').get(),
    );
    if (row === undefined) return { kind: 'unpaired' };
    if (row.is_removed !== 0) return { kind: 'removed' };
    const paired = Paired.safeParse(JSON.parse(row.json));
    if (!paired.success) return { kind: 'unpaired' };
    return { kind: 'paired', phoneNumber: paired.data.me.id.split(/[:@]/, 1)[0] ?? '' };
  } catch (error) {
    if (!(error instanceof Database.SqliteError) || error.code !== 'SQLITE_BUSY') throw error;
    return { kind: 'in-use' };
  } finally {
    database.close();
  }
}
