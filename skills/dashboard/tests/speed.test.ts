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
    /** Elements with a time are one for each entry, shown or kept by something. */
    const memory = async () => {
      await session.send('HeapProfiler.collectGarbage');
      const { result } = await session.send('Runtime.evaluate', {
        expression: 'HTMLTimeElement.prototype',
      });
      const { objects } = await session.send('Runtime.queryObjects', {
        prototypeObjectId: result.objectId ?? '',
      });
      const { result: entries } = await session.send('Runtime.callFunctionOn', {
        objectId: objects.objectId ?? '',
        functionDeclaration: 'function () { return this.length; }',
      });
      await session.send('Runtime.releaseObject', { objectId: objects.objectId ?? '' });
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      return { entries: Number(entries.value), heapMb: usedSize / 1e6 };
    };
    const open = async (at: number) => {
      await go(page, `chat/${encodeURIComponent(chatOf(at))}`);
      // A handle of an element would keep it.
      await page.locator(`.talk h1:text-is("Room ${at}")`).waitFor();
      await page.locator('.said').first().waitFor();
    };
    const round = async () => {
      for (let at = 1; at <= 30; at += 1) await open(at);
    };
    expect(await page.locator('aside .list li').count()).toBeLessThan(100);
    await round();
    asked.length = 0;
    await round();
    await round();
    // Of ninety chats at least eight entries each were drawn; those of the last two or three may be here still.
    const { entries, heapMb } = await memory();
    expect({ entries, heapMb }).toEqual({
      entries: expect.toSatisfy((count: number) => count <= 150),
      heapMb: expect.toSatisfy((mb: number) => mb < 20),
    });
    await expect
      .poll(() => asked.map(({ path: one }) => one))
      .toEqual(Array(60).fill('/dashboard/api/chat/history'));
    await expect.poll(() => page.locator('.said').count()).toBe(50);
    expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(3_000);
    // The long text comes part by part, and nothing of it before somebody asks.
    asked.length = 0;
    await open(0);
    await expect.poll(() => asked.map(({ bytes }) => bytes < 100_000)).toEqual([true]);
    const more = page.locator('.said button');
    for (const sum of [100_000, 200_000]) {
      await more.click();
      await expect
        .poll(async () => (await page.locator('.said:last-child').textContent())?.length ?? 0)
        .toBeGreaterThan(sum - 2_000);
    }
    const parts = () => asked.slice(1).map(({ bytes }) => bytes < 120_000);
    await expect.poll(parts).toEqual([true, true]);
    // More chats are drawn when the end of their list comes near.
    const drawn = await page.locator('aside .list a').count();
    await page.locator('aside').evaluate((list) => list.scrollTo(0, 1e6));
    await expect.poll(() => page.locator('aside .list a').count()).toBeGreaterThan(drawn);
    expect(faults).toEqual([]);
    await context.close();
  },
);
