import { z } from 'zod';
import { localDay } from '../../../host/budget/day.ts';
import { defineApi, reads } from '../api.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;

/** What models cost, by day, chat and model. */
export const api = defineApi({
  name: 'costs',
  actions: {
    days: reads(z.object({}), (_, { context: { store, now, timeZone } }) => {
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
        models: store.usage.byModel(days.at(-1) ?? '', null),
        names: Object.fromEntries(names),
      };
    }),
  },
});
