import { defineService } from '../host/contracts/service.ts';
import { localTime } from '../host/scheduler/local-time.ts';
import { openScheduler } from '../host/scheduler/scheduler.ts';

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
