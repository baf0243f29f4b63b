import { z } from 'zod';
import { defineRouter } from '../router.ts';

export const router = defineRouter({
  name: 'night-shift',
  order: 300,
  settings: z.object({ NIGHT_MODEL: z.string().optional() }),
  needs: ['NIGHT_MODEL'],
  create({ settings: { NIGHT_MODEL: night }, configuredName }) {
    if (night === undefined) return null;
    return ({ isTask }) => (isTask ? [night, configuredName] : null);
  },
});
