import { whenLooked } from '../lazy-view.ts';
import { definePanel } from '../page.ts';

export const panel = definePanel({
  name: 'costs',
  order: 700,
  scope: 'read',
  icon: 'M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6',
  view: whenLooked(async () => (await import('../costs/costs-view.ts')).CostsView),
});
