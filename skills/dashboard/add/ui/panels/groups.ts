import { whenLooked } from '../lazy-view.ts';
import { definePanel } from '../page.ts';

export const panel = definePanel({
  name: 'groups',
  order: 500,
  scope: 'read',
  icon: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6M16 11a3 3 0 1 0 0-6M2 20c0-4 2-6 6-6s6 2 6 6M16 14c4 0 6 2 6 6',
  view: whenLooked(async () => (await import('../groups/groups-view.ts')).GroupsView),
});
