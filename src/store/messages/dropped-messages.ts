import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** The number of messages that an inbound filter has dropped for one reason. */
export type DropCount = {
  readonly filter: string;
  readonly reason: string;
  readonly messages: number;
  /** The time of the last of them. */
  readonly lastAt: number;
};

/** Counts messages that inbound filters have dropped. Their content is not kept. */
export interface DroppedMessages {
  count(filter: string, reason: string, now: number): void;
  /** Returns the counts, those with most messages first. */
  counted(): readonly DropCount[];
}

const Row = z
  .object({ filter: z.string(), reason: z.string(), messages: z.int(), last_at: z.int() })
  .transform(({ last_at: lastAt, ...row }) => ({ ...row, lastAt }));

/** A filter whose reasons never end costs this many rows, then they count as one. */
const MAX_REASONS = 50;
const OTHERS = 'other reasons';

export function openDroppedMessages(database: Database): DroppedMessages {
  const isThere = '(filter, reason) = (:filter, :reason)';
  const add = database.prepare(`
    INSERT INTO dropped_messages (filter, reason, messages, last_at)
    VALUES (:filter, CASE
      WHEN EXISTS (SELECT 1 FROM dropped_messages WHERE ${isThere})
      OR (SELECT count(*) FROM dropped_messages WHERE filter = :filter) < ${MAX_REASONS}
      THEN :reason ELSE '${OTHERS}' END, 1, :now)
    ON CONFLICT (filter, reason) DO UPDATE SET messages = messages + 1, last_at = excluded.last_at`);
  const counted = database.prepare(`
    SELECT filter, reason, messages, last_at FROM dropped_messages
    ORDER BY messages DESC, filter, reason`);
  return {
    count: (filter, reason, now) => void add.run({ filter, reason, now }),
    counted: () => counted.all().map((row) => Row.parse(row)),
  };
}
