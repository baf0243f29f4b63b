/**
 * Measures the page of the skill `dashboard` in Debian's Chromium, whose processor is slowed four times: the first paint,
 * the switch from chat to chat, the memory of a tab after many switches, and the time from a message to its answer
 * with five open tabs and without. Run it in a tree that has the skill:
 *
 *     npx node scripts/bench/dashboard.ts [messages] [chats] [switches]
 *
 * A busy machine slows all of it. So an empty page of the same server is opened interleaved with the dashboard, and an
 * empty change of the address with each switch.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';
import { discoverServices } from '../../src/host/contracts/service.ts';
import { openServices } from '../../src/host/services/services.ts';
import { startAssistant } from '../../src/testing/assistant.ts';
import { chatOf, fillHistory } from '../../src/testing/long-history.ts';

const SLOWED = 4;
const PAINTS = 40;
const SAMPLES = 400;
const TABS = 5;
const LONG_BYTES = 5_000_000;
const CHROMIUM = '/usr/bin/chromium';
const FLAGS =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --enable-precise-memory-info'.split(
    ' ',
  );

type Asked = 'link' | 'latency';

/** Notes in each page when its first content was painted, and when the last words of a chat were. */
const NOTE_PAINTS = `
  window.noted = new Promise((done) => {
    const found = {};
    const end = () => found.paint !== undefined && (found.words !== undefined || !location.hash) && done(found);
    new PerformanceObserver((list) => {
      const paint = list.getEntries().find(({ name }) => name === 'first-contentful-paint');
      if (paint !== undefined) { found.paint = paint.startTime; end(); }
    }).observe({ type: 'paint', buffered: true });
    const observer = new MutationObserver(() => {
      if (document.querySelector('.said') === null) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => { found.words = performance.now(); end(); }));
    });
    observer.observe(document, { childList: true, subtree: true });
  });`;

/** Goes to a chat by its address; ms until two frames are painted after its words are there. */
const GO = `(to, wanted) => new Promise((done) => {
  const from = performance.now();
  const end = () => requestAnimationFrame(() => setTimeout(() => done(performance.now() - from)));
  if (wanted === null) { location.hash = to; return end(); }
  const isThere = () => document.querySelector('.talk h1')?.textContent === wanted && document.querySelector('.talk .said') !== null;
  const observer = new MutationObserver(() => {
    if (!isThere()) return;
    observer.disconnect();
    end();
  });
  observer.observe(document.body, { childList: true, subtree: true, characterData: true });
  location.hash = to;
})`;

if (process.send !== undefined) await serve(process.argv[2] ?? '');
else if (import.meta.main) await main();

async function main(): Promise<void> {
  const [messages = 1_000_000, chats = 1_000, switches = 1_000] = process.argv.slice(2).map(Number);
  const dir = mkdtempSync(join(tmpdir(), 'claw-dashboard-'));
  const path = join(dir, 'data/claw.db');
  console.log(`dashboard, ${messages} messages in ${chats} chats, one of ${LONG_BYTES / 1e6} MB`);
  const began = performance.now();
  fillHistory({ path, chats, messages, longBytes: LONG_BYTES });
  console.log(`  filled in ${((performance.now() - began) / 1_000).toFixed(0)} s`);
  // The assistant has a core of its own: what is measured is its work for the tabs, and not theirs.
  const assistant = fork(import.meta.filename, [dir], {
    execPath: 'taskset',
    execArgv: ['-c', '0', process.execPath],
  });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  try {
    await once(assistant, 'message');
    await measure(assistant, browser, { chats, switches });
    await measureAnswers(assistant, dir);
  } finally {
    await browser.close();
    assistant.kill();
    rmSync(dir, { recursive: true, force: true });
  }
}

type Plan = { readonly chats: number; readonly switches: number };

async function measure(assistant: ChildProcess, browser: Browser, plan: Plan): Promise<void> {
  const context = await browser.newContext({ locale: 'en' });
  const page = await context.newPage();
  const link = String(await ask(assistant, 'link'));
  await page.goto(link);
  await page.waitForSelector('nav a');
  const { origin } = new URL(link);
  const slow = await slowed(page);
  const paints = await firstPaints(page, origin);
  print('first paint', paints.page, paints.empty, 300);
  print('first paint with the last words of the chat', paints.words, paints.empty, 300);
  const found = await switchChats(page, slow, plan);
  print('switching chats', found.took, found.empty, 100);
  print('switching to and from the chat with 5 MB', found.long, found.empty, 100);
  console.log(
    `  memory of the tab: ${found.before.toFixed(1)} MB of heap before, ${found.after.toFixed(1)} MB after ` +
      `${plan.switches} switches (goal 100); ${found.nodes} nodes`,
  );
  await page.close();
  await browser.close();
}

/** From a message to its answer, interleaved without a tab and with five tabs, whose browser is on the other cores. */
async function measureAnswers(assistant: ChildProcess, dir: string): Promise<void> {
  const program = join(dir, 'chromium');
  writeFileSync(program, `#!/bin/sh\nexec taskset -c 1-${cpus().length - 1} ${CHROMIUM} "$@"\n`, {
    mode: 0o755,
  });
  const browser = await chromium.launch({ executablePath: program, args: FLAGS });
  const context = await browser.newContext({ locale: 'en' });
  const link = String(await ask(assistant, 'link'));
  const { origin } = new URL(link);
  const first = await context.newPage();
  await first.goto(link);
  await first.waitForSelector('nav a');
  await first.close();
  const alone: number[] = [];
  const watched: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    alone.push(...((await ask(assistant, 'latency')) as number[]));
    const tabs = await Promise.all(Array.from({ length: TABS }, () => context.newPage()));
    for (const [at, tab] of tabs.entries()) {
      await tab.goto(`${origin}/dashboard#/${['chat/terminal%3Amain', 'turns', 'health'][at % 3]}`);
      await tab.waitForSelector('nav a');
    }
    await pause(1_000);
    watched.push(...((await ask(assistant, 'latency')) as number[]));
    for (const tab of tabs) await tab.close();
  }
  await browser.close();
  console.log(
    `  message to answer: p50 ${share(alone, 0.5)}, p99 ${share(alone, 0.99)} ms without a tab; ` +
      `p50 ${share(watched, 0.5)}, p99 ${share(watched, 0.99)} ms with ${TABS} tabs ` +
      `(p99 ${(quantile(watched, 0.99) / quantile(alone, 0.99)).toFixed(2)} times)`,
  );
}

async function slowed(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWED });
  return session;
}

type Noted = { readonly paint: number; readonly words: number };

/** Opens the page and one of 40 bytes, interleaved; ms from the request to the first paint, and to the last words. */
async function firstPaints(page: Page, origin: string) {
  const found = { page: [] as number[], words: [] as number[], empty: [] as number[] };
  await page.addInitScript(NOTE_PAINTS);
  for (let at = 0; at < PAINTS; at += 1) {
    await page.goto(`${origin}/dashboard/ui/icon.svg`);
    found.empty.push((await page.evaluate<Noted>('noted')).paint);
    await page.goto(`${origin}/dashboard#/chat/${encodeURIComponent(chatOf(at + 1))}`);
    const { paint, words } = await page.evaluate<Noted>('noted');
    found.page.push(paint);
    found.words.push(words);
    await pause(200);
  }
  return found;
}

async function switchChats(page: Page, session: CDPSession, { chats, switches }: Plan) {
  const found = { took: [] as number[], long: [] as number[], empty: [] as number[] };
  const go = (at: number) =>
    page.evaluate<number>(
      `(${GO})(${JSON.stringify(`#/chat/${encodeURIComponent(chatOf(at))}`)}, 'Room ${at}')`,
    );
  const heapMb = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    return usedSize / 1e6;
  };
  await go(1);
  const before = await heapMb();
  for (let at = 0; at < switches; at += 1) {
    const isLong = at % 10 === 9;
    const to = isLong ? 0 : 2 + ((at * 37) % (chats - 2));
    (isLong ? found.long : found.took).push(await go(to));
    if (at % 10 === 0) {
      found.empty.push(await page.evaluate<number>(`(${GO})(location.hash + '/', null)`));
    }
  }
  const nodes = await page.evaluate<number>("document.querySelectorAll('*').length");
  return { ...found, before, after: await heapMb(), nodes };
}

function print(what: string, found: readonly number[], empty: readonly number[], goal: number) {
  console.log(
    `  ${what}: p50 ${share(found, 0.5)}, p95 ${share(found, 0.95)} ms (goal ${goal}); ` +
      `empty p50 ${share(empty, 0.5)}, p95 ${share(empty, 0.95)}; ` +
      `p95 ${(quantile(found, 0.95) / quantile(empty, 0.95)).toFixed(1)} times`,
  );
}

function share(found: readonly number[], part: number): string {
  return quantile(found, part).toFixed(1);
}

function quantile(found: readonly number[], part: number): number {
  return found.toSorted((one, other) => one - other)[Math.floor(found.length * part)] ?? Number.NaN;
}

async function ask(assistant: ChildProcess, what: Asked): Promise<unknown> {
  const answered = once(assistant, 'message');
  assistant.send(what);
  return (await answered)[0];
}

/** The assistant, in a process of its own. The agent answers at once: what is left is the host's work. */
async function serve(dir: string): Promise<void> {
  const services = (await discoverServices()).filter(({ name }) => name === 'dashboard');
  if (services.length === 0) throw new Error('This tree has no dashboard: claw apply dashboard');
  const { terminal } = await startAssistant(dir, {
    over: { services: openServices(services, {}).services },
  });
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await pause(1);
  };
  process.on('message', (what: Asked) => {
    void (what === 'link' ? link() : latency()).then((answer) => process.send?.(answer));
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.('ready');

  async function link(): Promise<string | undefined> {
    for (;;) {
      const before = terminal.sent.length;
      await terminal.say('/dashboard');
      await until(() => terminal.sent.length > before);
      const [found] = /http:\/\/\S+/.exec(terminal.sent.at(-1)?.text ?? '') ?? [];
      if (found !== undefined) return found;
    }
  }

  async function latency(): Promise<readonly number[]> {
    const took: number[] = [];
    for (let count = 0; count < SAMPLES; count += 1) {
      const before = terminal.sent.length;
      const began = performance.now();
      const answered = Promise.withResolvers<void>();
      const send = terminal.send.bind(terminal);
      terminal.send = async (message) => {
        await send(message);
        if (terminal.sent.length > before) answered.resolve();
      };
      await terminal.say(`ping ${count}`);
      await answered.promise;
      took.push(performance.now() - began);
      terminal.send = send;
      await pause(20);
    }
    return took;
  }
}
