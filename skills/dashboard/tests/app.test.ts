import { expect, test } from 'vitest';
import { openProject, serveOn } from './assistant.ts';
import { go, openBrowser, playwright } from './chromium.ts';
import { browserKeys, decrypted, pushService } from './push-service.ts';

const visit = openBrowser();

test.skipIf(playwright === null)(
  'the page installs as an app, says when the assistant is away, and goes on when it is back',
  async () => {
    const project = openProject();
    const first = await serveOn(project);
    const { page, context, faults } = await visit(first, { serviceWorkers: 'allow' });
    const session = await context.newCDPSession(page);
    const { errors, url, data } = await session.send('Page.getAppManifest');
    expect([errors, url]).toEqual([[], `${first.origin}/dashboard/ui/manifest.json`]);
    const manifest = JSON.parse(data ?? '');
    expect(manifest).toMatchObject({ name: 'Andy', display: 'standalone' });
    for (const { src, type, sizes } of manifest.icons) {
      const answer = await page.request.get(`${first.origin}${src}`);
      expect([src, answer.status(), answer.headers()['content-type']]).toEqual([src, 200, type]);
      if (sizes === 'any') continue;
      const picture = await answer.body();
      const size = `${picture.readUInt32BE(16)}x${picture.readUInt32BE(20)}`;
      expect([src, size]).toEqual([src, sizes]);
    }
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

/**
 * The browser's maker answers a subscription, which no test can reach: in its place stands the push service of the test.
 * The permission, the worker and the notification are the browser's own.
 */
const SUBSCRIBE = (endpoint: string, p256dh: string, auth: string) => `
  let subscription = null;
  PushManager.prototype.getSubscription = async () => subscription;
  PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    window.askedWith = applicationServerKey;
    return subscription = {
      toJSON: () => (${JSON.stringify({ endpoint, keys: { p256dh, auth } })}),
      unsubscribe: async () => { subscription = null; return true; },
    };
  };`;

test.skipIf(playwright === null)(
  'the switch lets a browser be told: it is, shows the notification, and is not any more when it is switched off',
  async () => {
    using service = await pushService();
    const settings = { DASHBOARD_PUSH_INSIDE: 'yes' };
    await using served = await serveOn(openProject(), undefined, { settings });
    const { page, context, faults } = await visit(served, { serviceWorkers: 'allow' });
    await go(page, 'settings');
    const toggle = page.locator('input[type="checkbox"]');
    // Without the permission it stays off, and says why.
    await toggle.click();
    await page.locator('.problem[role="alert"]').waitFor();
    expect(await toggle.isChecked()).toBe(false);
    await context.grantPermissions(['notifications'], { origin: served.origin });
    const keys = browserKeys();
    const [p256dh, auth] = [keys.ecdh.getPublicKey('base64url'), keys.auth.toString('base64url')];
    await page.evaluate(SUBSCRIBE(`${service.origin}/send/1`, p256dh, auth));
    await toggle.click();
    await expect.poll(() => toggle.isChecked()).toBe(true);
    expect(await page.evaluate('askedWith')).toMatch(/^[\w-]{87}$/);
    await served.terminal.say('ping');
    await expect.poll(() => service.got.length).toBe(1);
    const notice = decrypted(service.got[0]?.body ?? Buffer.alloc(0), keys);
    expect(JSON.parse(notice)).toMatchObject({ body: 'pong' });
    // What comes by the push service is handed to the worker of the browser, while nobody looks at the page.
    const session = await context.newCDPSession(page);
    const registered = Promise.withResolvers<string>();
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [known] = registrations;
      if (known !== undefined) registered.resolve(known.registrationId);
    });
    await session.send('ServiceWorker.enable');
    const registrationId = await registered.promise;
    const [worker] = context.serviceWorkers();
    await worker?.evaluate('clients.matchAll = async () => []');
    const push = { origin: served.origin, registrationId, data: notice };
    await session.send('ServiceWorker.deliverPushMessage', push);
    const shown = () =>
      worker?.evaluate<string[]>(
        'registration.getNotifications().then((all) => all.map(({ title, body }) => title + ": " + body))',
      );
    await expect.poll(shown).toEqual(['Terminal: pong']);
    await toggle.click();
    await expect.poll(() => toggle.isChecked()).toBe(false);
    await served.terminal.say('ping again');
    await expect
      .poll(() => served.terminal.sent.filter(({ text }) => text === 'pong').length)
      .toBe(2);
    expect(service.got).toHaveLength(1);
    expect(faults).toEqual([]);
    await context.close();
  },
);
