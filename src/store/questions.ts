import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { CURRENT_JID } from './chats.ts';

/** The one yes-or-no question that can be open in a chat; a new one takes the place of the old. */
export interface Questions {
  open(jid: string, payload: unknown, now: number): void;
  /** Returns the data of the open question, unparsed; undefined when none is open. */
  pending(jid: string): unknown;
  close(jid: string): void;
  /** Tells whether something that is no answer to a command was said in the chat after the question. */
  isOvertaken(jid: string): boolean;
}

const Row = z.object({ payload: z.string() });

export function questionsOf(database: Database): Questions {
  const open = database.prepare(`
    INSERT INTO questions (jid, payload, asked_at) VALUES (${CURRENT_JID}, :payload, :now)
    ON CONFLICT (jid) DO UPDATE SET payload = :payload, asked_at = :now`);
  const pending = database.prepare('SELECT payload FROM questions WHERE jid = ?');
  const close = database.prepare('DELETE FROM questions WHERE jid = ?');
  const overtaken = database.prepare(`
    SELECT 1 FROM questions JOIN outbox ON outbox.jid = questions.jid
    LEFT JOIN turns ON turns.id = outbox.turn_id
    WHERE questions.jid = ? AND outbox.created_at > questions.asked_at
    AND turns.kind IS NOT 'command' LIMIT 1`);
  return {
    open: (jid, payload, now) => void open.run({ jid, payload: JSON.stringify(payload), now }),
    pending(jid) {
      const row = pending.get(jid);
      return row === undefined ? undefined : JSON.parse(Row.parse(row).payload);
    },
    close: (jid) => void close.run(jid),
    isOvertaken: (jid) => overtaken.get(jid) !== undefined,
  };
}
