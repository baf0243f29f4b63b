import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import type { Spending } from '../usage.ts';

export type RunOutcome = 'answered' | 'silent' | 'failed' | 'gave_up' | 'skipped';

/** The end of a run: one line for the log. */
export type RunEnd = { readonly outcome: RunOutcome; readonly summary: string };

/** One time that a task was due, or was run by hand. */
export type TaskRun = {
  readonly taskId: number;
  readonly dueAt: number;
  /** The time when it was queued, which is later than `dueAt` for a run that was missed. */
  readonly firedAt: number;
  /** Null until its turn is worked on. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly outcome: RunOutcome | null;
  readonly summary: string | null;
};

export interface TaskRuns {
  /** Notes a run that is the turn `turnId`. */
  fire(run: RunStart & { readonly turnId: string }, now: number): void;
  skip(run: RunStart & { readonly summary: string }, now: number): void;
  /** Returns the run of a turn; null for turns that a person asked for. */
  ofTurn(turnId: string): TaskRun | null;
  start(turnId: string, now: number): void;
  finish(turnId: string, end: RunEnd, now: number): void;
  /** Tells whether a turn of this task still waits or runs. */
  isOpen(taskId: number): boolean;
  /** Returns the newest runs of a task, newest first. */
  last(taskId: number, limit: number): readonly TaskRun[];
  /** Returns what the runs of each task have cost since a moment, as far as they are kept, the dearest first. */
  costs(since: number): readonly TaskCost[];
}

/** The cost of all runs of one task. */
export type TaskCost = Spending & { readonly taskId: number; readonly runs: number };

export type RunStart = { readonly taskId: number; readonly dueAt: number };

/** So many runs of each task are kept. */
const KEPT_RUNS = 100;

const CostRow = z
  .object({
    task_id: z.int(),
    runs: z.int(),
    tokens: z.int(),
    micro_usd: z.int(),
    unpriced_calls: z.int(),
  })
  .transform((row) => ({
    taskId: row.task_id,
    runs: row.runs,
    tokens: row.tokens,
    microUsd: row.micro_usd,
    unpricedCalls: row.unpriced_calls,
  }));

const Row = z
  .object({
    task_id: z.int(),
    due_at: z.int(),
    fired_at: z.int(),
    started_at: z.int().nullable(),
    finished_at: z.int().nullable(),
    outcome: z.enum(['answered', 'silent', 'failed', 'gave_up', 'skipped']).nullable(),
    summary: z.string().nullable(),
  })
  .transform((row) => ({
    taskId: row.task_id,
    dueAt: row.due_at,
    firedAt: row.fired_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    outcome: row.outcome,
    summary: row.summary,
  }));

export function openTaskRuns(database: Database): TaskRuns {
  const columns = 'task_id, due_at, fired_at, started_at, finished_at, outcome, summary';
  const fire = database.prepare(`
    INSERT INTO task_runs (task_id, due_at, turn_id, fired_at)
    VALUES (:taskId, :dueAt, :turnId, :now)`);
  const skip = database.prepare(`
    INSERT INTO task_runs (task_id, due_at, fired_at, finished_at, outcome, summary)
    VALUES (:taskId, :dueAt, :now, :now, 'skipped', :summary)`);
  const trim = database.prepare(`
    DELETE FROM task_runs WHERE task_id = :taskId AND id <= (
      SELECT id FROM task_runs WHERE task_id = :taskId ORDER BY id DESC LIMIT 1 OFFSET ${KEPT_RUNS})`);
  const ofTurn = database.prepare(`SELECT ${columns} FROM task_runs WHERE turn_id = ?`);
  const start = database.prepare(
    'UPDATE task_runs SET started_at = coalesce(started_at, :now) WHERE turn_id = :turnId',
  );
  const finish = database.prepare(`
    UPDATE task_runs SET finished_at = :now, outcome = :outcome, summary = :summary
    WHERE turn_id = :turnId`);
  const isOpen = database.prepare(`
    SELECT 1 FROM task_runs JOIN turns ON turns.id = task_runs.turn_id
    WHERE task_runs.task_id = ? AND turns.state IN ('queued', 'claimed') LIMIT 1`);
  const last = database.prepare(
    `SELECT ${columns} FROM task_runs WHERE task_id = :taskId ORDER BY id DESC LIMIT :limit`,
  );
  const costs = database.prepare(`
    SELECT task_id, count(DISTINCT task_runs.id) AS runs,
      coalesce(sum(input_tokens + cache_write_tokens + cache_read_tokens + output_tokens), 0) AS tokens,
      coalesce(sum(micro_usd), 0) AS micro_usd, coalesce(sum(unpriced_calls), 0) AS unpriced_calls
    FROM task_runs JOIN turn_runs ON turn_runs.turn_id = task_runs.turn_id
    WHERE task_runs.fired_at >= ? GROUP BY task_id ORDER BY micro_usd DESC, tokens DESC, task_id`);
  return {
    fire(run, now) {
      fire.run({ ...run, now });
      trim.run({ taskId: run.taskId });
    },
    skip(run, now) {
      skip.run({ ...run, now });
      trim.run({ taskId: run.taskId });
    },
    ofTurn(turnId) {
      const row = ofTurn.get(turnId);
      return row === undefined ? null : Row.parse(row);
    },
    start: (turnId, now) => void start.run({ turnId, now }),
    finish: (turnId, end, now) => void finish.run({ turnId, ...end, now }),
    isOpen: (taskId) => isOpen.get(taskId) !== undefined,
    last: (taskId, limit) => last.all({ taskId, limit }).map((row) => Row.parse(row)),
    costs: (since) => costs.all(since).map((row) => CostRow.parse(row)),
  };
}
