import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { CURRENT_JID } from './chats.ts';
import { throughIndexOf } from './search-index.ts';

export type NewOutbound = {
  readonly messageId: string;
  readonly jid: string;
  readonly text: string;
  /** The turn that it answers or reports on; absent or null for a message without a question. */
  readonly turnId?: string | null;
  /** It says how far a command is, and answers nothing yet. */
  readonly isProgress?: boolean;
};

/** A message on its way out. `attempts` counts refusals, `repeats` sends of unknown outcome. */
export type Outbound = NewOutbound & {
  readonly turnId: string | null;
  readonly isProgress: boolean;
  readonly seq: number;
  readonly attempts: number;
  readonly repeats: number;
  readonly nextTryAt: number;
};

export interface Outbox {
  /** @throws when `jid` is no registered group: nothing is ever sent to those */
  add(message: NewOutbound, now: number): void;
  /** Returns the first unsent message of every chat that has one: the order within a chat is kept. */
  heads(): readonly Outbound[];
  markSending(messageId: string): void;
  markSent(messageId: string): void;
  /** Notes that the far end did not take a message: it is tried again at `nextTryAt`. */
  postpone(messageId: string, nextTryAt: number, error: string): void;
  /**
   * Notes that a message was perhaps taken: it is repeated once at `nextTryAt`; the second time its outcome
   * stays unknown.
   */
  markUnknown(messageId: string, nextTryAt: number, error: string): 'repeated' | 'unknown';
  giveUp(messageId: string, error: string): void;
  /** Marks at start that sends of a dead process have an unknown outcome. */
  recover(now: number): void;
  hasUnsent(jid: string): boolean;
  hasUnsentOf(turnId: string): boolean;
}

const Row = z
  .object({
    seq: z.int(),
    message_id: z.string(),
    jid: z.string(),
    text: z.string(),
    turn_id: z.string().nullable(),
    is_progress: z.int(),
    attempts: z.int(),
    repeats: z.int(),
    next_try_at: z.int(),
  })
  .transform((row) => ({
    seq: row.seq,
    messageId: row.message_id,
    jid: row.jid,
    text: row.text,
    turnId: row.turn_id,
    isProgress: row.is_progress !== 0,
    attempts: row.attempts,
    repeats: row.repeats,
    nextTryAt: row.next_try_at,
  }));

export function outboxOf(database: Database): Outbox {
  const insert = database.prepare(`
    INSERT INTO outbox (message_id, jid, text, turn_id, is_progress, state, created_at)
    VALUES (:messageId, ${CURRENT_JID}, :text, :turnId, :isProgress, 'queued', :now)`);
  const heads = database.prepare(`
    SELECT seq, message_id, jid, text, turn_id, is_progress, attempts, repeats, next_try_at
    FROM outbox
    WHERE seq IN (SELECT min(seq) FROM outbox WHERE state IN ('queued', 'sending') GROUP BY jid)
      AND state = 'queued' ORDER BY seq`);
  const setState = database.prepare(
    'UPDATE outbox SET state = :state, error = :error WHERE message_id = :messageId',
  );
  const postpone = database.prepare(`
    UPDATE outbox SET state = 'queued', attempts = attempts + 1, next_try_at = :nextTryAt,
      error = :error WHERE message_id = :messageId`);
  const repeat = database.prepare(`
    UPDATE outbox SET state = 'queued', repeats = repeats + 1, next_try_at = :nextTryAt,
      error = :error WHERE message_id = :messageId AND repeats = 0`);
  const sending = database.prepare("SELECT message_id FROM outbox WHERE state = 'sending'");
  const unsent = database.prepare(
    "SELECT 1 FROM outbox WHERE jid = ? AND state IN ('queued', 'sending') LIMIT 1",
  );

  const unsentOf = database.prepare(
    "SELECT 1 FROM outbox WHERE turn_id = ? AND state IN ('queued', 'sending') LIMIT 1",
  );

  const throughIndex = throughIndexOf(database);

  function markUnknown(messageId: string, nextTryAt: number, error: string) {
    if (repeat.run({ messageId, nextTryAt, error }).changes > 0) return 'repeated';
    setState.run({ messageId, state: 'unknown', error });
    return 'unknown';
  }
  return {
    add: ({ turnId = null, isProgress = false, ...message }, now) =>
      void throughIndex(() =>
        insert.run({ ...message, turnId, isProgress: Number(isProgress), now }),
      ),
    heads: () => heads.all().map((row) => Row.parse(row)),
    markSending: (messageId) => void setState.run({ messageId, state: 'sending', error: null }),
    markSent: (messageId) => void setState.run({ messageId, state: 'sent', error: null }),
    postpone: (messageId, nextTryAt, error) => void postpone.run({ messageId, nextTryAt, error }),
    markUnknown,
    giveUp: (messageId, error) => void setState.run({ messageId, state: 'failed', error }),
    recover: (now) =>
      database.transaction(() => {
        for (const row of sending.all()) {
          const { message_id: messageId } = z.object({ message_id: z.string() }).parse(row);
          markUnknown(messageId, now, 'the assistant ended while this was being sent');
        }
      })(),
    hasUnsent: (jid) => unsent.get(jid) !== undefined,
    hasUnsentOf: (turnId) => unsentOf.get(turnId) !== undefined,
  };
}
