import { z } from 'zod';

/**
 * The schedule of a task. `anchor` is the moment itself for `at`, and the start that `every` counts from;
 * `text` is the owner's wording and, for `cron`, the pattern.
 */
export type TaskSchedule = {
  readonly kind: 'cron' | 'every' | 'at';
  readonly text: string;
  readonly timeZone: string;
  readonly anchor: number;
};

export type NewTask = {
  /** The group that it runs in, by its folder. */
  readonly folder: string;
  /** The name that people gave it. */
  readonly name?: string | null;
  readonly prompt: string;
  readonly schedule: TaskSchedule;
  /** The conversation of a run: the group's, or one of its own that ends with it. */
  readonly context: 'group' | 'isolated';
  /** The treatment of a time that passed while the assistant was down. */
  readonly ifMissed: 'run-once' | 'skip';
  /** Null only where nothing is due any more. */
  readonly nextRun: number | null;
  /** Folder of the group whose agent made it. */
  readonly createdBy: string;
};

/** `id` is the number that owner and agents call it by. `lastDue` is the last time that was dealt with. */
export type Task = NewTask & {
  readonly id: number;
  readonly name: string | null;
  readonly state: 'active' | 'paused' | 'done' | 'cancelled';
  readonly lastDue: number | null;
  readonly createdAt: number;
};

export const TASK_COLUMNS = `id, folder, name, prompt, schedule_kind, schedule, time_zone, anchor, context,
  if_missed, state, next_run, last_due, created_by, created_at`;

const Row = z.object({
  id: z.int(),
  folder: z.string(),
  name: z.string().nullable(),
  prompt: z.string(),
  schedule_kind: z.enum(['cron', 'every', 'at']),
  schedule: z.string(),
  time_zone: z.string(),
  anchor: z.int(),
  context: z.enum(['group', 'isolated']),
  if_missed: z.enum(['run-once', 'skip']),
  state: z.enum(['active', 'paused', 'done', 'cancelled']),
  next_run: z.int().nullable(),
  last_due: z.int().nullable(),
  created_by: z.string(),
  created_at: z.int(),
});

/** Reads a row with `TASK_COLUMNS`. */
export function parseTask(raw: unknown): Task {
  const row = Row.parse(raw);
  return {
    id: row.id,
    folder: row.folder,
    name: row.name,
    prompt: row.prompt,
    schedule: {
      kind: row.schedule_kind,
      text: row.schedule,
      timeZone: row.time_zone,
      anchor: row.anchor,
    },
    context: row.context,
    ifMissed: row.if_missed,
    state: row.state,
    nextRun: row.next_run,
    lastDue: row.last_due,
    createdBy: row.created_by,
    createdAt: row.created_at,
  };
}
