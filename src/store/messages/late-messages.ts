import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** The number of a chat's messages that came too late. */
export type LateCount = { readonly name: string; readonly messages: number };

/** Counts messages that came too late to be answered, until the owner is told of them. */
export interface LateMessages {
  /** @throws when `jid` is no registered group */
  count(jid: string): void;
  /** Returns those with most messages first; empty when there is nothing to tell. */
  counted(): readonly LateCount[];
  /** Begins counting again, after the owner was told. */
  clear(): void;
}

const Row = z.object({ name: z.string(), messages: z.int() });

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
    counted: () => counted.all().map((row) => Row.parse(row)),
    clear: () => void clear.run(),
  };
}
