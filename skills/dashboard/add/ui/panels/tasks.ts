import { whenLooked } from '../lazy-view.ts';
import { definePanel } from '../page.ts';

export const panel = definePanel({
  name: 'tasks',
  order: 600,
  scope: 'read',
  icon: 'M5 5h14v15H5zM8 3v4M16 3v4M5 10h14M9 14h6',
  view: whenLooked(async () => (await import('../tasks/tasks-view.ts')).TasksView),
});
