import type { Task } from '../../store/store.ts';
import type { HostLog } from '../contracts/log.ts';
import { openAlarm, type SetTimer } from './alarm.ts';
import { type FireOptions, fireTask } from './fire.ts';
import { nextRunAfter } from './schedule.ts';
import { TaskRefused } from './task-refused.ts';

export interface Scheduler {
  /** Fires what was missed, and from then on every task when it is due. */
  start(): void;
  /** Looks again for what is due next; called when a task has changed. */
  wake(): void;
  stop(): void;
}

export type SchedulerOptions = FireOptions & {
  readonly setTimer: SetTimer;
  readonly log: HostLog;
  /** Turns were queued. */
  readonly onFired: () => void;
  /** A task can never be due again, for this reason, and was paused. */
  readonly onBroken: (task: Task, reason: string) => void;
};

/** After an error of the store, in milliseconds. */
const RETRY_MS = 60_000;
/** A clock that is set back by more than this was wrong before. */
const WRONG_CLOCK_MS = 25 * 3_600_000;

/** Fires tasks when they are due. One timer waits for the next of them; nothing polls. */
export function openScheduler(options: SchedulerOptions): Scheduler {
  const { store, now, setTimer, log } = options;
  const alarm = openAlarm({ now, setTimer, onDue: wake, onClockMoved });
  let isStarted = false;

  function wake(): void {
    look(() => {});
  }

  function look(before: () => void): void {
    if (!isStarted) return;
    try {
      before();
      for (const task of store.tasks.due(now())) guard(task, fire);
      alarm.set(store.tasks.nextDue());
    } catch (error) {
      log.error('due tasks could not be looked for', { error: String(error) });
      alarm.set(now() + RETRY_MS);
    }
  }

  function fire(task: Task): void {
    const lateMs = now() - (task.nextRun ?? 0);
    const fired = fireTask(options, task);
    log.info('a task was due', { group: task.folder, task: task.id, fired, lateMs });
    if (fired === 'fired') options.onFired();
  }

  /** A schedule that cannot be read any more, as after an update of the calendar, holds up no other. */
  function guard(task: Task, work: (task: Task) => void): void {
    try {
      work(task);
    } catch (error) {
      if (!(error instanceof TaskRefused)) throw error;
      store.tasks.save({ ...task, state: 'paused', nextRun: null });
      options.onBroken(task, error.message);
    }
  }

  function onClockMoved(movedMs: number): void {
    log.info('the clock was set, or the machine slept', { movedMs });
    if (movedMs < 0) look(realignAll);
  }

  function realignAll(): void {
    for (const task of store.tasks.open()) {
      if (task.state === 'active' && task.schedule.kind !== 'at') guard(task, realign);
    }
  }

  /**
   * Brings forward what a wrong clock has put too far ahead. No time that was fired comes again,
   * except where the clock was wrong by more than a day.
   */
  function realign(task: Task): void {
    const last = task.lastDue ?? 0;
    const after = last > now() + WRONG_CLOCK_MS ? now() : Math.max(now(), last);
    const nextRun = nextRunAfter(task.schedule, after) ?? Number.POSITIVE_INFINITY;
    if (nextRun < (task.nextRun ?? 0)) store.tasks.save({ ...task, nextRun });
  }

  return {
    start() {
      isStarted = true;
      look(realignAll);
    },
    wake,
    stop() {
      isStarted = false;
      alarm.set(null);
    },
  };
}
