import { z } from 'zod';
import { defineRouter } from '../router.ts';

/** A model of the heartbeat's own, which may be cheaper than that of the chat. */
export const router = defineRouter({
  name: 'heartbeat',
  order: 50,
  settings: z.object({ HEARTBEAT_MODEL: z.string().optional() }),
  // Without it the other routers choose, as they do for a chat.
  create({ settings: { HEARTBEAT_MODEL: model }, configuredName }) {
    return ({ taskType }) =>
      taskType === 'heartbeat' && model !== undefined ? [model, configuredName] : null;
  },
});
