import { z } from 'zod';
import { describeSchedule, nextRunAfter } from '../../../host/scheduler/schedule.ts';
import type { Task } from '../../../store/store.ts';
import { defineApi, reads } from '../api.ts';

const NEXT = 3;
const LAST = 20;

/** The tasks, when they run next, and how they ended. */
export const api = defineApi({
  name: 'tasks',
  actions: {
    open: reads(z.object({}), (_, { context: { store } }) =>
      store.tasks.open().map((task) => ({
        id: task.id,
        folder: task.folder,
        name: task.name,
        prompt: task.prompt.slice(0, 2_000),
        state: task.state,
        when: describeSchedule(task.schedule),
        next: nextRuns(task),
        last: store.taskRuns.last(task.id, 1)[0] ?? null,
      })),
    ),
    runs: reads(z.object({ id: z.coerce.number().int() }), ({ id }, { context }) =>
      context.store.taskRuns.last(id, LAST),
    ),
  },
});

function nextRuns({ state, nextRun, schedule }: Task): readonly number[] {
  const runs: number[] = [];
  let next = state === 'active' ? nextRun : null;
  while (next !== null && runs.length < NEXT) {
    runs.push(next);
    next = nextRunAfter(schedule, next);
  }
  return runs;
}
