import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { createClaimer, isQuickSql, type Lease } from './claim.ts';
import { countTurns, type QueueCounts } from './queue-counts.ts';
import { parseTurn, TURN_COLUMNS, type Turn, type TurnKind } from './turn.ts';

export type NewTurn = { readonly id: string; readonly jid: string; readonly seq: number };
export type NewTaskTurn = {
  readonly id: string;
  readonly jid: string;
  readonly taskId: number;
  /** True if it covers the messages in the chat without owing an answer. */
  readonly seesChat: boolean;
  /** Notes of the part of the host that queued it, kept with the turn; none by default. */
  readonly queuedBy?: object | undefined;
  /** It runs beside the other turns of its group: neither waits for the other. False by default. */
  readonly isBeside?: boolean | undefined;
};

export interface Turns {
  /** Makes the message at `seq` part of the turn that waits in its chat, or of a new one. */
  queueAgent(turn: NewTurn, now: number): void;
  queueCommand(turn: NewTurn, payload: unknown, now: number): void;
  /** Queues an agent's turn that no message asks for. It takes its place among those of its chat. */
  queueTask(turn: NewTaskTurn, now: number): void;
  /** Claims the next turn whose group has none of its kind under way; null when there is none. */
  claimNext(kind: TurnKind, lease: Lease): Turn | null;
  /** Claims the oldest agent's turn that runs beside others; null when there is none. */
  claimBeside(lease: Lease): Turn | null;
  /** Renews a lease. False when the turn is gone or another's; the holder must then drop its work. */
  renew(id: string, lease: Lease): boolean;
  /** Gives a claimed turn back as if it had never been claimed. */
  release(id: string, owner: string): void;
  /** Keeps what a later process needs to finish this claimed turn. */
  keep(id: string, owner: string, payload: unknown): void;
  /** Leaves a claimed turn, with its payload, to the next process. */
  suspend(id: string, owner: string): void;
  /** Turns left by another process: claimed and never finished, or waiting to be resumed. */
  leftBy(others: { readonly not: string }): readonly Turn[];
  /** Takes a turn that another process left; counts as an attempt. */
  adopt(id: string, lease: Lease): void;
  /** Returns how many turns right before this one were left behind because the model's server refused them. */
  rejectedBefore(id: string): number;
  /**
   * Leaves everything behind that a folder's chats have said and that is not being answered now: no later turn holds it.
   *
   * @returns the number of turns that were waiting for an answer
   */
  leaveBehind(folder: string): number;
  /** Ends the turns with a folder's messages that wait for an agent, as the owner has asked; returns how many there were. */
  cancelQueued(folder: string): number;
  /** Puts a failed or refused turn, or one that another process left, back into the queue. */
  requeue(id: string): void;
  /** Returns the newest failed turn of each chat that nothing has answered since; without those of tasks. */
  failed(): readonly Turn[];
  /** Returns the payload of the command that others of a folder wait for; undefined when none is under way. */
  commandAtWork(folder: string): unknown;
  /** Tells whether anything of this chat is still queued, claimed or to be resumed. */
  isOpen(jid: string): boolean;
  /** Returns the channel's ids of the messages that this turn answers; none for a turn without a question. */
  asked(id: string): readonly string[];
  counts(): QueueCounts;
}

/** The number of a turn's newest messages that its agent sees, where the owner has set none. */
export const MESSAGES_SHOWN = 50;

/** The error of a turn that the model's server refused; it is left behind. */
export const REJECTED = 'REJECTED';

const Count = z.object({ count: z.int() });
const Asked = z.object({ id: z.string() });
const Payload = z.object({ payload: z.string() });

/**
 * Creates the table's statements. Its writes are single statements, so each is a transaction of its own.
 *
 * An agent's turn with a payload comes from a task: no message is added to it.
 */
export function openStoredTurns(database: Database, messagesShown = MESSAGES_SHOWN): Turns {
  // The agent is shown the newest messages of a turn only, and what asks must be among them.
  const extend = database.prepare(`
    UPDATE turns SET upto_seq = :seq
    WHERE seq = (SELECT max(seq) FROM turns
                 WHERE jid = :jid AND kind = 'agent' AND state = 'queued' AND payload IS NULL)
    AND :seq <= coalesce((SELECT seq FROM messages WHERE jid = :jid AND seq >= turns.from_seq
                          ORDER BY seq LIMIT 1 OFFSET ${messagesShown - 1}), :seq)`);
  const insert = database.prepare(`
    INSERT INTO turns (id, jid, kind, state, from_seq, upto_seq, payload, created_at)
    VALUES (:id, :jid, :kind, 'queued', :seq, :seq, :payload, :now)`);
  // Open and failed questions are left to the turn that answers them.
  const insertTask = database.prepare(`
    INSERT INTO turns (id, jid, kind, state, from_seq, upto_seq, payload, created_at)
    VALUES (:id, :jid, 'agent', 'queued', 1, CASE WHEN :seesChat = 0 THEN 0 ELSE coalesce(
      (SELECT min(asked.from_seq) - 1 FROM turns AS asked WHERE asked.jid = :jid
       AND asked.kind = 'agent' AND asked.payload IS NULL
       AND asked.state IN ('queued', 'claimed', 'failed') AND asked.upto_seq > coalesce(
         (SELECT max(done.upto_seq) FROM turns AS done WHERE done.jid = :jid
          AND done.kind = 'agent' AND done.state IN ('answered', 'gave_up')), 0)),
      (SELECT max(seq) FROM messages WHERE jid = :jid), 0) END, :payload, :now)`);
  const { claimNext, claimBeside } = createClaimer(database);
  const mine = `WHERE id = :id AND state = 'claimed' AND lease_owner = :owner`;
  const renew = database.prepare(`UPDATE turns SET lease_until = :until ${mine}`);
  const release = database.prepare(`
    UPDATE turns SET state = 'queued', attempts = attempts - 1, lease_owner = NULL,
      lease_until = NULL ${mine}`);
  const keep = database.prepare(`UPDATE turns SET payload = :payload ${mine}`);
  const suspend = database.prepare(`UPDATE turns SET state = 'resuming' ${mine}`);
  const leftBy = database.prepare(`
    SELECT ${TURN_COLUMNS} FROM turns
    WHERE state IN ('claimed', 'resuming') AND lease_owner IS NOT :not ORDER BY seq`);
  const adopt = database.prepare(`
    UPDATE turns SET state = 'claimed', lease_owner = :owner, lease_until = :until,
      attempts = attempts + 1
    WHERE id = :id AND state IN ('claimed', 'resuming')`);
  const requeue = database.prepare(`
    UPDATE turns SET state = 'queued', lease_owner = NULL, lease_until = NULL
    WHERE id = :id AND (state IN ('failed', 'claimed') OR state = 'gave_up' AND error = '${REJECTED}')`);
  const rejectedBefore = database.prepare(`
    SELECT count(*) AS count FROM turns AS mine JOIN groups ON groups.jid = mine.jid
    JOIN turns AS old ON old.jid = mine.jid AND old.kind = 'agent' AND old.state = 'gave_up'
      AND old.error = '${REJECTED}' AND old.seq < mine.seq AND old.upto_seq > groups.since_seq
    WHERE mine.id = ? AND NOT EXISTS (SELECT 1 FROM turns AS done
      WHERE done.jid = mine.jid AND done.kind = 'agent' AND done.payload IS NULL
      AND done.state = 'answered' AND done.seq > old.seq)`);
  const giveUp = database.prepare(`
    UPDATE turns SET state = 'gave_up', error = 'RESET'
    WHERE kind = 'agent' AND payload IS NULL AND state IN ('queued', 'failed')
    AND jid IN (SELECT jid FROM groups WHERE folder = :folder)`);
  const cancelQueued = database.prepare(`
    UPDATE turns SET state = 'gave_up', error = 'CANCELLED'
    WHERE kind = 'agent' AND payload IS NULL AND state = 'queued'
    AND jid IN (SELECT jid FROM groups WHERE folder = :folder)`);
  const beginHere = database.prepare(`
    UPDATE groups SET since_seq = coalesce((SELECT max(seq) FROM messages WHERE messages.jid = groups.jid), 0)
    WHERE folder = :folder`);
  const failed = database.prepare(`
    SELECT ${TURN_COLUMNS} FROM turns
    WHERE (state = 'failed' OR state = 'gave_up' AND error = '${REJECTED}') AND kind = 'agent'
    AND upto_seq > (SELECT since_seq FROM groups WHERE groups.jid = turns.jid) AND seq = (
      SELECT max(seq) FROM turns AS newest
      WHERE newest.jid = turns.jid AND newest.kind = 'agent' AND newest.payload IS NULL)
    ORDER BY seq`);
  const atWork = database.prepare(`
    SELECT turns.payload FROM turns JOIN groups ON groups.jid = turns.jid
    WHERE turns.kind = 'command' AND turns.state IN ('claimed', 'resuming')
    AND groups.folder = ? AND NOT ${isQuickSql('turns')} ORDER BY turns.seq LIMIT 1`);
  const isOpen = database.prepare(`
    SELECT 1 FROM turns
    WHERE jid = ? AND state IN ('queued', 'claimed', 'resuming') LIMIT 1`);

  // A command within the range of an agent's turn is answered by a turn of its own.
  const asked = database.prepare(`
    SELECT messages.id FROM turns JOIN messages
      ON messages.jid = turns.jid AND messages.seq BETWEEN turns.from_seq AND turns.upto_seq
    WHERE turns.id = ? AND (turns.kind = 'command' OR turns.payload IS NULL AND NOT EXISTS (
      SELECT 1 FROM turns AS other WHERE other.jid = turns.jid AND other.kind = 'command'
      AND other.from_seq = messages.seq))
    ORDER BY messages.seq`);

  const asText = (payload: unknown): string | null =>
    payload === undefined || payload === null ? null : JSON.stringify(payload);
  return {
    queueAgent({ id, jid, seq }, now) {
      if (extend.run({ jid, seq }).changes > 0) return;
      insert.run({ id, jid, kind: 'agent', seq, payload: null, now });
    },
    queueCommand: ({ id, jid, seq }, payload, now) =>
      void insert.run({ id, jid, kind: 'command', seq, payload: asText(payload), now }),
    queueTask({ id, jid, taskId, seesChat, queuedBy, isBeside }, now) {
      const payload = asText({ task: taskId, queuedBy, ...(isBeside === true && { isBeside }) });
      insertTask.run({ id, jid, seesChat: Number(seesChat), payload, now });
    },
    claimNext,
    claimBeside,
    renew: (id, lease) => renew.run({ id, ...lease }).changes > 0,
    release: (id, owner) => void release.run({ id, owner }),
    keep: (id, owner, payload) => void keep.run({ id, owner, payload: asText(payload) }),
    suspend: (id, owner) => void suspend.run({ id, owner }),
    leftBy: (others) => leftBy.all(others).map(parseTurn),
    adopt: (id, lease) => void adopt.run({ id, ...lease }),
    rejectedBefore: (id) => Count.parse(rejectedBefore.get(id)).count,
    leaveBehind: database.transaction((folder: string) => {
      const { changes } = giveUp.run({ folder });
      beginHere.run({ folder });
      return changes;
    }),
    cancelQueued: (folder) => cancelQueued.run({ folder }).changes,
    requeue: (id) => void requeue.run({ id }),
    failed: () => failed.all().map(parseTurn),
    commandAtWork(folder) {
      const row = atWork.get(folder);
      return row === undefined ? undefined : JSON.parse(Payload.parse(row).payload);
    },
    isOpen: (jid) => isOpen.get(jid) !== undefined,
    asked: (id) => asked.all(id).map((row) => Asked.parse(row).id),
    counts: () => countTurns(database),
  };
}
