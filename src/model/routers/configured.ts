import { defineRouter } from '../router.ts';

/** The model of the settings, where no other router has chosen. */
export const router = defineRouter({
  name: 'configured',
  order: 900,
  create:
    ({ configuredName }) =>
    () => [configuredName],
});
