import { expect, test, vi } from 'vitest';
import { examination } from '../../../src/doctor/quiet-hours.ts';
import { isQuietAt, msToNextBorder, parseHours } from '../../../src/lib/quiet-hours/hours.ts';
import {
  type AgentScript,
  answers,
  answersOf,
  TestProject,
  textsOf,
} from '../../../src/testing/assistant.ts';
import { TestClock } from '../../../src/testing/clock.ts';
import {
  commands,
  FAMILY,
  isIdle,
  scheduleInFamily,
  soon,
  startWithFamily,
} from '../../../src/testing/turn/tasks.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const CONNECTED = { state: 'connected', detail: null } as const;
/** A Saturday, 23:30 in Berlin. */
const NIGHT = '2026-11-21T22:30:00Z';

type Started = Awaited<ReturnType<typeof startWithFamily>>;

/** An agent that repeats what it was asked last, as an answer. */
const echo: AgentScript = async ({ prompt }) => {
  const asked = /(?:@Andy |Say )(.*)/.exec(prompt)?.[1] ?? prompt;
  return answers(`on ${asked.split('\n')[0]}`);
};

const startAtNight = (project: TestProject, agent = echo, clock = new TestClock(NIGHT)) =>
  startWithFamily(project, agent, clock);

const inFamily = { jid: FAMILY, isDirect: false };

const ask = ({ chat }: Started, words: string, isOwner = false) =>
  chat.say(`@Andy ${words}`, { ...inFamily, isOwner, sender: isOwner ? 'ada' : 'ben' });

/** All turns have ended, and so many messages wait. */
const holds = ({ store }: Started, unsent: number) =>
  vi.waitFor(() => {
    expect(store.turns.counts()).toMatchObject({ queued: 0, running: 0, unsent });
  });

/** Lets time pass, and has the host look at its outbox, as it does at the latest after ten minutes. */
function pass({ clock, chat, terminal }: Started, ms: number): void {
  clock.pass(ms);
  terminal.become(CONNECTED);
  chat.become(CONNECTED);
}

test.each([
  ['22:00-7:00', { from: 1320, to: 420 }],
  ['22–7', { from: 1320, to: 420 }],
  ['00:30 - 24:00', { from: 30, to: 1440 }],
  ['all day', { from: 0, to: 1440 }],
  ['24:00-7:00', null],
  ['22:60-7:00', null],
  ['7-7', null],
  ['at night', null],
])('hours are read as they are typed: %s', (typed, hours) => {
  expect(parseHours(typed)).toEqual(hours);
});

test('each day counts by its own hours from midnight to midnight, on the clocks of their zone', () => {
  const week = {
    weekdays: { from: 22 * 60, to: 7 * 60 },
    weekends: { from: 23 * 60, to: 9 * 60 + 30 },
    timeZone: 'Europe/Berlin',
  };
  const quiet = (local: string) => isQuietAt(week, Date.parse(`${local}+01:00`));
  // Friday evening is a weekday's, Saturday morning a weekend's, Sunday evening a weekend's, Monday morning a weekday's.
  expect(quiet('2026-11-20T21:59')).toBe(false);
  expect(quiet('2026-11-20T22:00')).toBe(true);
  expect(quiet('2026-11-21T09:29')).toBe(true);
  expect(quiet('2026-11-21T09:30')).toBe(false);
  expect(quiet('2026-11-22T22:30')).toBe(false);
  expect(quiet('2026-11-22T23:00')).toBe(true);
  expect(quiet('2026-11-23T06:59')).toBe(true);
  expect(quiet('2026-11-23T07:00')).toBe(false);
  // Summer time: the same clocks, another moment.
  expect(isQuietAt(week, Date.parse('2026-07-01T22:00+02:00'))).toBe(true);
  expect(isQuietAt(week, Date.parse('2026-07-01T21:59+02:00'))).toBe(false);
  expect(msToNextBorder(week, Date.parse('2026-11-20T21:59:30+01:00'))).toBe(30_000);
  expect(msToNextBorder(week, Date.parse('2026-11-20T23:30+01:00'))).toBe(30 * MINUTE);
  expect(isQuietAt({ ...week, timeZone: 'Mars/Olympus' }, Date.parse('2026-11-20T22:00Z'))).toBe(
    true,
  );
});

test('a task’s answer and one to somebody else wait for the morning, in order and once, also over a restart', async () => {
  using project = new TestProject();
  const clock = new TestClock(NIGHT);
  let assistant = await startAtNight(project, echo, clock);
  expect(await commands(assistant, '/quiet 22:00-7:00')).toContain(
    '- all chats: 22:00–07:00 every day (Europe/Berlin), quiet now',
  );
  await scheduleInFamily(assistant, { ...soon, prompt: 'Say good night' });
  pass(assistant, 10 * MINUTE);
  await holds(assistant, 1);
  await ask(assistant, 'who is there?');
  await holds(assistant, 2);
  expect(textsOf(assistant.chat)).toEqual([]);
  expect(await quietLine(assistant)).toContain('quiet now, 2 messages wait');
  await assistant.stop();

  assistant = await startAtNight(project, echo, clock);
  await holds(assistant, 2);
  await ask(assistant, 'are you awake?', true);
  await holds(assistant, 2);
  expect(textsOf(assistant.chat)).toEqual(['on are you awake?']);
  pass(assistant, 6 * HOUR);
  await holds(assistant, 2);
  pass(assistant, 90 * MINUTE);
  await isIdle(assistant);
  expect(textsOf(assistant.chat)).toEqual([
    'on are you awake?',
    expect.stringContaining('on good night'),
    'on who is there?',
  ]);
  await assistant.stop();
  assistant = await startAtNight(project, echo, clock);
  await isIdle(assistant);
  expect(textsOf(assistant.chat)).toEqual([]);
  await assistant.stop();
});

/** Asks for the rules without waiting for an empty outbox. */
async function quietLine({ terminal }: Started): Promise<string> {
  const before = terminal.sent.length;
  await terminal.say('/quiet');
  await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before));
  return textsOf(terminal).slice(before).join('\n');
}

test('the end comes by itself', async () => {
  using project = new TestProject();
  let isLate = false;
  const skip = 5 * HOUR;
  const now = () => Date.now() + (isLate ? skip - 200 : 0);
  const assistant = await project.start({ agent: echo, over: { now } });
  const { terminal, store } = assistant;
  await terminal.say('/quiet now 5h');
  await isIdle(assistant);
  // Ten minutes after the owner's last word, what nobody asked for is held.
  store.outbox.add({ messageId: 'n1', jid: 'terminal:main', text: 'notice' }, now() + HOUR);
  terminal.become(CONNECTED);
  expect(answersOf(terminal)).toHaveLength(1);
  isLate = true;
  terminal.become(CONNECTED);
  expect(answersOf(terminal)).toHaveLength(1);
  await vi.waitFor(() => expect(answersOf(terminal).at(-1)).toBe('notice'));
  await assistant.stop();
});

test('no draft is shown of an answer that is held; the owner sees theirs being written', async () => {
  using project = new TestProject();
  const clock = new TestClock(NIGHT);
  const drafting: AgentScript = async (_, { onText }) => {
    onText?.('half an answer');
    clock.pass(2_000);
    await vi.waitFor(() => clock.pass(1_000));
    return answers('whole');
  };
  const assistant = await startAtNight(project, drafting, clock);
  assistant.chat.capabilities = { drafts: { everyMs: 100 } };
  await commands(assistant, '/quiet 22:00-7:00');
  await ask(assistant, 'hello?');
  await holds(assistant, 1);
  expect(assistant.chat.drafts).toEqual([]);
  await commandsAt(assistant, '/quiet off');
  await isIdle(assistant);
  await ask(assistant, 'hello!', true);
  await isIdle(assistant);
  expect(assistant.chat.drafts.length).toBeGreaterThan(0);
  await assistant.stop();
});

async function commandsAt({ terminal }: Started, text: string): Promise<void> {
  const before = terminal.sent.length;
  await terminal.say(text);
  await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before));
}

test('a chat may have hours of its own, and `off` sends at once what waits', async () => {
  using project = new TestProject();
  const assistant = await startAtNight(project);
  await commands(assistant, '/quiet now 2h');
  expect(await commands(assistant, '/quiet family off')).toContain('- Family: no quiet hours');
  await ask(assistant, 'first');
  await isIdle(assistant);
  expect(textsOf(assistant.chat)).toEqual(['on first']);
  await commands(assistant, '/quiet family default');
  await ask(assistant, 'second');
  await holds(assistant, 1);
  await commandsAt(assistant, '/quiet off');
  await isIdle(assistant);
  expect(textsOf(assistant.chat)).toEqual(['on first', 'on second']);
  // In the group itself, by the owner alone.
  await assistant.chat.say('/quiet now 30m', { ...inFamily, isOwner: true });
  await isIdle(assistant);
  expect(textsOf(assistant.chat).at(-1)).toContain('- Family: quiet until Sun 22 Nov 2026, 00:00');
  await ask(assistant, 'third');
  await holds(assistant, 1);
  pass(assistant, 31 * MINUTE);
  await isIdle(assistant);
  expect(textsOf(assistant.chat).at(-1)).toBe('on third');
  await assistant.stop();
});

test('weekdays, weekends and a zone are set apart; nonsense changes nothing', async () => {
  using project = new TestProject();
  const assistant = await startAtNight(project);
  await commands(assistant, '/quiet weekdays 22-7 in asia/tokyo');
  expect(await commands(assistant, '/quiet weekends all day')).toContain(
    'weekdays 22:00–07:00, weekends all day (Asia/Tokyo), quiet now',
  );
  expect(await commands(assistant, '/quiet weekends off')).toContain(
    'weekdays 22:00–07:00, weekends none (Asia/Tokyo)',
  );
  expect(await commands(assistant, '/quiet 22-7 in Nowhere')).toContain('no time zone "Nowhere"');
  expect(await commands(assistant, '/quiet now a while')).toContain('Say how long');
  expect(await commands(assistant, '/quiet 25-7')).toContain('`/quiet now 2h`');
  expect(await commands(assistant, '/quiet')).toContain('weekends none (Asia/Tokyo)');
  await assistant.stop();
});

test('what the owner calls urgent goes through: a word in their own chats, a task anywhere', async () => {
  using project = new TestProject();
  const assistant = await startAtNight(project);
  const { store, clock, terminal } = assistant;
  await commands(assistant, '/quiet 22:00-7:00');
  expect(await commands(assistant, '/quiet urgent word Alarm')).toBe(
    'Sent all the same: “alarm” in your own chats.',
  );
  await scheduleInFamily(assistant, { ...soon, prompt: 'Say ALARM in the group' });
  await scheduleInFamily(assistant, { ...soon, prompt: 'Say it is task 2' });
  expect(await commands(assistant, '/quiet urgent task 2')).toContain('task 2');
  expect(await commands(assistant, '/quiet urgent task 99')).toContain('`/tasks`');
  pass(assistant, 20 * MINUTE);
  await holds(assistant, 1);
  expect(textsOf(assistant.chat)).toEqual([expect.stringContaining('task 2')]);
  store.outbox.add({ messageId: 'm1', jid: 'terminal:main', text: 'just so' }, clock.now());
  store.outbox.add({ messageId: 'm2', jid: 'terminal:main', text: 'fire ALARM' }, clock.now());
  terminal.become(CONNECTED);
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toBe('fire ALARM'));
  expect(textsOf(terminal)).not.toContain('just so');
  // A stranger makes nothing urgent.
  await ask(assistant, 'alarm alarm');
  await holds(assistant, 3);
  await assistant.stop();
});

test('the doctor tells of rules that never end, and of a zone that is none', async () => {
  using project = new TestProject();
  const assistant = await startAtNight(project);
  const dataDir = `${project.dir}/data`;
  const look = async () =>
    (await examination.examine({ dataDir } as never)).map(({ ok, message }) => ({ ok, message }));
  expect(await look()).toEqual([{ ok: true, message: 'none are set' }]);
  await commands(assistant, '/quiet 22:00-7:00');
  expect(await look()).toEqual([{ ok: true, message: expect.stringContaining('one rule') }]);
  await commands(assistant, '/quiet all day');
  expect(await look()).toEqual([{ ok: false, message: expect.stringContaining('never sent') }]);
  assistant.store.meta.set('quiet-hours', 'rubbish');
  expect(await look()).toEqual([{ ok: false, message: expect.stringContaining('cannot be read') }]);
  // Nothing is held because of it.
  await ask(assistant, 'hello');
  await isIdle(assistant);
  expect(textsOf(assistant.chat)).toEqual(['on hello']);
  await assistant.stop();
});
