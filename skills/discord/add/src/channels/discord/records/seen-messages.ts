import { z } from 'zod';
import { type OwnDatabase, withoutWaiting } from '../../../lib/own-database.ts';

const MOST_CHANNELS = 50;
const REMEMBERED_MS = 30 * 86_400_000;

/** The table of the last message of each channel, in the channel's database. */
export const SEEN_MIGRATION = `CREATE TABLE seen (
   channel_id TEXT PRIMARY KEY, guild_id TEXT, last_id INTEGER NOT NULL, seen_at INTEGER NOT NULL
 ) STRICT;`;

const Row = z.object({
  channelId: z.string(),
  guildId: z.string().nullable(),
  lastId: z.string(),
});
/** The last message that was stored of a channel. */
export type SeenMessage = z.output<typeof Row>;

/** The last message of each channel that was stored. */
export interface SeenMessages {
  note(message: { channelId: string; guildId: string | null; id: string }): void;
  latest(): readonly SeenMessage[];
  forget(channelId: string): void;
}

/** Opens the list, in a database that has the table for it. */
export function openSeenMessages(database: OwnDatabase, now: () => number): SeenMessages {
  // Ids are larger than numbers are exact here, but not in SQLite.
  const note = database.prepare(
    `INSERT INTO seen VALUES (:channelId, :guildId, CAST(:id AS INTEGER), :now)
     ON CONFLICT (channel_id) DO UPDATE SET
       last_id = max(last_id, excluded.last_id), seen_at = excluded.seen_at`,
  );
  const latest = database.prepare(
    `SELECT channel_id AS channelId, guild_id AS guildId, CAST(last_id AS TEXT) AS lastId
     FROM seen WHERE seen_at > ? ORDER BY seen_at DESC LIMIT ${MOST_CHANNELS}`,
  );
  const forget = database.prepare('DELETE FROM seen WHERE channel_id = ?');
  return {
    // Lost, the messages after the one before are asked for again, and known to the host.
    note: (message) => withoutWaiting(database, () => void note.run({ ...message, now: now() })),
    latest: () => z.array(Row).parse(latest.all(now() - REMEMBERED_MS)),
    forget: (channelId) => void forget.run(channelId),
  };
}
