import { expect, test, vi } from 'vitest';
import { answers, type TestAssistant, TestProject, textsOf } from '../../testing/assistant.ts';
import type { SetTimer } from '../scheduler/alarm.ts';

const FAMILY = 'chat:family';
const CLUB = 'chat:club';
const inFamily = { jid: FAMILY, isDirect: false, isOwner: false, chatName: 'Family' };
const inClub = { ...inFamily, jid: CLUB, chatName: 'Club' };
const DAY_MS = 24 * 60 * 60_000;

async function startWithGroups(
  project: TestProject,
  parts: Parameters<TestProject['start']>[0] = {},
): Promise<TestAssistant> {
  const assistant = await project.start(parts);
  await assistant.chat.meet(FAMILY, 'Family');
  await assistant.chat.meet(CLUB, 'Club');
  await ask(assistant, '/register Family');
  await ask(assistant, '/register Club trigger robot');
  return assistant;
}

async function ask({ terminal }: TestAssistant, text: string): Promise<string> {
  const before = terminal.sent.length;
  await terminal.say(text);
  await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before));
  return terminal.sent[before]?.text ?? '';
}

/** The texts that reached the agent, whichever its group. */
function listening() {
  const prompts: string[] = [];
  return {
    prompts,
    agent: async ({ prompt }: { readonly prompt: string }) => {
      prompts.push(prompt);
      return answers('pong');
    },
  };
}

test('each group has a trigger of its own, which can be changed and taken back', async () => {
  using project = new TestProject();
  const assistant = await startWithGroups(project);
  const { chat } = assistant;
  await chat.say('robot, hello', inFamily);
  await chat.say('@Andy hello', inClub);
  await chat.say('  ROBOT: hello', inClub);
  await vi.waitFor(() => expect(chat.sent.map(({ jid }) => jid)).toEqual([CLUB]));

  expect(await ask(assistant, '/trigger Club')).toBe('Andy answers to robot in Club.');
  expect(await ask(assistant, '/trigger Club hey Andy')).toBe('Andy answers to hey Andy in Club.');
  expect(await ask(assistant, '/trigger Club always')).toBe('Andy answers always in Club.');
  await chat.say('no word at all', inClub);
  await vi.waitFor(() => expect(chat.sent.map(({ jid }) => jid)).toEqual([CLUB, CLUB]));
  expect(await ask(assistant, '/trigger Club default')).toBe('Andy answers to @Andy in Club.');
  expect(await ask(assistant, '/trigger Club "always"')).toBe('Andy answers to always in Club.');
  expect(await ask(assistant, '/trigger main x')).toBe('Your own chat needs no trigger.');
  await assistant.stop();
});

test('a mention of the account calls, wherever in the message it is', async () => {
  using project = new TestProject();
  const assistant = await startWithGroups(project);
  await assistant.chat.say('what do you think, @123?', { ...inClub, mentionsAssistant: true });
  await vi.waitFor(() => expect(textsOf(assistant.chat)).toEqual(['pong']));
  await assistant.stop();
});

test('messages without a trigger are context of the next turn, the last fifty of them', async () => {
  using project = new TestProject();
  const { prompts, agent } = listening();
  const assistant = await startWithGroups(project, { agent });
  for (let number = 1; number <= 60; number++) await assistant.chat.say(`line ${number}`, inFamily);
  await assistant.chat.say('@Andy sum up', inFamily);
  await vi.waitFor(() => expect(prompts).toHaveLength(1));
  const lines = prompts[0]?.split('\n') ?? [];
  expect(lines[0]).toBe('(and 11 more messages before these)');
  expect(lines).toHaveLength(51);
  expect(lines[1]).toContain('Ada: line 12');
  expect(lines.at(-1)).toContain('Ada: @Andy sum up');
  await assistant.stop();
});

test('a reaction is context and never a call, not even of a command', async () => {
  using project = new TestProject();
  const { prompts, agent } = listening();
  const assistant = await startWithGroups(project, { agent });
  await assistant.terminal.say('/undo', { isContext: true });
  await assistant.terminal.say('Ada reacted with 👍', { isContext: true });
  await ask(assistant, 'hello');
  expect(prompts).toHaveLength(1);
  expect(prompts[0]).toContain('Ada reacted with 👍');
  await assistant.stop();
});

test('a group can be limited to some, and what the others say is context', async () => {
  using project = new TestProject();
  const { prompts, agent } = listening();
  const assistant = await startWithGroups(project, { agent });
  const { chat } = assistant;
  const bob = { ...inFamily, sender: 'b', senderName: 'Bob' };
  await chat.say('hi', inFamily);
  await chat.say('hi', bob);
  expect(await ask(assistant, '/allow Family Eve')).toBe(
    'Nobody called Eve has written in Family. There are: Ada is ada, Bob is b.',
  );
  expect(await ask(assistant, '/allow Family bob, +1 234')).toContain(
    'In Family only these may call, and you: Bob (b), chat:1234.',
  );
  expect(await ask(assistant, '/groups family')).toContain('answers to @Andy, from 2 people');
  await chat.say('@Andy for Ada?', inFamily);
  // A name is what anybody can give themselves.
  await chat.say('@Andy as Bob?', { ...inFamily, sender: 'c', senderName: 'Bob' });
  await chat.say('@Andy for Bob?', bob);
  await vi.waitFor(() => expect(textsOf(chat)).toEqual(['pong']));
  expect(prompts).toHaveLength(1);
  expect(prompts[0]).toContain('Ada: @Andy for Ada?');
  await chat.say('@Andy for the owner?', { ...inFamily, sender: 'o', isOwner: true });
  await vi.waitFor(() => expect(textsOf(chat)).toEqual(['pong', 'pong']));
  expect(await ask(assistant, '/allow')).toContain('- in Family: Bob (b), chat:1234');
  await ask(assistant, '/allow Family everybody');
  await chat.say('@Andy for Ada?', inFamily);
  await vi.waitFor(() => expect(textsOf(chat)).toHaveLength(3));
  await assistant.stop();
});

test('on an open channel nobody is answered directly whom the owner has not allowed', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  const { chat, store } = assistant;
  chat.isOpen = true;
  const stranger = { jid: 'chat:7', sender: 'chat:7', isOwner: false };
  await chat.say('@Andy hi', stranger);
  await chat.say('hello?', stranger);
  // What the owner writes to somebody else is not for the assistant.
  await chat.say('dinner?', { jid: 'chat:8', sender: 'me', isOwner: true });
  expect(store.groups.all()).toHaveLength(1);
  expect(store.messages.countBetween({ jid: 'chat:7', from: 0, upto: 99 })).toBe(0);
  expect(store.strangers.counted()).toMatchObject({ senders: 1, messages: 2 });

  expect(await ask(assistant, '/allow chat')).toContain('Say `/allow 2 Ada, Bob`');
  expect(await ask(assistant, '/allow terminal 7')).toContain('On terminal only you can write');
  expect(await ask(assistant, '/allow chat chat:7')).toContain('directly on chat: chat:7.');
  await chat.say('hi again', stranger);
  await vi.waitFor(() => expect(textsOf(chat)).toEqual(['pong']));
  expect(store.groups.byJid('chat:7')).toMatchObject({ folder: 'chat-7', isMain: false });
  // Stored as typed, it would be nobody's address, or somebody else's.
  expect(await ask(assistant, '/allow chat 0151 2345678')).toBe(
    '0151 2345678 is not a number or address on chat.',
  );
  Object.assign(chat, { missingIn: (typed: string) => `${typed} has no country code. Type +49 …` });
  const missing = '0151 2345678 has no country code. Type +49 …';
  expect(await ask(assistant, '/allow chat 0151 2345678')).toBe(missing);
  expect(await ask(assistant, '/register 0151 2345678 as eve')).toBe(missing);
  expect(store.senders.ofChannel('chat')).toEqual(['chat:7']);
  await ask(assistant, '/allow chat nobody');
  await chat.say('hi', { jid: 'chat:9', sender: 'chat:9', isOwner: false });
  expect(store.groups.byJid('chat:9')).toBeNull();
  await assistant.stop();
});

test('the owner is told of strangers once a day, by a timer that outlives a restart', async () => {
  using project = new TestProject();
  let clock = Date.UTC(2026, 10, 21, 7);
  let elapse = (): void => {};
  const setTimer: SetTimer = (_delayMs, onElapsed) => {
    elapse = onElapsed;
    return () => {};
  };
  const over = { now: () => clock, setTimer };
  const first = await project.start({ over });
  await first.chat.drop('x');
  clock += 1_000;
  await first.chat.drop('x');
  await first.chat.drop('y');
  clock += DAY_MS - 2_000;
  elapse();
  expect(first.terminal.sent).toEqual([]);
  await first.stop();

  const second = await project.start({ over });
  expect(second.terminal.sent).toEqual([]);
  clock += 1_000;
  elapse();
  await vi.waitFor(() =>
    expect(textsOf(second.terminal)).toEqual([
      'Since 21 Nov 2026, 07:00 2 people who are not registered wrote directly, 3 times in all, and got no answer. `/groups` lists the chats, `/allow` says who may write.',
    ]),
  );
  clock += DAY_MS;
  elapse();
  await second.stop();
  const third = await project.start({ over });
  expect(third.terminal.sent).toEqual([]);
  await third.chat.drop('x');
  clock += DAY_MS;
  // The machine slept through the timer; the next stranger wakes the host.
  await third.chat.drop('z');
  await vi.waitFor(() => expect(textsOf(third.terminal)[0]).toContain('2 people'));
  await third.stop();
});
