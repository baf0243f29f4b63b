import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { openDatabase } from '../../../store/database.ts';
import { discoverMigrations } from '../../../store/migrations.ts';
import { TestProject, textsOf } from '../../../testing/assistant.ts';
import { ask, hears } from '../../../testing/owner/owner-chat.ts';
import { defineCommand, openCommands } from '../../contracts/command.ts';

const CHOICES = [
  { word: 'red', label: 'red, as before' },
  { word: 'blue', label: 'blue' },
  { word: 'other', label: 'another: say `other` and its name', takesText: true },
];

const { commands } = openCommands(
  [
    defineCommand({
      scope: 'owner',
      name: 'paint',
      help: 'paints',
      run: async (_, what) => ({
        kind: 'ask',
        text: `Which colour for the ${what}?`,
        data: what,
        choices: CHOICES,
        declined: `The ${what} stays as it is.`,
      }),
      confirm: async ({ group }, what, { word, text }) => ({
        kind: 'answer',
        text: `${group.name}: the ${what} is ${text === '' ? word : text}.`,
      }),
    }),
  ],
  {},
);

test('a question at a command’s end is answered in the next process, and by no one but the owner', async () => {
  using project = new TestProject();
  const first = await project.start({ over: { commands } });
  const asked = await ask(first, '/paint wall', 'Say a number.');
  expect(asked).toBe(
    'Which colour for the wall?\n\n1. red, as before\n2. blue\n3. another: say `other` and its name\n\nSay a number.',
  );
  await first.stop();
  const second = await project.start({ over: { commands } });
  await ask(second, '7', 'There is no choice 7. Say a number from 1 to 3.');
  await second.terminal.say('2', { isOwner: false, sender: 'eve' });
  await hears(second, 'pong');
  // The answer to another one was said since.
  await ask(second, '2', 'To be sure, once more:\n\nWhich colour for the wall?');
  await ask(second, 'other dark green', 'Terminal: the wall is dark green.');
  expect(second.store.asks.inChat('terminal:main')).toEqual([]);
  await second.stop();
});

test('if choices are buttons, a press is the owner’s answer, and its turn has it in words', async () => {
  using project = new TestProject();
  const assistant = await project.start({ over: { commands } });
  const { terminal, store } = assistant;
  terminal.capabilities = { choices: { most: 9 }, thread: true };
  await terminal.say('/paint door', { thread: 't1' });
  await hears(assistant, 'Which colour for the door?');
  const { choices } = terminal.sent.at(-1) ?? {};
  expect(textsOf(terminal)).toEqual(['Which colour for the door?']);
  expect(choices?.options).toEqual(CHOICES.map(({ word, label }) => ({ word, label })));
  const press = (isOwner: boolean, word = 'blue') =>
    terminal.press({
      ...{ jid: 'terminal:main', sender: 'ada', isOwner, word },
      question: choices?.question ?? '',
    });
  expect(await press(false)).toBe('not-asked');
  expect(await press(true, 'pink')).toBe('closed');
  expect(await press(true)).toBe('noted');
  expect(await press(true)).toBe('closed');
  await hears(assistant, 'Terminal: the door is blue.');
  expect(terminal.sent.at(-1)).toMatchObject({ thread: 't1' });
  expect(terminal.sent.at(-1)?.replyTo).toBeUndefined();
  expect(store.messages.bySeq(2)).toMatchObject({ sender: 'ada', senderName: 'Ada', text: 'blue' });
  // Between the owner and the host, as a word would have been.
  expect(store.messages.between({ jid: 'terminal:main', from: 1, upto: 9 }, 9)).toEqual([]);
  await assistant.stop();
});

test('a question of an older tree is answered in this one, and is not open again after a rollback', async () => {
  using project = new TestProject();
  const older = join(project.dir, 'older');
  cpSync(`${import.meta.dirname}/../../../store/migrations`, older, { recursive: true });
  rmSync(join(older, 'core/15.sql'));
  const path = join(project.dir, 'data/claw.db');
  const open = (write: (database: Database) => unknown) => {
    const database = openDatabase(path, discoverMigrations(older), 1);
    const result = write(database);
    database.close();
    return result;
  };
  // As two commands of that tree had left them: one is answered with yes or no, the other by a number.
  const deletes = {
    ...{ command: 'unregister', data: { jid: 'chat:club' }, declined: 'Nothing was deleted.' },
    text: 'Delete it? Say yes or no.',
  };
  const paints = {
    command: 'paint',
    data: 'wall',
    declined: 'No.',
    text: 'Which?',
    choices: CHOICES,
  };
  open((database) => {
    const chat = database.prepare(
      "INSERT INTO chats (jid, channel, is_direct, seen_at) VALUES (?, 'chat', 0, 1)",
    );
    const group = database.prepare(
      "INSERT INTO groups (jid, folder, name, needs_trigger, is_main, registered_at) VALUES (?, ?, 'Club', 1, ?, 1)",
    );
    const insert = database.prepare('INSERT INTO questions VALUES (?, ?, ?)');
    for (const [jid, folder, question] of [
      ['terminal:main', 'main', deletes],
      ['chat:club', 'club', paints],
    ] as const) {
      chat.run(jid);
      group.run(jid, folder, Number(folder === 'main'));
      insert.run(jid, JSON.stringify(question), Date.now());
    }
  });

  const assistant = await project.start();
  expect(assistant.store.asks.inChat('chat:club')).toMatchObject([
    { number: 1, sender: null, isClosing: true, payload: { continuation: { data: 'wall' } } },
  ]);
  await ask(assistant, 'yes', 'Everything of Club is deleted.');
  await assistant.stop();
  expect(open((database) => database.prepare('SELECT * FROM questions').all())).toEqual([]);
});

test('an answer that an older tree had queued runs only where it was clear', async () => {
  using project = new TestProject();
  const assistant = await project.start({ over: { commands } });
  const { store, terminal } = assistant;
  const question = {
    ...{ command: 'paint', data: 'wall', declined: 'The wall stays.', text: 'Which?' },
    choices: CHOICES,
  };
  const reply = { word: 'red', text: '', isForAll: false };
  await terminal.say('hello');
  await hears(assistant, 'pong');
  const queue = (id: string, over: object) =>
    store.turns.queueCommand(
      { id, jid: 'terminal:main', seq: 1 },
      { kind: 'reply', question, reply, ...over },
      1,
    );
  queue('a', { isOvertaken: true });
  queue('b', { isOvertaken: false, reply: { ...reply, word: '9' } });
  queue('c', { isOvertaken: false });
  await terminal.say('hello');
  await vi.waitFor(() => expect(textsOf(terminal)).toHaveLength(5));
  expect(textsOf(terminal)).toEqual(expect.arrayContaining(['Terminal: the wall is red.']));
  const unclear = 'That was not clear, so nothing was done. The wall stays.';
  expect(textsOf(terminal).filter((text) => text === unclear)).toHaveLength(2);
  await assistant.stop();
});
