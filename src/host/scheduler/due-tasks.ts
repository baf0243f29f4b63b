import type { Task } from '../../store/store.ts';
import type { HostLog } from '../contracts/log.ts';
import { nextRunAfter } from './schedule.ts';
import { type FireOptions, fireTask } from './task-firing.ts';
import { TaskRefused } from './task-refused.ts';

/** The tasks as a scheduler sees them: the scheduler says when, and this decides what happens. */
export interface DueTasks {
  /** Queues a turn for each task whose time has come. Each time is taken once, by the first caller. */
  fire(): void;
  /** Returns the moment when the next task is due; null when none is. */
  next(): number | null;
  /** Brings forward what a wrong clock has put too far ahead. */
  realign(): void;
  /** Calls back when a task has changed, until the returned function is called. */
  onChanged(listener: () => void): () => void;
}

export type DueTasksOptions = FireOptions & {
  readonly log: HostLog;
  /** Turns were queued. */
  readonly onFired: () => void;
  /** A task can never be due again, for this reason, and was paused. */
  readonly onBroken: (task: Task, reason: string) => void;
};

/** A clock that is set back by more than this was wrong before. */
const WRONG_CLOCK_MS = 25 * 3_600_000;

/** Opens the port of a scheduler; Call `changed` after a change of a task. */
export function openDueTasks(
  options: DueTasksOptions,
): DueTasks & { readonly changed: () => void } {
  const { store, now, log } = options;
  const listeners = new Set<() => void>();

  function fire(task: Task): void {
    const lateMs = now() - (task.nextRun ?? 0);
    const fired = fireTask(options, task);
    log.info('a task was due', { group: task.folder, task: task.id, fired, lateMs });
    if (fired === 'fired') options.onFired();
  }

  /**
   * Works on a task alone: a schedule that cannot be read any more, as after an update of the calendar,
   * holds up no other.
   */
  function guard(task: Task, work: (task: Task) => void): void {
    try {
      work(task);
    } catch (error) {
      if (!(error instanceof TaskRefused)) throw error;
      store.tasks.save({ ...task, state: 'paused', nextRun: null });
      options.onBroken(task, error.message);
    }
  }

  /** No time that was fired comes again, except where the clock was wrong by more than a day. */
  function realign(task: Task): void {
    const last = task.lastDue ?? 0;
    const after = last > now() + WRONG_CLOCK_MS ? now() : Math.max(now(), last);
    const nextRun = nextRunAfter(task.schedule, after) ?? Number.POSITIVE_INFINITY;
    if (nextRun < (task.nextRun ?? 0)) store.tasks.save({ ...task, nextRun });
  }

  return {
    fire() {
      for (const task of store.tasks.due(now())) guard(task, fire);
    },
    next: () => store.tasks.nextDue(),
    realign() {
      for (const task of store.tasks.open()) {
        if (task.state === 'active' && task.schedule.kind !== 'at') guard(task, realign);
      }
    },
    onChanged(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    changed() {
      for (const listener of listeners) listener();
    },
  };
}
