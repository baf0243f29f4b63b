import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { serveDashboard } from './assistant.ts';
import { go, openBrowser, openTab, playwright } from './chromium.ts';

// A name of an attacker's that leads to this machine, as after DNS rebinding.
const visit = openBrowser(['--host-resolver-rules=MAP evil.example 127.0.0.1']);

/** A page of another program of this machine, at a port of its own. */
async function otherServer(cookie: () => string) {
  const server = createServer((_, response) => {
    const headers = { 'content-type': 'text/html', 'set-cookie': `${cookie()}; Path=/` };
    response.writeHead(200, headers).end('<!doctype html><title>Other</title><p>Other');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, [Symbol.dispose]: () => void server.close() };
}

test.skipIf(playwright === null)(
  'a page at another port of this machine reads and does nothing, and a cookie of its making lets nobody in',
  async () => {
    await using served = await serveDashboard();
    await using stranger = await serveDashboard();
    const { cookie: foreign } = await stranger.enter();
    const credential = foreign.slice(foreign.indexOf('=') + 1);
    let cookie = 'x=1';
    using other = await otherServer(() => cookie);
    const { page, context } = await visit(served);
    const tab = await context.newPage();
    await tab.goto(other.url);
    const statuses: number[] = [];
    tab.on('response', (response) => {
      if (response.url().startsWith(served.origin)) statuses.push(response.status());
    });
    const said = JSON.stringify(JSON.stringify({ jid: 'terminal:main', text: 'from elsewhere' }));
    const api = JSON.stringify(`${served.origin}/dashboard/api/`);
    // The cookie goes along: ports of a host are one site.
    const got = await tab.evaluate(`Promise.all([
      fetch(${api} + 'settings/me', { mode: 'no-cors', credentials: 'include' }),
      fetch(${api} + 'settings/me', { credentials: 'include' }),
      fetch(${api} + 'chat/say', { method: 'POST', mode: 'no-cors', credentials: 'include', body: ${said} }),
    ].map((asked) => asked.then(() => 'told something', () => 'nothing')))`);
    expect(got).toEqual(['nothing', 'nothing', 'nothing']);
    await tab.evaluate(`(() => {
      const form = document.createElement('form');
      Object.assign(form, { method: 'post', action: ${api} + 'chat/say', enctype: 'text/plain' });
      form.append(Object.assign(document.createElement('input'), { name: ${said}, value: '' }));
      document.body.append(form);
      form.submit();
    })()`);
    await expect.poll(() => statuses).toEqual([403]);
    // The tab is there before it goes elsewhere.
    await tab.waitForURL(`${served.origin}/dashboard/api/chat/say`);
    const texts = served.store.history.page('terminal:main', null, 50).map(({ text }) => text);
    expect(texts).not.toContain('from elsewhere');
    // The browser of the owner is still let in; then the other page puts a credential of another assistant in its place.
    expect(
      await page.evaluate("fetch('/dashboard/api/settings/me').then(({ status }) => status)"),
    ).toBe(200);
    for (const forged of [credential, 'aaaaaaaaaaaa.forged']) {
      cookie = `claw-device-${new URL(served.origin).port}=${forged}`;
      await context.clearCookies();
      await tab.goto(other.url);
      expect((await context.cookies(served.origin)).map(({ value }) => value)).toEqual([forged]);
      expect(
        await page.evaluate("fetch('/dashboard/api/settings/me').then(({ status }) => status)"),
      ).toBe(401);
    }
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'a name of somebody else that leads here shows nothing and takes no link',
  async () => {
    await using served = await serveDashboard();
    const { context } = await visit(served);
    const { port } = new URL(served.origin);
    const link = await served.link();
    const tab = await context.newPage();
    await tab.goto(`http://evil.example:${port}/dashboard/ui/icon.svg`);
    const status = (path: string, asked = '{}') =>
      tab.evaluate(
        `fetch('/dashboard' + ${JSON.stringify(path)}, ${asked}).then(({ status }) => status)`,
      );
    for (const path of ['/api/settings/me', '/api/chat/chats', '/stream']) {
      expect([path, await status(path)]).toEqual([path, 421]);
    }
    const code = new URL(link).hash.slice(1);
    const entry = JSON.stringify({ method: 'POST', body: JSON.stringify({ code, name: 'Evil' }) });
    expect(await status('/enter', entry)).toBe(403);
    // The code was not taken: it still lets its owner in.
    const faults: string[] = [];
    const fresh = await openTab(await visit(served).then((one) => one.context), faults);
    await fresh.goto(link);
    await fresh.waitForSelector('nav a');
    await context.close();
    await fresh.context().close();
  },
);

test.skipIf(playwright === null)(
  'a browser holds one stream however many tabs it has, and another tab takes it over',
  async () => {
    await using served = await serveDashboard();
    const { page, context, faults } = await visit(served);
    let streams = 0;
    context.on('request', (request) => {
      if (request.url().endsWith('/dashboard/stream')) streams += 1;
    });
    const tabs = [];
    for (let count = 0; count < 4; count += 1) {
      const tab = await openTab(context, faults);
      await tab.goto(`${served.origin}/dashboard#/chat/terminal%3Amain`);
      await tab.waitForSelector('nav a');
      tabs.push(tab);
    }
    await go(page, 'chat/terminal%3Amain');
    await served.terminal.say('one for all');
    for (const tab of tabs) await tab.waitForSelector('.said :text("one for all")');
    expect(streams).toBe(0);
    await page.close();
    await expect.poll(() => streams).toBe(1);
    await served.terminal.say('after the first was closed');
    for (const tab of tabs) await tab.waitForSelector('.said :text("after the first was closed")');
    expect([streams, faults]).toEqual([1, []]);
    await context.close();
  },
);
