import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** The messages of strangers since the owner was last told. */
export type StrangerCount = {
  readonly senders: number;
  readonly messages: number;
  /** The time of the first of them. */
  readonly since: number;
};

/** Counts of direct messages from people without permission. Their content is not kept. */
export interface Strangers {
  count(channel: string, sender: string, now: number): void;
  /** Returns the counts; null when there are none. */
  counted(): StrangerCount | null;
  /** Begins counting again, after the owner was told. */
  clear(): void;
}

const Row = z.object({ senders: z.int(), messages: z.int(), since: z.int() });

/** A flood from ever new senders costs this many rows, then it counts as one sender's. */
const MAX_SENDERS = 1_000;

export function openStrangers(database: Database): Strangers {
  const add = database.prepare(`
    INSERT INTO strangers (channel, sender, messages, first_at)
    VALUES (:channel, CASE
      WHEN (SELECT count(*) FROM strangers) < ${MAX_SENDERS} THEN :sender ELSE '' END, 1, :now)
    ON CONFLICT (channel, sender) DO UPDATE SET messages = messages + 1`);
  const sum = database.prepare(`
    SELECT count(*) AS senders, sum(messages) AS messages, min(first_at) AS since
    FROM strangers HAVING count(*) > 0`);
  const clear = database.prepare('DELETE FROM strangers');
  return {
    count: (channel, sender, now) => void add.run({ channel, sender, now }),
    counted() {
      const row = sum.get();
      return row === undefined ? null : Row.parse(row);
    },
    clear: () => void clear.run(),
  };
}
