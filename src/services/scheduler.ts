import type { HostLog } from '../host/contracts/log.ts';
import { defineService } from '../host/contracts/service.ts';
import { openAlarm, type SetTimer } from '../host/scheduler/alarm.ts';
import type { DueTasks } from '../host/scheduler/due-tasks.ts';
import { localTime } from '../host/scheduler/local-time.ts';

export const service = defineService({
  name: 'scheduler',
  start({ dueTasks, now, setTimer, log, timeZone }) {
    const scheduler = openScheduler({ dueTasks, now, setTimer, log });
    scheduler.start();
    return {
      stop: () => scheduler.stop(),
      status() {
        const next = dueTasks.next();
        return next === null ? null : `next task ${localTime(next, timeZone)}`;
      },
    };
  },
});

export interface Scheduler {
  /** Fires what was missed, and from then on every task when it is due. */
  start(): void;
  stop(): void;
}

type SchedulerOptions = {
  readonly dueTasks: DueTasks;
  readonly now: () => number;
  readonly setTimer: SetTimer;
  readonly log: HostLog;
};

/** After an error of the store, in milliseconds. */
const RETRY_MS = 60_000;

/** Fires tasks when they are due. One timer waits for the next of them; nothing polls. */
export function openScheduler({ dueTasks, now, setTimer, log }: SchedulerOptions): Scheduler {
  const alarm = openAlarm({ now, setTimer, onDue: wake, onClockMoved });
  let forget: (() => void) | null = null;

  function wake(): void {
    look(() => {});
  }

  function look(before: () => void): void {
    if (forget === null) return;
    try {
      before();
      dueTasks.fire();
      alarm.set(dueTasks.next());
    } catch (error) {
      log.error('due tasks could not be looked for', { error: String(error) });
      alarm.set(now() + RETRY_MS);
    }
  }

  function onClockMoved(movedMs: number): void {
    log.info('the clock was set, or the machine slept', { movedMs });
    if (movedMs < 0) look(dueTasks.realign);
  }

  return {
    start() {
      forget = dueTasks.onChanged(wake);
      look(dueTasks.realign);
    },
    stop() {
      forget?.();
      forget = null;
      alarm.set(null);
    },
  };
}
