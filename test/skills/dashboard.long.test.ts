import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithEngine } from '../../src/testing/engine.ts';
import {
  type AnthropicScript,
  type AnthropicServer,
  lastUserText,
  startAnthropicServer,
} from '../../src/testing/model/anthropic.ts';
import { Assistant } from '../story/assistant.ts';
import { type Clone, cloneWithoutProof, runThere } from '../story/clone.ts';

// Debian's Chromium is the far end. `.ci/run` installs it.
const CHROMIUM = '/usr/bin/chromium';
const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const MINUTES = 20 * 60_000;

let model: AnthropicServer;
let clone: Clone;
let browser: Browser;

/** Writes slowly where it is asked for a story; anything else is answered at once. */
const storyTeller: AnthropicScript = (request) => {
  const blocks = [
    { type: 'text', text: `Once upon a time ${'there was tea. '.repeat(40)}` },
  ] as const;
  if (!lastUserText(request).includes('story'))
    return [{ type: 'text', text: 'Tea is **ready**.' }];
  return { kind: 'slow', blocks, chunkBytes: 200, delayMs: 200 };
};

/** Asks for a link, until the page runs. */
async function linkOf(assistant: Assistant): Promise<string> {
  for (;;) {
    const [link] = /http:\/\/127\S+/.exec(await assistant.ask('/dashboard')) ?? [];
    if (link !== undefined) return link;
  }
}

test.runIf(process.env['CLAW_REQUIRE_ENGINE'] === '1')('Chromium is there', () => {
  expect(existsSync(CHROMIUM)).toBe(true);
});

if (existsSync(CHROMIUM)) {
  beforeAll(async () => {
    model = await startAnthropicServer(storyTeller);
    clone = cloneWithoutProof({
      ANTHROPIC_API_KEY: 'sk-ant-test',
      ANTHROPIC_BASE_URL: model.url,
      CLAW_SANDBOX: 'bubblewrap',
    });
    const run = await clone.claw('apply', 'dashboard');
    expect(run.json.error).toBeNull();
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS });
  }, MINUTES);
  afterAll(async () => {
    await browser?.close();
    await clone?.[Symbol.asyncDispose]();
    await model?.close();
  });

  test('the skill’s own tests pass in a browser', async () => {
    // In a network of their own: a browser breaks all its connections, also local ones, whenever an address of the
    // machine comes or goes, as with each container of another test.
    const alone = ['bwrap', '--dev-bind', '/', '/', '--unshare-net', '--die-with-parent'] as const;
    const command = ['node_modules/.bin/vitest', 'run', '--no-isolate', 'skills/dashboard/tests'];
    const { code, stdout } = await runThere(clone.root, [...alone, clone.nodePath, ...command]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('0 failed, 0 skipped')]);
  });

  await describeWithEngine('bubblewrap', 'a real assistant', () => {
    test('its page streams an answer, says that it was killed in the middle, and goes on when it is back', async () => {
      await using assistant = await Assistant.start(clone);
      const verb = await clone.claw('dashboard', '--scope', 'read');
      expect(verb.json).toMatchObject({
        ok: true,
        data: { links: [expect.stringContaining('#')] },
      });
      const context = await browser.newContext({ locale: 'en' });
      context.setDefaultTimeout(MINUTES);
      const page = await context.newPage();
      const violations: string[] = [];
      page.on('console', (message) => {
        if (message.text().includes('Content Security Policy')) violations.push(message.text());
      });
      page.on('pageerror', ({ message }) => violations.push(message));
      // A link counts for a minute.
      await page.goto(await linkOf(assistant));
      await page.fill('.composer textarea', 'is the tea ready?');
      await page.keyboard.press('Enter');
      await page.waitForSelector('.said strong:text("ready")', { timeout: MINUTES });
      await page.fill('.composer textarea', 'tell me a story');
      await page.keyboard.press('Enter');
      await page.waitForSelector('.live :text("Once upon a time")', { timeout: MINUTES });
      await assistant.kill();
      await page.waitForSelector('.offline', { timeout: MINUTES });
      await using _again = await Assistant.start(clone);
      await page.waitForSelector('.offline', { state: 'detached', timeout: MINUTES });
      // The turn was taken over; its answer comes to the page that was open all the time.
      await page.waitForSelector('.said:not(.live) :text("Once upon a time")', {
        timeout: MINUTES,
      });
      // Its steps and their cost are there.
      await page.evaluate("location.hash = '#/turns'");
      await page.click('tbody a >> nth=0');
      await page.waitForSelector('.steps :text("anthropic/")');
      expect(violations).toEqual([]);
      await context.close();
    });
  });
}
