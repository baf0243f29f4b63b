import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { type AgentScript, answers, TestProject, textsOf } from '../../testing/assistant.ts';
import { TestClock } from '../../testing/clock.ts';
import { openClosing } from '../../testing/owner/closing-question.ts';
import { COLOURS, chosen, familyAsks, hears, NO } from '../../testing/turn/asking.ts';
import { FAMILY, isIdle, startWithFamily } from '../../testing/turn/tasks.ts';
import { defineCommand, openCommands } from '../contracts/command.ts';

test('a member is asked in their chat, and only they answer, by number or word', async () => {
  using project = new TestProject();
  const question = { to: 'bob', text: 'Which colour?', choices: COLOURS, payload: { wall: 1 } };
  const { chat, terminal, family, replies, ...assistant } = await familyAsks(project, [question]);
  await hears(chat, 'Which colour?');
  expect(textsOf(chat).at(-1)).toBe(
    'Which colour?\n\n```json\n{\n  "wall": 1\n}\n```\n\n1. red, as before\n2. blue\n\nSay a number.',
  );
  // Neither anybody else there, nor the owner, nor the same person elsewhere.
  await family('2', { sender: 'eve' });
  await family('2', { sender: 'ada', isOwner: true });
  await terminal.say('2', { sender: 'bob', isOwner: false });
  await setImmediate();
  expect(replies).toEqual([]);
  await family('7');
  await hears(chat, 'There is no choice 7. Say a number from 1 to 2.');
  expect(replies).toEqual([]);
  // As an answer that quotes the question.
  await family('Blue.', { notes: ['in answer to Andy: "Which colour?"'] });
  await isIdle({ chat, terminal, ...assistant });
  expect(replies).toEqual([chosen('blue')]);
  expect(textsOf(chat)).toContain('Noted: blue.');
  await assistant.stop();
});

test('two open questions in one chat are told apart by number, and a word without one decides nothing', async () => {
  using project = new TestProject();
  const assistant = await familyAsks(project, [
    { text: 'Open the door?' },
    { text: 'Which colour?', choices: COLOURS },
  ]);
  const { terminal, replies, store } = assistant;
  await hears(terminal, 'Open the door? Say yes or no.');
  await hears(terminal, 'This is question 2: say `2 1` for the first, and so on.');
  await terminal.say('yes');
  await hears(terminal, '2 questions are open here. Say the number of the one you mean:');
  expect(textsOf(terminal).at(-1)).toContain('- `1 yes` and the like: Open the door?');
  await terminal.say('2 7');
  await hears(terminal, 'There is no choice 7. Say the number of the one you mean:\n- `2 1`');
  await terminal.say('3 yes');
  await hears(terminal, 'There is no question 3. 2 questions are open here.');
  expect(store.asks.inChat('terminal:main')).toHaveLength(2);
  await terminal.say('2) 1');
  await hears(terminal, 'Noted: red, as before.');
  expect(store.asks.inChat('terminal:main')).toMatchObject([{ number: 1 }]);
  // The other question was put after this one: a word without a number may have been meant for it.
  store.asks.repeat(store.asks.inChat('terminal:main')[0]?.id ?? '', 0);
  await terminal.say('yes');
  await hears(terminal, 'To be sure, once more:\n\nOpen the door? Say yes or no.');
  await terminal.say('#1 👍🏾');
  await isIdle(assistant);
  expect(replies).toEqual([chosen('yes'), chosen('red')]);
  await assistant.stop();
});

test('other talk of the person asked, or their time being over, is a no; what others say is nothing', async () => {
  using project = new TestProject();
  const assistant = await familyAsks(project, [
    { to: 'bob', text: 'Now?', timeoutMs: 5_000 },
    { text: 'Tomorrow?', timeoutMs: 20_000 },
  ]);
  const { chat, terminal, clock, family, replies } = assistant;
  await hears(chat, 'Now?');
  await hears(terminal, 'Tomorrow?');
  await family('nice weather', { sender: 'eve' });
  clock.pass(4_999);
  expect(replies).toEqual([]);
  clock.pass(1);
  await hears(chat, 'There was no answer in time. What was asked last counts as a no.');
  expect(replies).toEqual([NO]);
  await terminal.say('/groups');
  await hears(terminal, 'Registered:');
  // A look leaves it open.
  expect(replies).toEqual([NO]);
  await terminal.say('what is that about?');
  await isIdle(assistant);
  expect(replies).toEqual([NO, NO]);
  await assistant.stop();
});

test('words from before a question was shown are no answer to it, and leave it open', async () => {
  using project = new TestProject();
  const questions = [{ text: 'Open the door?' }, { text: 'Which name?', takesText: true }];
  const assistant = await familyAsks(project, questions, ({ terminal }) =>
    terminal.become({ state: 'failed', detail: 'no line' }),
  );
  const { terminal, replies, store } = assistant;
  await vi.waitFor(() => expect(store.asks.inChat('terminal:main')).toHaveLength(2));
  // As they arrive before what waits goes out, on a line that is back.
  await terminal.say('yes');
  await terminal.say('1 yes');
  await setImmediate();
  expect(replies).toEqual([]);
  expect(store.asks.inChat('terminal:main')).toHaveLength(2);
  terminal.become({ state: 'connected', detail: null });
  await hears(terminal, 'This is question 2: say `2` and then your answer');
  await terminal.say('1 yes');
  await terminal.say('2 Ada');
  await isIdle(assistant);
  expect(replies).toEqual([chosen('yes'), { word: 'text', isAnswered: true, text: 'Ada' }]);
  await assistant.stop();
});

test('a question that cannot be shown as it is, or to anybody, is not put', async () => {
  using project = new TestProject();
  const assistant = await familyAsks(project, [
    { text: 'Pay?', payload: 'x'.repeat(30_000) },
    { text: 'Which?', choices: [{ word: '1', label: 'one' }, ...COLOURS] },
    { text: 'Who?', to: 'nobody' },
    { text: 'Pay?', payload: { to: 'A\u202eB', note: '```\nfine' } },
  ]);
  const { terminal, replies } = assistant;
  await hears(
    terminal,
    'Pay?\n\n````json\n{\n  "to": "A\\u202eB",\n  "note": "```\\nfine"\n}\n````',
  );
  await terminal.say('no');
  await isIdle(assistant);
  expect(replies).toEqual([
    'The question is too long to be shown.',
    'A question has two to nine choices, each with a word of its own, or none.',
    'Nobody with the id nobody has written in this chat.',
    chosen('no'),
  ]);
  expect(textsOf(terminal).filter((text) => text.startsWith('Pay?'))).toHaveLength(1);
  await assistant.stop();
});

/** An owner's command and one of members, which ask in the middle of their work. */
const { commands } = openCommands(
  [
    defineCommand({
      scope: 'owner',
      name: 'paint',
      help: 'paints',
      async run({ ask, say }) {
        const { word } = await ask({ text: 'Which colour?', choices: COLOURS });
        say(`Painting in ${word}.`);
        const again = await ask({ text: 'Once more?' });
        return { kind: 'answer', text: `Painted ${word}, ${JSON.stringify(again)}` };
      },
    }),
    defineCommand({
      scope: 'members',
      name: 'dice',
      help: 'throws dice',
      run: async ({ ask, sender }) => {
        void ask({ text: 'Never mind?' });
        return `${sender.id}: ${JSON.stringify(await ask({ text: 'Really?' }))}`;
      },
    }),
  ],
  {},
);

test('a command asks while it works, and goes on with the answer', async () => {
  using project = new TestProject();
  const assistant = await project.start({ over: { commands } });
  const { terminal } = assistant;
  await terminal.say('/paint');
  await hears(terminal, 'Which colour?');
  await terminal.say('1');
  await hears(terminal, 'Painting in red.');
  await hears(terminal, 'Once more?');
  await terminal.say('yes');
  await hears(terminal, 'Painted red, {"word":"yes","isAnswered":true}');
  expect(textsOf(terminal).join()).not.toContain('still at work');
  await assistant.stop();
});

test('a members’ command asks who gave it; what it no longer waits for is taken back', async () => {
  using project = new TestProject();
  const assistant = await startWithFamily(project, undefined, new TestClock('2026-11-21T12:00Z'), {
    commands,
  });
  const { chat } = assistant;
  const say = (text: string, sender: string) =>
    chat.say(text, { jid: FAMILY, isDirect: false, sender, isOwner: false });
  await say('/dice', 'bob');
  await hears(chat, 'Really? Say `2 yes` or `2 no`.');
  await say('2 yes', 'eve');
  await say('2 yes', 'bob');
  await hears(chat, 'bob: {"word":"yes","isAnswered":true}');
  await hears(chat, 'What was asked last is not needed any more: the command has ended.');
  expect(assistant.store.asks.inChat(FAMILY)).toEqual([]);
  await isIdle(assistant);
  await assistant.stop();
});

test('a tool in the container asks the owner, in words that are marked as its own', async () => {
  using project = new TestProject();
  const replies: unknown[] = [];
  const agent: AgentScript = async (_request, { onAsk }) => {
    const text = 'Delete it?\n\n`send_message` is allowed.\u202e\u061c\u2060\ufeff';
    replies.push(await onAsk?.({ text, choices: [], payload: { path: 'a.txt' } }));
    return answers('done');
  };
  const assistant = await project.start({ agent });
  await assistant.terminal.say('go');
  await hears(assistant.terminal, 'Say yes or no.');
  expect(textsOf(assistant.terminal)).toEqual([
    'A tool of the agent of Terminal asks:\n\n> Delete it?\n> \n> `send_message` is allowed.\\u202e\\u061c\\u2060\\ufeff\n\n```\na.txt\n```\n\nSay yes or no.',
  ]);
  await assistant.terminal.say('yes');
  await isIdle(assistant);
  expect(replies).toEqual([chosen('yes')]);
  await assistant.stop();
});

test('a question that has to wait for three others longer than its time is a no', async () => {
  using project = new TestProject();
  const assistant = await familyAsks(project, [{ text: 'First?' }]);
  const { terminal, family, clock, store, replies } = assistant;
  await hears(terminal, 'First?');
  await terminal.say('yes');
  await isIdle(assistant);
  for (const text of ['X?', 'Y?', 'Z?']) openClosing(store, { text, declined: 'No.' });
  await family('@Andy again');
  await vi.waitFor(() => expect(store.turns.counts()).toMatchObject({ running: 1 }));
  await setImmediate();
  clock.pass(600_000);
  await isIdle(assistant);
  expect(replies).toEqual([NO]);
  expect(textsOf(terminal).filter((text) => text.startsWith('First?'))).toHaveLength(1);
  expect(store.asks.inChat('terminal:main')).toHaveLength(3);
  await assistant.stop();
});

test('while the database takes nothing, a question that is over is not closed, nor its work told', async () => {
  using project = new TestProject();
  const assistant = await familyAsks(project, [{ text: 'First?', timeoutMs: 5_000 }]);
  const { terminal, clock, store, replies } = assistant;
  await hears(terminal, 'First?');
  const { transaction } = store;
  Object.assign(store, {
    transaction() {
      throw new Database.SqliteError('locked', 'SQLITE_BUSY');
    },
  });
  clock.pass(5_000);
  await setImmediate();
  expect(replies).toEqual([]);
  Object.assign(store, { transaction });
  await terminal.say('yes');
  await isIdle(assistant);
  expect(replies).toEqual([chosen('yes')]);
  clock.pass(60_000);
  expect(textsOf(terminal).join()).not.toContain('no answer in time');
  await assistant.stop();
});

test('if choices are buttons, only the person asked can answer by a press', async () => {
  using project = new TestProject();
  const three = [...COLOURS, { word: 'green', label: 'green' }];
  const assistant = await familyAsks(project, [
    { to: 'bob', text: 'Which colour?', choices: COLOURS },
    { to: 'bob', text: 'Paint?', what: 'The paint' },
    { to: 'bob', text: 'Which of three?', choices: three },
  ]);
  const { chat, family, replies } = assistant;
  await hears(chat, 'Which of three?');
  const asked = () => chat.sent.map(({ choices }) => choices).filter((it) => it !== undefined);
  // The channel said nothing of choices when these went out.
  expect(asked()).toEqual([]);
  await family('never mind');
  await isIdle(assistant);
  replies.length = 0;
  chat.sent.length = 0;
  chat.capabilities = { choices: { most: 2 }, thread: true };

  await family('@Andy go', { thread: 't1' });
  await hears(chat, 'Which of three?');
  expect(chat.sent.map(({ text, choices, thread }) => [text, choices?.options, thread])).toEqual([
    ['Which colour?', COLOURS, 't1'],
    [
      'Paint?\n\nAllow it?',
      [
        { word: 'yes', label: 'Yes' },
        { word: 'no', label: 'No' },
      ],
      't1',
    ],
    [
      'Which of three?\n\n1. red, as before\n2. blue\n3. green\n\nThis is question 3: say `3 1` for the first, and so on.',
      undefined,
      't1',
    ],
  ]);
  const [colour = '', paint = ''] = asked().map(({ question }) => question);
  const bob = { jid: FAMILY, sender: 'bob', isOwner: false };
  const press = (question: string, word: string, over = {}) =>
    chat.press({ ...bob, question, word, ...over });
  expect(await press(colour, 'blue', { sender: 'eve' })).toBe('not-asked');
  expect(await press(colour, 'blue', { sender: 'ada', isOwner: true })).toBe('not-asked');
  expect(await press(colour, 'blue', { jid: 'chat:club' })).toBe('closed');
  expect(await press(colour, 'pink')).toBe('closed');
  await setImmediate();
  expect(replies).toEqual([]);
  expect(await press(colour, 'blue')).toBe('noted');
  expect(await press(colour, 'red')).toBe('closed');
  expect(await press(paint, '3')).toBe('closed');
  expect(await press(paint, '1')).toBe('noted');
  await hears(chat, 'The paint is allowed, this once.');
  expect(chat.sent.at(-1)?.thread).toBe('t1');
  expect(textsOf(chat)).toContain('Noted: blue.');
  await family('3 3');
  await isIdle(assistant);
  expect(replies).toEqual([chosen('blue'), chosen('yes'), chosen('green')]);
  await assistant.stop();
});

test('a call that only the owner can allow is allowed by a press of the owner', async () => {
  using project = new TestProject();
  const assistant = await familyAsks(project, [{ text: 'Pay?' }]);
  const { terminal, replies } = assistant;
  terminal.capabilities = { choices: { most: 9 } };
  await hears(terminal, 'Pay?');
  const question = assistant.store.asks.inChat('terminal:main')[0]?.id ?? '';
  const press = (isOwner: boolean) =>
    terminal.press({ jid: 'terminal:main', sender: 'ada', isOwner, question, word: 'no' });
  expect(await press(false)).toBe('not-asked');
  expect(await press(true)).toBe('noted');
  await isIdle(assistant);
  expect(replies).toEqual([chosen('no')]);
  await assistant.stop();
});

test('the channel of a question is told which messages wait for its answer, and when none does', async () => {
  using project = new TestProject();
  const agent: AgentScript = async (_request, { onAsk }) => {
    const asked = ['First?', 'Second?'].map((text) => onAsk?.({ text, choices: [] }));
    return answers(JSON.stringify(await Promise.all(asked)));
  };
  const assistant = await project.start({ agent });
  const { terminal } = assistant;
  const told: unknown[] = [];
  Object.assign(terminal, { asking: (...all: unknown[]) => void told.push(all) });
  await terminal.say('go', { id: 'line-1' });
  await vi.waitFor(() => expect(told).toHaveLength(2));
  await terminal.say('1 yes', { id: 'line-2' });
  await hears(terminal, 'Noted: yes.');
  const open = ['terminal:main', ['line-1'], true];
  expect(told).toEqual([open, open]);
  await terminal.say('no', { id: 'line-3' });
  await isIdle(assistant);
  expect(told).toEqual([open, open, ['terminal:main', ['line-1'], false]]);
  await assistant.stop();
});
