import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { type NewTask, parseTask, TASK_COLUMNS, type Task } from './task.ts';

export interface Tasks {
  /** Adds an active task and returns its number. */
  add(task: NewTask, now: number): number;
  byId(id: number): Task | null;
  /** Returns those that are active or paused, of one folder or of all, by number. */
  open(folder?: string): readonly Task[];
  /** Returns the active tasks whose time has come, the longest overdue first. */
  due(now: number): readonly Task[];
  /** Returns the time when the next active task is due; null when none is. */
  nextDue(): number | null;
  /**
   * Takes the time `from` of an active task and sets the next one; with none left it is done. Returns false
   * when that time was taken already: only the caller that gets true fires it.
   */
  advance(id: number, step: { readonly from: number; readonly to: number | null }): boolean;
  /** Writes what can change of a task. */
  save(task: Task): void;
  /** Deletes what a service has queued in this folder and is over, with its log, but for the newest. */
  trimQueued(by: Pick<Task, 'folder' | 'schedule' | 'createdBy'>): void;
}

/** So many turns of each service are kept as tasks, like the runs of one task. */
const KEPT_QUEUED = 100;

const Id = z.object({ id: z.int() });
const Next = z.object({ next: z.int().nullable() });

export function openTasks(database: Database): Tasks {
  const insert = database.prepare(`
    INSERT INTO tasks (folder, name, prompt, schedule_kind, schedule, time_zone, anchor, context,
      if_missed, state, next_run, created_by, created_at)
    VALUES (:folder, :name, :prompt, :kind, :text, :timeZone, :anchor, :context,
      :ifMissed, 'active', :nextRun, :createdBy, :now) RETURNING id`);
  const byId = database.prepare(`SELECT ${TASK_COLUMNS} FROM tasks WHERE id = ?`);
  const open = database.prepare(`
    SELECT ${TASK_COLUMNS} FROM tasks
    WHERE state IN ('active', 'paused') AND folder = coalesce(:folder, folder) ORDER BY id`);
  const due = database.prepare(`
    SELECT ${TASK_COLUMNS} FROM tasks
    WHERE state = 'active' AND next_run <= ? ORDER BY next_run, id`);
  const nextDue = database.prepare(
    "SELECT min(next_run) AS next FROM tasks WHERE state = 'active'",
  );
  const advance = database.prepare(`
    UPDATE tasks SET next_run = :to, last_due = :from,
      state = CASE WHEN :to IS NULL THEN 'done' ELSE state END
    WHERE id = :id AND state = 'active' AND next_run = :from`);
  const save = database.prepare(`
    UPDATE tasks SET name = :name, prompt = :prompt, schedule_kind = :kind, schedule = :text,
      time_zone = :timeZone, anchor = :anchor, context = :context, if_missed = :ifMissed,
      state = :state, next_run = :nextRun WHERE id = :id`);
  const trimQueued = database.prepare(`
    DELETE FROM tasks WHERE id IN (
      SELECT id FROM tasks
      WHERE folder = :folder AND state IN ('done', 'cancelled')
        AND created_by = :createdBy AND schedule_kind = 'at' AND schedule = :text
      ORDER BY id DESC LIMIT -1 OFFSET ${KEPT_QUEUED})
    AND NOT EXISTS (
      SELECT 1 FROM task_runs JOIN turns ON turns.id = task_runs.turn_id
      WHERE task_runs.task_id = tasks.id AND turns.state IN ('queued', 'claimed'))`);
  return {
    add({ schedule, ...task }, now) {
      return Id.parse(insert.get({ name: null, ...task, ...schedule, now })).id;
    },
    byId(id) {
      const row = byId.get(id);
      return row === undefined ? null : parseTask(row);
    },
    open: (folder) => open.all({ folder: folder ?? null }).map(parseTask),
    due: (now) => due.all(now).map(parseTask),
    nextDue: () => Next.parse(nextDue.get()).next,
    advance: (id, step) => advance.run({ id, ...step }).changes > 0,
    save({ schedule, id, name, prompt, context, ifMissed, state, nextRun }) {
      save.run({ id, name, prompt, context, ifMissed, state, nextRun, ...schedule });
    },
    trimQueued: ({ folder, createdBy, schedule: { text } }) =>
      void trimQueued.run({ folder, createdBy, text }),
  };
}
