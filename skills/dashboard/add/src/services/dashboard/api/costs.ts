import { z } from 'zod';
import { localDay } from '../../../host/budget/local-day.ts';
import { defineApi, reads } from '../api.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;

/** What models cost, by day, chat, model and task, and how much of the budgets is used. */
export const api = defineApi({
  name: 'costs',
  actions: {
    days: reads(z.object({}), (_, { context: { store, budgets, now, timeZone } }) => {
      const names = new Map(store.groups.all().map(({ folder, name }) => [folder, name]));
      const days = Array.from({ length: DAYS }, (_none, ago) =>
        localDay(now() - (DAYS - 1 - ago) * DAY_MS, timeZone),
      );
      return {
        days: days.map((day) => ({
          day,
          total: store.usage.total(day),
          folders: store.usage.byFolder(day),
        })),
        tasks: store.taskRuns.costs(now() - DAYS * DAY_MS).map((cost) => {
          const task = store.tasks.byId(cost.taskId);
          return { ...cost, name: task?.name ?? task?.prompt.slice(0, 60) ?? null };
        }),
        budgets: budgets.report(),
        models: store.usage.byModel(days.at(-1) ?? '', null),
        names: Object.fromEntries(names),
      };
    }),
  },
});
