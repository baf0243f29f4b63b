import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Assistant } from '../story/assistant.ts';
import { type Clone, cloneWithoutProof, copyClone, runThere } from '../story/clone.ts';

// Skills of strangers that build on the dashboard: two add a panel each, and one moves its bar.

const PACKAGES = join(import.meta.dirname, 'dashboard-packages');
const CHROMIUM = '/usr/bin/chromium';
const ARGS = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run'];
const MINUTES = 20 * 60_000;
const SETTINGS = {
  ANTHROPIC_API_KEY: 'sk-ant-test',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
  CLAW_SANDBOX: 'bubblewrap',
};

let clones: readonly Clone[];

beforeAll(async () => {
  const one = cloneWithoutProof(SETTINGS);
  for (const name of readdirSync(PACKAGES)) {
    cpSync(join(PACKAGES, name), one.path(`skills/${name}`), { recursive: true });
  }
  const other = copyClone(one);
  clones = [one, other];
  await applyInTurn(one, 'dashboard', 'reactions', 'busiest', 'bar-at-right');
  // What needs the dashboard is applied with it.
  await applyInTurn(other, 'bar-at-right dashboard', 'busiest', 'reactions');
}, MINUTES);
afterAll(async () => {
  for (const clone of clones) await clone[Symbol.asyncDispose]();
});

async function applyInTurn(clone: Clone, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { json } = await clone.claw('apply', ...name.split(' '));
    expect([name, json.error, json.conflicts]).toEqual([name, null, []]);
  }
}

test('foreign panels and another layout compose to one tree in both orders, with good types', async () => {
  const [one, other] = clones.map((clone) => clone.code());
  const shared = (tree: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(tree).filter(([path]) => !path.startsWith('.claw/')));
  expect(shared(other)).toEqual(shared(one));
  const [clone] = clones;
  if (clone === undefined) throw new Error('There is no clone.');
  const bin = (name: string) => `node_modules/.bin/${name}`;
  for (const command of [
    [bin('tsc'), '--noEmit'],
    [bin('vitest'), 'run', '--no-isolate', 'skills/dashboard/tests/page.test.ts', '-t', 'typed'],
  ]) {
    const { code, stdout } = await runThere(clone.root, [clone.nodePath, ...command]);
    expect([code, stdout.slice(-4_000)]).toEqual([0, expect.any(String)]);
  }
});

test.runIf(process.env['CLAW_REQUIRE_ENGINE'] === '1')('Chromium is there', () => {
  expect(existsSync(CHROMIUM)).toBe(true);
});

test.skipIf(!existsSync(CHROMIUM))('a browser shows them, whichever came first', async () => {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS });
  try {
    for (const clone of clones) await look(browser, clone);
  } finally {
    await browser.close();
  }
});

async function look(browser: Browser, clone: Clone): Promise<void> {
  await using assistant = await Assistant.start(clone);
  const context = await browser.newContext({
    locale: 'en',
    viewport: { width: 1200, height: 800 },
  });
  const page = await context.newPage();
  page.setDefaultTimeout(MINUTES);
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    // A browser breaks its connections when an address of the machine comes or goes. The page asks again.
    if (message.type() === 'error' && !message.text().endsWith('net::ERR_NETWORK_CHANGED'))
      faults.push(message.text());
  });
  await page.goto(await linkOf(assistant));
  await page.waitForSelector('nav a');
  expect(await page.locator('nav a').allInnerTexts()).toEqual([
    'Chat',
    'Turns',
    'Reactions',
    'Code',
    'Health',
    'Groups',
    'Tasks',
    'Busiest',
    'Costs',
    'Settings',
  ]);
  const bar = await page.locator('.page > header').boundingBox();
  const content = await page.locator('main').boundingBox();
  expect(bar?.x).toBeGreaterThanOrEqual((content?.x ?? 0) + (content?.width ?? 0) - 1);
  await go(page, 'reactions');
  await page.waitForSelector('main :text("Nobody has put an emoji")');
  await go(page, 'busiest');
  await page.waitForSelector('main td:text("Terminal")');
  expect(faults).toEqual([]);
  await context.close();
}

const go = (page: Page, place: string) => page.evaluate(`location.hash = '#/${place}'`);

/** Asks for a link, until the page runs. */
async function linkOf(assistant: Assistant): Promise<string> {
  for (;;) {
    const [link] = /http:\/\/127\S+/.exec(await assistant.ask('/dashboard')) ?? [];
    if (link !== undefined) return link;
  }
}
