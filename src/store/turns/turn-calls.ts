import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { withoutWaiting } from '../../lib/own-database.ts';

/**
 * A tool call that a turn has made. Of one that is `running` nobody knows whether it took effect: it has no result, or
 * one that says so, such as that the far end gave no answer in time.
 */
export type TurnCall = {
  readonly turnId: string;
  /** Its place among the calls of the turn, over all runs. */
  readonly number: number;
  /** Tells it from every other call of its turn: the same call of a later run has the same key. */
  readonly key: string;
  /** The place where its tool runs. */
  readonly place: 'host' | 'container';
  readonly name: string;
  /** As JSON. */
  readonly input: string;
  readonly isRepeatable: boolean;
  readonly outcome: 'running' | 'done' | 'failed';
  readonly result: string | null;
};

/** Tool calls of turns that have no answer yet. */
export interface TurnCalls {
  /** Notes a call, in place of what was noted of it before. */
  note(call: TurnCall): void;
  /**
   * Returns the calls that a turn has to know of, in their order: its own of earlier runs, and for a turn that answers
   * messages those of failed turns whose messages it answers, too.
   */
  before(turnId: string): readonly TurnCall[];
  /**
   * Returns what the turns of the chat that were stopped or given up since its last answer have changed, or may have:
   * the next turn is told of these calls.
   */
  ofEndedTurns(turnId: string): readonly TurnCall[];
}

const Row = z
  .object({
    turn_id: z.string(),
    number: z.int(),
    key: z.string(),
    place: z.enum(['host', 'container']),
    name: z.string(),
    input: z.string(),
    is_repeatable: z.int(),
    outcome: z.enum(['running', 'done', 'failed']),
    result: z.string().nullable(),
  })
  .transform(({ turn_id: turnId, is_repeatable: isRepeatable, ...row }) => ({
    ...row,
    turnId,
    isRepeatable: isRepeatable !== 0,
  }));

/**
 * The SQL that forgets the calls of an ended turn. An answer ends the failed turns that it covers, too; the turn of a
 * task never runs again, however it ended. Calls of others stay: the next turn of the chat is told of them.
 */
export const FORGET_CALLS = `
  DELETE FROM turn_calls WHERE turn_id IN (
    SELECT old.id FROM turn_calls JOIN turns AS old ON old.id = turn_calls.turn_id
    JOIN turns AS ended ON ended.id = :id
    WHERE old.id = ended.id AND (ended.state = 'answered' OR ended.payload IS NOT NULL)
    OR ended.state = 'answered' AND ended.payload IS NULL AND old.jid = ended.jid
      AND old.payload IS NULL AND old.state IN ('failed', 'gave_up') AND old.upto_seq <= ended.upto_seq)`;

/** Returns the statements for calls of turns that are not answered. */
export function openTurnCalls(database: Database): TurnCalls {
  const upsert = database.prepare(`
    INSERT INTO turn_calls VALUES
      (:turnId, :number, :key, :place, :name, :input, :isRepeatable, :outcome, :result)
    ON CONFLICT (turn_id, number) DO UPDATE SET outcome = excluded.outcome, result = excluded.result`);
  const before = database.prepare(`
    SELECT turn_calls.* FROM turn_calls JOIN turns ON turns.id = turn_calls.turn_id
    JOIN turns AS mine ON mine.id = ?
    WHERE turns.id = mine.id OR (
      mine.payload IS NULL AND turns.payload IS NULL AND turns.jid = mine.jid
      AND turns.state = 'failed' AND turns.upto_seq BETWEEN mine.from_seq AND mine.upto_seq)
    ORDER BY turns.seq, turn_calls.number`);
  const ofEndedTurns = database.prepare(`
    SELECT turn_calls.* FROM turn_calls JOIN turns ON turns.id = turn_calls.turn_id
    JOIN turns AS mine ON mine.id = ? JOIN groups ON groups.jid = mine.jid
    WHERE turns.jid = mine.jid AND turns.id <> mine.id AND turns.payload IS NULL AND mine.payload IS NULL
      AND turns.state = 'gave_up' AND turns.error IN ('CANCELLED', 'CRASHED')
      AND turns.upto_seq > groups.since_seq AND turns.upto_seq <= mine.upto_seq
      AND turn_calls.is_repeatable = 0
    ORDER BY turns.seq, turn_calls.number`);
  return {
    note({ isRepeatable, ...call }) {
      const write = () => void upsert.run({ ...call, isRepeatable: Number(isRepeatable) });
      // After a power cut, a call that changes something must be known to have begun. A lost result makes it unknown,
      // and a call that may be repeated is simply made again.
      if (isRepeatable || call.outcome !== 'running') withoutWaiting(database, write);
      else write();
    },
    before: (turnId) => before.all(turnId).map((row) => Row.parse(row)),
    ofEndedTurns: (turnId) => ofEndedTurns.all(turnId).map((row) => Row.parse(row)),
  };
}
