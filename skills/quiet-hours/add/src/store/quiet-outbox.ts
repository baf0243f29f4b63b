import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import type { Turn } from './turns/turn.ts';

/** The owner's word counts for so long: a message that was queued within this time may be an answer to it. */
const ANSWER_MS = 10 * 60_000;
/** So many of a chat's newest messages are looked through for the owner's word. */
const NEWEST = 200;

/** Chats that are quiet now, and what goes through there. */
export type Quiet = {
  readonly jids: readonly string[];
  /** In lower case. They count in the owner's own chats alone, where nobody else has messages written. */
  readonly words: readonly string[];
  readonly tasks: readonly number[];
};

export const NOTHING_QUIET: Quiet = { jids: [], words: [], tasks: [] };

/**
 * Returns the SQL that tells of a row of `outbox` whether it waits for the end of quiet hours; `:quiet` is a `Quiet` as
 * JSON. What answers the owner goes through, and so does what the owner has called urgent.
 */
export function isHeldSql(row: string): string {
  return `(${row}.state = 'queued'
  AND ${row}.jid IN (SELECT value FROM json_each(:quiet, '$.jids'))
  AND NOT EXISTS (
    SELECT 1 FROM turns JOIN messages ON messages.jid = turns.jid
      AND messages.seq BETWEEN turns.from_seq AND turns.upto_seq
    WHERE turns.id = ${row}.turn_id AND (turns.kind = 'command' OR turns.payload IS NULL)
    AND messages.is_owner = 1 AND messages.stored_at >= turns.created_at - ${ANSWER_MS}
    AND (turns.kind = 'command' OR NOT EXISTS (
      SELECT 1 FROM turns AS other WHERE other.jid = turns.jid AND other.kind = 'command'
      AND other.from_seq = messages.seq)))
  AND NOT (${row}.turn_id IS NULL AND EXISTS (
    SELECT 1 FROM (SELECT is_owner, stored_at FROM messages WHERE messages.jid = ${row}.jid
      ORDER BY seq DESC LIMIT ${NEWEST})
    WHERE is_owner = 1 AND stored_at BETWEEN ${row}.created_at - ${ANSWER_MS} AND ${row}.created_at))
  AND NOT EXISTS (
    SELECT 1 FROM turns JOIN json_each(:quiet, '$.tasks') AS urgent
      ON urgent.value = json_extract(turns.payload, '$.task')
    WHERE turns.id = ${row}.turn_id AND turns.kind = 'agent')
  AND NOT EXISTS (
    SELECT 1 FROM groups JOIN json_each(:quiet, '$.words') AS urgent
      ON instr(lower(${row}.text), urgent.value) > 0
    WHERE groups.jid = ${row}.jid AND groups.is_main = 1))`;
}

/** What quiet hours hold in the outbox. */
export interface Holding {
  /** Returns the number of messages that wait for the end of quiet hours, for each chat that has some. */
  counted(quiet: Quiet): readonly { readonly jid: string; readonly messages: number }[];
  /** Tells whether what a turn says now would be held. */
  holds(quiet: Quiet, turn: Pick<Turn, 'id' | 'jid'>, now: number): boolean;
}

const Counted = z.object({ jid: z.string(), messages: z.int() });

export function openHolding(database: Database): Holding {
  const counted = database.prepare(
    `SELECT jid, count(*) AS messages FROM outbox WHERE ${isHeldSql('outbox')} GROUP BY jid ORDER BY jid`,
  );
  const held = database.prepare(`
    SELECT 1 FROM (SELECT :id AS turn_id, :jid AS jid, 'queued' AS state, '' AS text, :now AS created_at) AS said
    WHERE ${isHeldSql('said')}`);
  return {
    counted: (quiet) =>
      counted.all({ quiet: JSON.stringify(quiet) }).map((row) => Counted.parse(row)),
    holds: (quiet, { id, jid }, now) =>
      held.get({ quiet: JSON.stringify(quiet), id, jid, now }) !== undefined,
  };
}
