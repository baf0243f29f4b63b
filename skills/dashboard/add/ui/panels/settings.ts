import { whenLooked } from '../lazy-view.ts';
import { definePanel } from '../page.ts';

export const panel = definePanel({
  name: 'settings',
  order: 800,
  scope: 'admin',
  icon: 'M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4M4 12h5M13 12h7M11 10v4',
  view: whenLooked(async () => (await import('../settings/settings-view.ts')).SettingsView),
});
