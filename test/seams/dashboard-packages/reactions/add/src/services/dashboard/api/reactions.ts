import { z } from 'zod';
import { defineApi, reads } from '../api.ts';

/** The emojis on answers, counted. */
export const api = defineApi({
  name: 'reactions',
  actions: {
    counts: reads(z.object({}), (_, { context }) => {
      const counts = new Map<string, number>();
      for (const { emoji } of context.store.reactions.since(0)) {
        if (emoji !== null) counts.set(emoji, (counts.get(emoji) ?? 0) + 1);
      }
      return Object.fromEntries(counts);
    }),
  },
});
