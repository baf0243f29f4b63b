import { z } from 'zod';
import { nextRunAfter } from '../../../host/scheduler/schedule.ts';
import type { Task } from '../../../store/store.ts';
import { defineApi, reads } from '../api.ts';

/** The calendar: so many days from now on, and runs of one task in them, some more than one every hour: its page says so. */
const DAYS = 14;
const DAY_MS = 86_400_000;
const MOST = 350;
const LAST = 20;

/** The tasks, when they run next, and how they ended. */
export const api = defineApi({
  name: 'tasks',
  actions: {
    open: reads(z.object({}), (_, { context: { store, now } }) =>
      store.tasks.open().map((task) => ({
        id: task.id,
        folder: task.folder,
        name: task.name,
        prompt: task.prompt.slice(0, 2_000),
        state: task.state,
        schedule: task.schedule,
        ...nextRuns(task, now() + DAYS * DAY_MS),
        last: store.taskRuns.last(task.id, 1)[0] ?? null,
      })),
    ),
    runs: reads(z.object({ id: z.coerce.number().int() }), ({ id }, { context }) =>
      context.store.taskRuns.last(id, LAST),
    ),
  },
});

/** Returns the runs until then, and the next one in any case; `isMore` where more come until then than are told. */
function nextRuns({ state, nextRun, schedule }: Task, until: number) {
  const runs: number[] = [];
  let next = state === 'active' ? nextRun : null;
  while (next !== null && runs.length < MOST && (next < until || runs.length === 0)) {
    runs.push(next);
    next = nextRunAfter(schedule, next);
  }
  return { next: runs, isMore: runs.length > 0 && next !== null && next < until };
}
