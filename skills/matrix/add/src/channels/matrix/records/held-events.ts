import { z } from 'zod';
import type { OwnDatabase } from '../../../lib/own-database.ts';

const KEPT_MS = 14 * 86_400_000;
const MOST = 500;

/** The table of events whose key has not arrived, in the channel's database. */
export const HELD_MIGRATION = `CREATE TABLE held (
   seq INTEGER PRIMARY KEY AUTOINCREMENT, room TEXT NOT NULL, id TEXT NOT NULL UNIQUE, event TEXT NOT NULL,
   held_at INTEGER NOT NULL, told INTEGER NOT NULL DEFAULT 0
 ) STRICT;`;

const Row = z.object({
  room: z.string(),
  id: z.string(),
  event: z.string(),
  heldAt: z.number(),
  told: z.int(),
});

/** An encrypted event that cannot be read yet. */
export type HeldEvent = {
  readonly room: string;
  readonly id: string;
  readonly event: string;
  readonly heldAt: number;
  /** It was said in the room that a message could not be read. */
  readonly isTold: boolean;
};

/** Encrypted events that wait for their keys, which may come after them. */
export interface HeldEvents {
  hold(event: { readonly room: string; readonly id: string; readonly event: string }): void;
  all(): readonly HeldEvent[];
  tell(room: string): void;
  release(id: string): void;
}

/** Opens the list, in a database that has the table for it, and gives up those of two weeks ago. */
export function openHeldEvents(database: OwnDatabase, now: () => number): HeldEvents {
  const insert = database.prepare(
    'INSERT OR IGNORE INTO held (room, id, event, held_at) VALUES (:room, :id, :event, :now)',
  );
  const find = database.prepare(
    `SELECT room, id, event, held_at AS heldAt, told FROM held ORDER BY seq LIMIT ${MOST}`,
  );
  const tell = database.prepare('UPDATE held SET told = 1 WHERE room = ?');
  const release = database.prepare('DELETE FROM held WHERE id = ?');
  database.prepare('DELETE FROM held WHERE held_at < ?').run(now() - KEPT_MS);
  return {
    hold: (event) => void insert.run({ ...event, now: Math.round(now()) }),
    all: () =>
      z
        .array(Row)
        .parse(find.all())
        .map(({ told, ...event }) => ({ ...event, isTold: told === 1 })),
    tell: (room) => void tell.run(room),
    release: (id) => void release.run(id),
  };
}
