import { whenLooked } from '../lazy-view.ts';
import { definePanel } from '../page.ts';

export const panel = definePanel({
  name: 'turns',
  order: 200,
  scope: 'read',
  icon: 'M12 4a8 8 0 1 1-7.4 5M4 4v5h5M12 8v4l3 2',
  view: whenLooked(async () => (await import('../turns/turns-view.ts')).TurnsView),
});
