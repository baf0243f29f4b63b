import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { PRESS } from './messages/messages.ts';

/** The message in which a turn shows its answer so far. */
export type Draft = {
  readonly messageId: string;
  readonly jid: string;
  /** Something came after it in the chat, or it is too old to be changed: the answer is a message of its own. */
  readonly isBuried: boolean;
};

/** The place of a draft: the message that its turn answers, shown as such in a group, and that one's thread. */
export type DraftPlace = {
  readonly replyTo: { readonly id: string; readonly sender: string; readonly text: string } | null;
  readonly thread: string | null;
};

/**
 * Provisional messages of running turns, each on disk before it is sent. So whatever ends a process, the next
 * one knows which message the answer replaces, or has to take away.
 */
export interface Drafts {
  /** Returns the draft of a turn that runs or has ended; null for none. */
  of(turnId: string, now: number): Draft | null;
  /** Notes a draft of a claimed turn before it is sent. `staysLast`: the channel shows it below whatever comes. */
  begin(
    draft: { readonly messageId: string; readonly turnId: string; readonly staysLast: boolean },
    now: number,
  ): void;
  placeOf(turnId: string): DraftPlace;
  remove(messageId: string): void;
  /** Returns the drafts of turns that have ended, which no answer has replaced. */
  left(): readonly Omit<Draft, 'isBuried'>[];
}

/**
 * How old a message may be that is still changed, in milliseconds. People's apps ignore a change a quarter of an hour
 * after the message; the rest is for the way there.
 */
export const EDITABLE_MS = 10 * 60_000;

/**
 * Tells, for a row of `drafts` joined with its turn, whether the draft is still the last thing of that turn in its
 * chat. Reactions do not count, and neither do messages of others in a group.
 */
export const IS_LAST = `(drafts.after_seq IS NULL OR drafts.created_at >= :since
  AND drafts.upto_seq = turns.upto_seq AND NOT EXISTS (
    SELECT 1 FROM outbox WHERE outbox.jid = turns.jid AND outbox.seq > drafts.after_seq AND is_reaction = 0))`;

const Row = z
  .object({ message_id: z.string(), jid: z.string(), is_last: z.int() })
  .transform((row) => ({ messageId: row.message_id, jid: row.jid, isBuried: row.is_last === 0 }));

const Place = z
  .object({
    id: z.string(),
    sender: z.string(),
    text: z.string(),
    thread: z.string().nullable(),
    is_shown: z.int(),
  })
  .transform(({ thread, is_shown, ...replyTo }) => ({
    thread,
    replyTo: is_shown === 0 ? null : replyTo,
  }));

export function openDrafts(database: Database): Drafts {
  const of = database.prepare(`
    SELECT message_id, turns.jid, ${IS_LAST} AS is_last FROM drafts
    JOIN turns ON turns.id = drafts.turn_id WHERE turns.id = :turnId`);
  const begin = database.prepare(`
    INSERT INTO drafts (message_id, turn_id, created_at, after_seq, upto_seq)
    SELECT :messageId, id, :now,
      CASE WHEN :staysLast = 0 THEN
        coalesce((SELECT max(outbox.seq) FROM outbox WHERE outbox.jid = turns.jid), 0) END, upto_seq
    FROM turns WHERE id = :turnId AND state = 'claimed'
    ON CONFLICT (turn_id) DO UPDATE SET message_id = excluded.message_id, created_at = excluded.created_at,
      after_seq = excluded.after_seq, upto_seq = excluded.upto_seq`);
  const remove = database.prepare('DELETE FROM drafts WHERE message_id = ?');
  const left = database.prepare(`
    SELECT message_id, turns.jid, 1 AS is_last FROM drafts JOIN turns ON turns.id = drafts.turn_id
    WHERE turns.state IN ('answered', 'failed', 'gave_up') ORDER BY turns.seq`);
  // Others may talk on in a group before the answer is whole, and no edit can add what it answers.
  const place = database.prepare(`
    SELECT messages.id, messages.sender, messages.text, messages.thread,
      chats.is_direct = 0 AND messages.id NOT GLOB '${PRESS}*' AS is_shown
    FROM turns JOIN messages ON messages.seq = turns.upto_seq AND messages.jid = turns.jid
    JOIN chats ON chats.jid = turns.jid WHERE turns.id = ? AND turns.payload IS NULL`);
  return {
    of(turnId, now) {
      const row = of.get({ turnId, since: now - EDITABLE_MS });
      return row === undefined ? null : Row.parse(row);
    },
    begin: ({ staysLast, ...draft }, now) =>
      void begin.run({ ...draft, staysLast: Number(staysLast), now }),
    placeOf(turnId) {
      const row = place.get(turnId);
      return row === undefined ? { replyTo: null, thread: null } : Place.parse(row);
    },
    remove: (messageId) => void remove.run(messageId),
    left: () => left.all().map((row) => Row.parse(row)),
  };
}
