import { expect, test } from 'vitest';
import { openProject, serveOn } from './assistant.ts';
import { openBrowser, playwright } from './chromium.ts';

const visit = openBrowser();

test.skipIf(playwright === null)(
  'the page installs as an app, says when the assistant is away, and goes on when it is back',
  async () => {
    const project = openProject();
    const first = await serveOn(project);
    const { page, context, faults } = await visit(first);
    const session = await context.newCDPSession(page);
    const { errors, url, data } = await session.send('Page.getAppManifest');
    expect([errors, url]).toEqual([[], `${first.origin}/dashboard/ui/manifest.json`]);
    expect(JSON.parse(data ?? '')).toMatchObject({ name: 'Andy', display: 'standalone' });
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)');
    await expect
      .poll(() => page.evaluate('navigator.serviceWorker.controller !== null'))
      .toBe(true);
    expect(faults).toEqual([]);
    await first.stop();
    await page.goto(`${first.origin}/dashboard`);
    await page.locator('text=The assistant cannot be reached now').waitFor();
    // Styled by what was kept, under the same policy.
    const size = `getComputedStyle(document.querySelector('main')).maxWidth`;
    expect(await page.evaluate(size)).not.toBe('none');
    await using again = await serveOn(project);
    expect(again.origin).toBe(first.origin);
    await page.click('a:text("Try again")');
    await page.waitForSelector('nav a');
    await context.close();
  },
);
