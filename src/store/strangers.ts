import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** What came from strangers since the owner was last told. */
export type StrangerCount = {
  readonly senders: number;
  readonly messages: number;
  /** When the first of it came. */
  readonly since: number;
};

/** Counts direct messages of people whom nobody allowed to write. Of what they wrote nothing is kept. */
export interface Strangers {
  count(channel: string, sender: string, now: number): void;
  /** Null when nobody has written. */
  counted(): StrangerCount | null;
  /** The owner was told: counting begins anew. */
  clear(): void;
}

const Row = z.object({ senders: z.int(), messages: z.int(), since: z.int() });

/** A flood from ever new senders costs this many rows, then it counts as one sender's. */
const MAX_SENDERS = 1_000;

export function strangersOf(database: Database): Strangers {
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
