import { expect, test } from 'vitest';
import { matchCommand } from './command.ts';
import { FOLDER_NAME, folderNameFor } from './folder-name.ts';
import { yesOrNo } from './question.ts';
import { isTriggered } from './trigger.ts';

const free = (): boolean => false;

test('a folder name is made from channel and chat, and always fits the rule', () => {
  expect(folderNameFor('telegram', 'telegram:12345', free)).toBe('telegram-12345');
  expect(folderNameFor('whatsapp', '49170@s.whatsapp.net', free)).toBe('whatsapp-49170');
  expect(folderNameFor('slack', 'slack:../../Ünïcode', free)).toBe('slack-u-ni-code');
  for (const jid of ['x:', `x:${'a'.repeat(200)}`, 'x:...', 'x:-', '']) {
    expect(folderNameFor('x', jid, free)).toMatch(FOLDER_NAME);
  }
});

test('a folder name that is taken or reserved gets a number', () => {
  const taken = new Set(['chat-a', 'chat-a-2']);
  expect(folderNameFor('chat', 'chat:A', (name) => taken.has(name))).toBe('chat-a-3');
  expect(folderNameFor('main', 'main:', free)).toBe('main-2');
});

test('a trigger stands at the start, in any case, as a whole word', () => {
  const group = { needsTrigger: true, triggerWord: null };
  const triggers = (text: string) => isTriggered({ text, mentionsAssistant: false }, group, 'Andy');
  expect(['@Andy hi', '  @ANDY, hi', '@andy'].map(triggers)).toEqual([true, true, true]);
  expect(['hi @Andy', '@Andyx hi', 'Andy hi', ''].map(triggers)).toEqual([
    false,
    false,
    false,
    false,
  ]);
  expect(isTriggered({ text: 'hi', mentionsAssistant: true }, group, 'Andy')).toBe(true);
});

test('a command takes its argument from its name or after a space', () => {
  const run = async () => ({ kind: 'answer' as const, text: '' });
  const commands = ['help', 'add-<skill>'].map((name) => ({ name, help: 'x', run }));
  const called = (text: string) => {
    const match = matchCommand(text, commands);
    return match.kind === 'found' ? [match.command.name, match.argument] : match.nearest;
  };
  expect(called('/help')).toEqual(['help', '']);
  expect(called('/Add-telegram')).toEqual(['add-<skill>', 'telegram']);
  expect(called('/add telegram')).toEqual(['add-<skill>', 'telegram']);
  expect(called('/hepl')).toEqual(['help']);
  expect(called('/add')).toEqual(['add-<skill>']);
});

test('only a plain yes or no is one', () => {
  expect(['yes', 'Yes.', 'y', 'no', 'N!', 'yes but later', ''].map(yesOrNo)).toEqual([
    'yes',
    'yes',
    'yes',
    'no',
    'no',
    null,
    null,
  ]);
});
