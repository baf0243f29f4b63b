import { z } from 'zod';
import { defineApi, reads } from '../api.ts';

const SHOWN = 100;

/** What agents' turns did, and what that cost. */
export const api = defineApi({
  name: 'turns',
  actions: {
    newest: reads(
      z.object({ folder: z.string().max(100).optional() }),
      ({ folder }, { context: { store } }) => ({
        runs: store.turnRuns.newest(SHOWN, folder),
        counts: store.turns.counts(),
        /** Those that `/retry` runs again, at most one of a chat. */
        failed: store.turns.failed().map(({ id: turnId, jid }) => ({ turnId, jid })),
      }),
    ),
    steps: reads(z.object({ seq: z.coerce.number().int() }), ({ seq }, { context }) =>
      context.store.turnRuns.stepsOf(seq),
    ),
  },
});
