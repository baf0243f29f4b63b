import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import { LinkedChannel } from '../../src/testing/whatsapp/linked-channel.ts';
import { startWhatsAppServer } from '../../src/testing/whatsapp/server.ts';
import { type Clone, cloneRepository } from '../story/clone.ts';
import { DayAssistant } from './assistant.ts';
import { isBudgetLine, judgeDay } from './judge.ts';
import { type PlannedChat, type PlannedMessage, planDay } from './plan.ts';
import { Town } from './town.ts';

const SEED = Number(process.env['CLAW_SEED'] ?? 20_261_121);
const SIZE = { groups: 20, messages: 2_000 };
/** The day's parts, as shares of its messages: after each, something happens to the assistant. */
const PARTS = [0.3, 0.55, 0.75, 0.85, 1];

/** A reminder comes so long after it was asked for: time to note it, on a busy machine too. */
const REMINDED_AFTER_MS = 20_000;

const ending: (() => PromiseLike<unknown>)[] = [];
afterAll(async () => {
  for (const end of ending.reverse()) await end();
});

test(`a day in the life: 2,000 messages in 20 groups (CLAW_SEED=${SEED})`, async () => {
  const plan = planDay(SEED, SIZE);
  const whatsapp = await startWhatsAppServer();
  whatsapp.isCrowded = true;
  ending.push(() => whatsapp.close());
  const town = new Town(whatsapp, plan);
  const clone = await home(whatsapp, await startModel());
  let assistant = new DayAssistant(clone);
  ending.push(() => assistant.stop());
  const heardByOwner = (): number => town.heardByOwner().length;

  async function command(text: string): Promise<string> {
    const before = heardByOwner();
    await town.sayAsOwner(text);
    await until(
      () => heardByOwner() > before,
      () => `${text} was not answered\n${assistant.output}`,
    );
    return town.heardByOwner()[before] ?? '';
  }

  const chats = plan.chats.filter(({ kind }) => kind !== 'unregistered');
  await command('/status');
  for (const { name, folder, kind } of chats) {
    const how = kind === 'always' ? ' always' : '';
    expect(await command(`/register "${name}" as ${folder}${how}`)).toContain(name);
  }
  const budgeted = theBudgeted(chats);
  // A turn takes 120 tokens or 240, so that one of them ends between 80 % and all of it.
  await command(`/budget ${budgeted.folder} 1200 tokens`);

  const tasks = new Map<PlannedChat, string>();
  let lastReminder = 0;
  async function remind(chat: PlannedChat): Promise<void> {
    const task = `T${tasks.size + 1}`;
    tasks.set(chat, task);
    const heard = (word: string) =>
      town.heardIn(chat).filter(({ text }) => text.includes(`${word} ${task}`)).length;
    for (let tries = 0; heard('noted') === 0; tries += 1) {
      const time = Date.now() + REMINDED_AFTER_MS * 2 ** tries;
      lastReminder = Math.max(lastReminder, time);
      const at = new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
      const text = `@Andy remind ${task} at ${at}`;
      await town.say({ chat, speaker: 0, text, as: 'lid', token: '', isAsked: true });
      await until(
        () => heard('noted') > 0 || heard('late') > tries,
        () => `${task} was not scheduled`,
      );
    }
  }

  // Each question of the chat with a budget is a turn of its own: how many a burst is depends on the machine.
  const hasSpent = () => town.heardIn(budgeted).some(({ text }) => isBudgetLine(text));
  async function sayInTurn(message: PlannedMessage): Promise<void> {
    const before = town.heardIn(budgeted).length;
    await town.say(message);
    if (message.chat !== budgeted || !message.isAsked || hasSpent() || !assistant.isUp) return;
    await until(
      () => town.heardIn(budgeted).length > before,
      () => `${message.token} was not answered\n${assistant.output}`,
    );
  }

  let said = 0;
  async function sayUntil(share: number): Promise<void> {
    for (; said < share * plan.messages.length; said += 1) {
      const message = plan.messages[said];
      if (message !== undefined) await sayInTurn(message);
      const stranger = said % 100 === 50 ? plan.strangers[said / 100 - 0.5] : undefined;
      if (stranger !== undefined) {
        await whatsapp.say(town.strangers[stranger.stranger], stranger.text);
      }
      if (said % 20 === 19) await delay(150);
    }
  }
  const [first = 0, second = 0, third = 0, fourth = 0, all = 1] = PARTS;

  await sayUntil(first);
  await Promise.all(chats.slice(5, 10).map(remind));

  whatsapp.cut();
  await sayUntil(second);

  assistant.crash();
  await sayUntil(third);

  const missed = chats[10];
  if (missed === undefined) throw new Error('no chat');
  await remind(missed);
  const { code, tookMs } = await assistant.stop();
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(60_000);
  await sayUntil(fourth);
  await delay(Math.max(0, lastReminder - Date.now()));
  assistant = new DayAssistant(clone);

  await until(
    hasSpent,
    () => `the budget was never reached: ${JSON.stringify(town.heardIn(budgeted))}`,
  );
  const spent = town.heardIn(budgeted).length;
  await delay(500);
  expect(town.heardIn(budgeted)).toHaveLength(spent);
  await command(`/budget ${budgeted.folder} none`);
  await sayUntil(all);

  const complaints = () => judgeDay(plan, town, tasks);
  await until(
    () => complaints().length === 0,
    () => [...complaints(), assistant.output.slice(-3_000)].join('\n'),
  );
  // What comes too much comes late.
  await delay(2_000);
  expect(complaints()).toEqual([]);
  expect(whatsapp.mailbox.size).toBe(0);
  const notices = town.heardByOwner().filter((text) => /^Today’s budget of/.test(text));
  expect(notices).toEqual([
    expect.stringMatching(/is nearly used up: .*80%/),
    expect.stringMatching(/is used up: .*100%/),
  ]);
}, 3_600_000);

function theBudgeted(chats: readonly PlannedChat[]): PlannedChat {
  const budgeted = chats.find(({ kind }) => kind === 'budgeted');
  if (budgeted === undefined) throw new Error('nobody has a budget');
  return budgeted;
}

/** Starts the model's server in a thread of its own. @returns its address */
async function startModel(): Promise<string> {
  const worker = new Worker(new URL('./model-worker.ts', import.meta.url));
  ending.push(() => worker.terminate());
  const [url] = await once(worker, 'message');
  return String(url);
}

/** A clone of the project on a machine of its own, paired with the server and with a model. */
async function home(
  whatsapp: Awaited<ReturnType<typeof startWhatsAppServer>>,
  modelUrl: string,
): Promise<Clone> {
  const clone = cloneRepository({
    ANTHROPIC_API_KEY: 'sk-ant-test-day',
    ANTHROPIC_BASE_URL: modelUrl,
    NODE_OPTIONS: '--import=./test/day/endpoint.ts',
    TEST_WHATSAPP_SOCKET: whatsapp.url,
    TEST_WHATSAPP_FILES: whatsapp.filesUrl,
  });
  ending.push(() => clone[Symbol.asyncDispose]());
  await new LinkedChannel(whatsapp, {}, {}, join(clone.root, 'data')).pair();
  return clone;
}

async function until(isSo: () => boolean, why: () => string, withinMs = 600_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(why());
    await delay(50);
  }
}
