import { whenLooked } from '../lazy-view.ts';
import { definePanel } from '../page.ts';

export const panel = definePanel({
  name: 'health',
  order: 400,
  scope: 'read',
  icon: 'M3 12h4l3-8 4 16 3-8h4',
  view: whenLooked(async () => (await import('../health/health-view.ts')).HealthView),
});
