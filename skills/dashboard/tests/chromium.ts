import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { Served } from './assistant.ts';

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
/** The browser is a package of the system's, and not of this tree: without it the page is tried by its requests alone. */
export const playwright = existsSync(CHROMIUM)
  ? await import('playwright-core').catch(() => null)
  : null;

/** What is waited for comes, or a hang is ended: a machine with other work is ten times slower. */
const PATIENCE_MS = 300_000;

/** Starts the browser for the tests of a file, and returns what opens pages in it. */
export function openBrowser(flags: readonly string[] = []) {
  let browser: Browser;
  beforeAll(async () => {
    const launched = await playwright?.chromium.launch({
      executablePath: CHROMIUM,
      args: [...ARGS, ...flags],
    });
    if (launched !== undefined) browser = launched;
  });
  afterAll(() => browser?.close());

  /**
   * Lets a browser of its own in, and notes all that goes wrong in it. Without the page's worker, unless that is what is
   * tried: at a moment of its own it takes over what the page asks for, and `page.route` does not see that any more.
   */
  return async (served: Pick<Served, 'link'>, options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({
      locale: 'en',
      serviceWorkers: 'block',
      ...options,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const faults: string[] = [];
    const page = await openTab(context, faults);
    await page.goto(await served.link());
    await page.waitForSelector('nav a');
    return { context, page, faults };
  };
}

export async function openTab(context: BrowserContext, faults: string[]): Promise<Page> {
  const page = await context.newPage();
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    // A container that comes or goes on this machine changes its network; the page asks again.
    const isOurs = !message.text().includes('net::ERR_NETWORK_CHANGED');
    if (message.type() === 'error' && isOurs) faults.push(message.text());
  });
  page.on('dialog', async (dialog) => {
    faults.push(`dialog ${dialog.message()}`);
    await dialog.dismiss();
  });
  page.on('request', (request) => {
    if (new URL(request.url()).hostname !== '127.0.0.1') faults.push(`asks ${request.url()}`);
  });
  return page;
}

// What runs in the page is text: its types are not part of this program.
export const go = (page: Page, place: string) =>
  page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);

/** Beside the browser: a package of the release's own tests. */
export const axe = playwright === null ? '' : sourceOf('axe-core');

function sourceOf(name: string): string {
  try {
    return readFileSync(createRequire(import.meta.url).resolve(name), 'utf8');
  } catch {
    return ''; // A tree without the packages of its tests.
  }
}

/** The serious findings in the page as it is now, with the elements that they are about. */
const RUN_AXE = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html + ' ' + failureSummary).join(' | ')))`;

/** Returns what axe finds in the page as it is now; nothing in a tree without the packages of its tests. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  if (axe === '') return [];
  await page.evaluate(axe);
  return await page.evaluate<readonly string[]>(RUN_AXE);
}
