import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chatOf, fillHistory } from '../../../src/testing/long-history.ts';
import { openProject, serveOn } from './assistant.ts';
import { go, openBrowser, playwright } from './chromium.ts';

const visit = openBrowser();

// Its figures are those of scripts/bench/dashboard.ts. Here is counted what they come from.
test.skipIf(playwright === null)(
  'with many chats and a text of megabytes a switch asks once, draws what is seen and leaves nothing behind',
  async () => {
    const project = openProject();
    const path = join(project.dir, 'data/claw.db');
    fillHistory({ path, chats: 200, messages: 20_000, longBytes: 5_000_000 });
    await using served = await serveOn(project);
    const { page, context, faults } = await visit(served);
    const asked: { path: string; bytes: number }[] = [];
    page.on('response', async (response) => {
      const { pathname } = new URL(response.url());
      if (!pathname.startsWith('/dashboard/api/')) return;
      asked.push({ path: pathname, bytes: (await response.text().catch(() => '')).length });
    });
    const session = await context.newCDPSession(page);
    const heap = async () => {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Runtime.getHeapUsage')).usedSize;
    };
    const open = async (at: number) => {
      await go(page, `chat/${encodeURIComponent(chatOf(at))}`);
      await page.waitForSelector(`.talk h1:text-is("Room ${at}")`);
      await page.waitForSelector('.said');
    };
    const round = async () => {
      for (let at = 1; at <= 30; at += 1) await open(at);
    };
    expect(await page.locator('aside .list li').count()).toBeLessThan(100);
    await round();
    const before = await heap();
    asked.length = 0;
    await round();
    await round();
    expect(await heap()).toBeLessThan(before + 4_000_000);
    expect(asked.map(({ path: one }) => one)).toEqual(
      Array(60).fill('/dashboard/api/chat/history'),
    );
    await expect.poll(() => page.locator('.said').count()).toBe(50);
    expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(3_000);
    // The long text comes part by part, and nothing of it before somebody asks.
    asked.length = 0;
    await open(0);
    expect(asked.map(({ bytes }) => bytes < 100_000)).toEqual([true]);
    const more = page.locator('.said button');
    for (const sum of [100_000, 200_000]) {
      await more.click();
      await expect
        .poll(async () => (await page.locator('.said:last-child').textContent())?.length ?? 0)
        .toBeGreaterThan(sum - 2_000);
    }
    expect(asked.slice(1).map(({ bytes }) => bytes < 120_000)).toEqual([true, true]);
    // More chats are drawn when the end of their list comes near.
    const drawn = await page.locator('aside .list a').count();
    await page.locator('aside').evaluate((list) => list.scrollTo(0, 1e6));
    await expect.poll(() => page.locator('aside .list a').count()).toBeGreaterThan(drawn);
    expect(faults).toEqual([]);
    await context.close();
  },
);
