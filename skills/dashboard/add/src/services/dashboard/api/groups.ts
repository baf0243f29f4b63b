import { z } from 'zod';
import { localDay } from '../../../host/budget/day.ts';
import { defineApi, reads } from '../api.ts';

/** The registered chats, what each may do, and what its agent remembers. */
export const api = defineApi({
  name: 'groups',
  actions: {
    all: reads(z.object({}), (_, { context: { store, now, timeZone } }) => {
      const day = localDay(now(), timeZone);
      return store.groups
        .all()
        .map((group) => ({ ...group, today: store.usage.of(group.folder, day) }));
    }),
    memory: reads(
      z.object({ folder: z.string().max(100) }),
      ({ folder }, { context }) => context.readGroupFile(folder, ['CLAUDE.md']),
      'admin',
    ),
  },
});
