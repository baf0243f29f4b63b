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

const DropRow = z
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
    counted: () => counted.all().map((row) => DropRow.parse(row)),
  };
}

/** The number of a chat's messages that came too late. */
export type LateCount = { readonly name: string; readonly messages: number };

/** Counts messages that came too late to be answered, until the owner is told. */
export interface LateMessages {
  /** @throws when `jid` is not a registered group */
  count(jid: string): void;
  /** Returns those with most messages first; empty when there is nothing to tell. */
  counted(): readonly LateCount[];
  /** Begins counting again, after the owner was told. */
  clear(): void;
}

const LateRow = z.object({ name: z.string(), messages: z.int() });

export function openLateMessages(database: Database): LateMessages {
  const count = database.prepare(`
    INSERT INTO late_messages (jid, messages) VALUES (?, 1)
    ON CONFLICT (jid) DO UPDATE SET messages = messages + 1`);
  const counted = database.prepare(`
    SELECT name, messages FROM late_messages JOIN groups USING (jid)
    ORDER BY messages DESC, name, jid`);
  const clear = database.prepare('DELETE FROM late_messages');
  return {
    count: (jid) => void count.run(jid),
    counted: () => counted.all().map((row) => LateRow.parse(row)),
    clear: () => void clear.run(),
  };
}

/** The messages of strangers since the owner was last told. */
type StrangerCount = {
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

const StrangerRow = z.object({ senders: z.int(), messages: z.int(), since: z.int() });

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
      return row === undefined ? null : StrangerRow.parse(row);
    },
    clear: () => void clear.run(),
  };
}
