import { expect, test } from 'vitest';
import { costOfFourfold, LINEAR_AT_MOST } from '../../testing/growth.ts';
import { matchCommand } from '../contracts/match-command.ts';
import { choiceLines, isAmong, parseQuestion, replyTo } from '../contracts/question.ts';
import { wordsOf } from '../groups/command-words.ts';
import { FOLDER_NAME, folderNameFor, folderNameProblem } from '../groups/folder-name.ts';
import { isTriggered, triggerProblem } from '../groups/trigger.ts';

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

test('a folder is named after its chat, where that leaves something of a name', () => {
  const named = (name: string) => folderNameFor('chat', 'chat:7', free, name);
  expect(named('Família & Cía. 2')).toBe('familia-cia-2');
  expect(named('家族 🏠')).toBe('chat-7');
  expect(named('Main')).toBe('main-2');
  expect(named('x'.repeat(100))).toHaveLength(63);
});

test('a folder name is one plain part of a path, and no name that means something else', () => {
  for (const name of ['family', 'a', '2-b', 'x'.repeat(63)]) {
    expect(folderNameProblem(name)).toBeNull();
  }
  for (const name of ['main', 'Global', 'con', 'aux', 'NUL', 'com1', 'lpt0']) {
    expect(folderNameProblem(name)).toBe('is reserved');
  }
  for (const name of [
    '',
    '.',
    '..',
    'a/b',
    'a\\b',
    '-a',
    'a.b',
    'Ab',
    'ä',
    'x'.repeat(64),
    'a\n',
  ]) {
    expect(folderNameProblem(name)).toContain('must be made of');
  }
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

test('a trigger ends where its word ends, in every script', () => {
  const triggers = (triggerWord: string, text: string) =>
    isTriggered({ text, mentionsAssistant: false }, { needsTrigger: true, triggerWord }, 'Andy');
  expect(triggers('@José', '@JOSE\u0301, hola')).toBe(true);
  expect(triggers('@Jose', '@jose\u0301 hola')).toBe(false);
  expect(triggers('@Straße', '@STRASSE hi')).toBe(true);
  expect(triggers('@Аня', '@аня, привет')).toBe(true);
  expect(triggers('@Аня', '@анята')).toBe(false);
  expect(triggers('@Andy', '＠Andy hi')).toBe(true);
  expect(triggers('@Andy', '\u2068@Andy\u2069 hi')).toBe(true);
  expect(triggers('hey you', 'Hey you! there')).toBe(true);
  expect(triggers('!', '!help')).toBe(true);
  expect(triggers('@Andy_', '@Andy')).toBe(false);
});

test('a message of marks out of order is looked at for a trigger in no time', () => {
  const marks = '\u0301\u0316'.repeat(60_000);
  const group = { needsTrigger: true, triggerWord: null };
  const triggers = (text: string) => isTriggered({ text, mentionsAssistant: false }, group, 'Andy');
  const begin = process.cpuUsage();
  expect(triggers(marks)).toBe(false);
  expect(triggers(`${' '.repeat(100_000)}@Andy ${marks}`)).toBe(true);
  const { user, system } = process.cpuUsage(begin);
  expect((user + system) / 1_000).toBeLessThan(500);
});

test('a reaction or a correction calls nobody', () => {
  const group = { needsTrigger: false, triggerWord: null };
  const reaction = { text: '👍', mentionsAssistant: true, isContext: true };
  expect(isTriggered(reaction, group, 'Andy')).toBe(false);
});

test('a trigger can be seen and fits a line', () => {
  expect(['@home', 'hey you', '🏠'].map(triggerProblem)).toEqual([null, null, null]);
  for (const word of ['', ' ', 'a\nb', '\u200b', 'x'.repeat(65)]) {
    expect(triggerProblem(word)).not.toBeNull();
  }
});

test('words in quotes are one, and no keyword', () => {
  expect(wordsOf('a "b c" “as” d\'s')).toEqual([
    { text: 'a', isQuoted: false },
    { text: 'b c', isQuoted: true },
    { text: 'as', isQuoted: true },
    { text: "d's", isQuoted: false },
  ]);
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

const question = (over: object) =>
  parseQuestion({ command: 'c', data: null, declined: 'no', ...over });

test('only a plain yes or no answers a question without choices', () => {
  const asked = question({});
  const said = ['yes', 'Yes.', 'y', 'no', 'N!', 'yes but later', '', '1', 'all yes'];
  const words = said.map((text) => (asked === null ? '' : (replyTo(asked, text)?.word ?? null)));
  expect(words).toEqual(['yes', 'yes', 'yes', 'no', 'no', null, null, null, null]);
});

test('signs without end after a word are read in time that grows with their number', () => {
  const asked = question({});
  if (asked === null) throw new Error('the question does not parse');
  const cost = costOfFourfold(4_000, (size) => {
    const text = `${'!'.repeat(size)}x`;
    return () => void replyTo(asked, text);
  });
  expect(cost).toBeLessThan(LINEAR_AT_MOST);
});

test('a choice is made by its number or its word, for all where that is meant', () => {
  const choices = [
    { word: 'ours', label: 'keep' },
    { word: 'value', label: 'another', takesText: true },
    { word: 'give up', label: 'give up' },
    { word: 'no', label: 'no' },
  ];
  const one = question({ choices });
  const many = question({ choices, mayBeForAll: true });
  if (one === null || many === null) throw new Error('the questions do not parse');
  const plain = { text: '', isForAll: false };
  expect(replyTo(one, ' 1. ')).toEqual({ word: 'ours', ...plain });
  expect(replyTo(one, 'Ours')).toEqual({ word: 'ours', ...plain });
  expect(replyTo(one, 'Give up!')).toEqual({ word: 'give up', ...plain });
  expect(replyTo(one, 'nein')).toEqual({ word: 'no', ...plain });
  expect(replyTo(one, 'value  A b: 1')).toEqual({ word: 'value', text: 'A b: 1', isForAll: false });
  expect(replyTo(one, '2 -x')).toEqual({ word: 'value', text: '-x', isForAll: false });
  expect(replyTo(many, 'all 1')).toEqual({ word: 'ours', text: '', isForAll: true });
  expect(replyTo(one, '5')).toEqual({ word: '5', ...plain });
  expect(isAmong(one, { word: '5', ...plain })).toBe(false);
  expect(isAmong(one, { word: 'ours', ...plain })).toBe(true);
  for (const other of ['1 2', 'ours is better', 'all 1', 'yes', '', '1e0']) {
    expect(replyTo(one, other), other).toBeNull();
  }
  expect(choiceLines(choices)).toBe('1. keep\n2. another\n3. give up\n4. no');
});
