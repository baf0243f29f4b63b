import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { expect, test } from 'vitest';
import { Assistant } from './story/assistant.ts';
import { cloneWithoutProof, packedClone } from './story/clone.ts';

const CHROMIUM = '/usr/bin/chromium';
const ARGS = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run'];

test.runIf(process.env['CLAW_REQUIRE_ENGINE'] === '1')('Chromium is there', () => {
  expect(existsSync(CHROMIUM)).toBe(true);
});

test.skipIf(!existsSync(CHROMIUM))(
  'a tree that was packed without its packages shows the page at its first `npm start`',
  async () => {
    await using clone = cloneWithoutProof();
    expect((await clone.claw('apply', 'dashboard')).json.error).toBeNull();
    await using packed = packedClone(clone);
    expect(existsSync(packed.path('node_modules'))).toBe(false);
    expect(packed.read('npm-shrinkwrap.json')).toBe(clone.read('package-lock.json'));
    const settings = ['ANTHROPIC_API_KEY=sk-ant-test', 'ANTHROPIC_BASE_URL=http://127.0.0.1:9'];
    packed.write({ '.env': { text: `${settings.join('\n')}\n`, mode: 0o600 } });
    await using assistant = await Assistant.start(packed, 'npm');
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS });
    try {
      const page = await (await browser.newContext({ locale: 'en' })).newPage();
      page.setDefaultTimeout(20 * 60_000);
      const faults: string[] = [];
      page.on('pageerror', ({ message }) => faults.push(message));
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      let link: string | undefined;
      while (link === undefined) {
        [link] = /http:\/\/127\S+/.exec(await assistant.ask('/dashboard')) ?? [];
      }
      await page.goto(link);
      await page.waitForSelector('nav :text("Code")');
      await page.evaluate("location.hash = '#/code'");
      await page.waitForSelector('.card:has-text("dashboard") :text("Take out?")');
      // Charts are a bundle of their own.
      await page.evaluate("location.hash = '#/costs'");
      await page.waitForSelector('main .uplot, main :text("By model")');
      expect(faults).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);
