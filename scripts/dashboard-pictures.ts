// Takes docs/pictures/: the dashboard of a real assistant, in Debian's Chromium, from the desk and from the phone. Only
// the model is made up, so that its words are the same each time.
//
//   npm run dashboard-pictures
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import {
  type AnthropicScript,
  lastUserText,
  startAnthropicServer,
} from '../src/testing/model/anthropic.ts';
import { Assistant } from '../test/story/assistant.ts';
import { cloneWithoutProof } from '../test/story/clone.ts';

const FOLDER = join(import.meta.dirname, '../docs/pictures');
const SKILLS = ['dashboard', 'notes', 'pins', 'quiet-hours', 'private-answers'];
const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 780 };
const LONG_MS = 10 * 60_000;

/** What is said in the chat before the pictures, with what the agent answers. */
const TALK: readonly (readonly [asked: string, answer: string])[] = [
  [
    'What do we still need for Saturday?',
    'Three things are open:\n\n- **Cake**: Ada bakes it, she needs eggs.\n- **Chairs**: eight of twelve are there.\n- **Music**: nobody has said yes yet.',
  ],
  [
    'How much is left of the budget?',
    'Of **€180** you have spent **€121.40**:\n\n| for | € |\n|---|---|\n| drinks | 64.90 |\n| flowers | 31.50 |\n| printing | 25.00 |',
  ],
];

const script: AnthropicScript = (request) => {
  const said = JSON.stringify(request);
  const [asked, answer] = TALK.findLast(([question]) => said.includes(question)) ?? ['', 'Good.'];
  const isFirst = lastUserText(request).includes(asked);
  if (isFirst && asked.includes('budget'))
    return [{ type: 'tool_use', id: 'call1', name: 'shell', input: { command: 'echo 121.40' } }];
  return [{ type: 'text', text: answer }];
};

/** A line of the core, which a skill saw otherwise and wants to be another: a conflict to look at. */
const DISAGREED = 'src/host/greeting.ts';
const OF_THE_CORE = 'Hello, I am';

mkdirSync(FOLDER, { recursive: true });
const model = await startAnthropicServer(script);
const clone = cloneWithoutProof({
  ANTHROPIC_API_KEY: 'sk-ant-picture',
  ANTHROPIC_BASE_URL: model.url,
  CLAW_SANDBOX: 'bubblewrap',
});
const flags = '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run'.split(' ');
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: [
    ...flags,
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
let assistant: Assistant | null = null;
try {
  const applied = await clone.claw('apply', ...SKILLS);
  if (applied.code !== 0) throw new Error(JSON.stringify(applied.json));
  assistant = await Assistant.start(clone);
  // Browsers are let in before the talk, so that the chat ends with it.
  const light = await enter({ colorScheme: 'light', viewport: DESK });
  const dark = await enter({ colorScheme: 'dark', viewport: DESK });
  const phone = await enter({ colorScheme: 'dark', viewport: PHONE });
  const bright = await enter({ colorScheme: 'light', viewport: PHONE });
  await assistant.ask('/pin The caretaker opens the hall at nine');
  for (const [asked] of TALK) await assistant.ask(asked);
  await take(light, 'chat-desk', 'chat/terminal%3Amain');
  await take(phone, 'chat-phone', 'chat/terminal%3Amain');
  await take(dark, 'turns-desk', 'turns');
  await take(light, 'code-desk', 'code');
  await take(light, 'plan-desk', 'code/plan/apply/voice');
  await take(dark, 'why-desk', 'code/why/src/store/outbox.ts:113');
  await take(light, 'together-desk', 'code/together');
  await take(bright, 'code-phone', 'code');
  await take(light, 'groups-desk', 'groups');
  await take(phone, 'health-phone', 'health');
  const greeting = clone.read(DISAGREED);
  if (!greeting.includes(OF_THE_CORE)) throw new Error(`${DISAGREED} greets in other words.`);
  clone.write({
    'skills/informal/manifest.yaml':
      'skill: informal\nversion: 1.0.0\ndescription: Greets you as a friend does\ncore_version: 0.1.0\n',
    'skills/informal/SKILL.md':
      '---\nname: informal\ndescription: Greets you as a friend does\n---\n',
    [`skills/informal/base/${DISAGREED}`]: greeting.replace(OF_THE_CORE, 'Good day from'),
    [`skills/informal/modify/${DISAGREED}`]: greeting.replace(OF_THE_CORE, 'Hi there! This is'),
  });
  await assistant.ask('/add-informal');
  await take(dark, 'conflicts-desk', 'code/conflicts');
} finally {
  await assistant?.stop();
  await browser.close();
  await clone[Symbol.asyncDispose]();
  await model.close();
}

/** Takes a picture of a panel once it shows what it is for. */
async function take(page: Page, name: string, place: string): Promise<void> {
  await page.evaluate(`location.hash = '#/${place}'`);
  await page.waitForTimeout(1_000);
  for (const words of ['Asking the engine', 'Looking …', 'Composing every pair'])
    await page.waitForSelector(`text=${words}`, { state: 'detached' });
  if (place === 'groups') {
    for (const part of ['rules', 'memory']) {
      await page.click(`article >> nth=0 >> .${part} > summary`);
      await page.waitForSelector(`article >> nth=0 >> .${part} .row`);
    }
  }
  if (place === 'turns') {
    await page.click('tbody a >> nth=0');
    await page.waitForSelector('.steps');
  }
  await page.waitForTimeout(1_000);
  const path = join(FOLDER, `dashboard-${name}.png`);
  await page.screenshot({ path });
  console.log(path);
}

/** Lets a browser in, in English. */
async function enter(look: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ locale: 'en', ...look });
  const page = await context.newPage();
  page.setDefaultTimeout(LONG_MS);
  const { json } = await clone.claw('dashboard');
  const [link] = /http:\/\/127[^"]+/.exec(JSON.stringify(json)) ?? [];
  if (link === undefined) throw new Error(`No link: ${JSON.stringify(json)}`);
  await page.goto(link);
  await page.waitForSelector('nav');
  return page;
}
