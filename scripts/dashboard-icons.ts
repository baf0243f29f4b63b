// Makes the icons of the dashboard from its SVG, in Debian's Chromium, for systems that take no SVG: once with its round
// corners, and once to the edges for a system that cuts them itself.
//
//   npm run dashboard-icons
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const FOLDER = join(import.meta.dirname, '../skills/dashboard/add/ui');
const round = readFileSync(join(FOLDER, 'icon.svg'), 'utf8');
/** What is cut off may be the outer tenth. */
const whole = round
  .replace('rx="7" ', '')
  .replace('<path', '<path transform="translate(3.2 3.2) scale(.8)"');

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run'],
});
for (const [name, size, svg] of [
  ['icon-192', 192, round],
  ['icon-512', 512, round],
  ['icon-maskable', 512, whole],
] as const) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  const style = '* { margin: 0 } svg { display: block; width: 100vw; height: 100vh }';
  await page.setContent(`<style>${style}</style>${svg}`);
  await page.screenshot({ path: join(FOLDER, `${name}.png`), omitBackground: true });
}
await browser.close();
