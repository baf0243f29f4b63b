import { expect, test } from 'vitest';
import { openMemoryDatabases } from '../../store/own-databases.ts';
import { draftText } from './draft-text.ts';
import { editedParts } from './edited-parts.ts';
import { openSentMessages } from './sent-messages.ts';

test('existing parts are edited, missing ones sent, surplus ones removed', () => {
  expect(editedParts(['a', 'b'], [])).toEqual([
    { kind: 'send', at: 0, part: 'a' },
    { kind: 'send', at: 1, part: 'b' },
  ]);
  expect(editedParts(['a'], ['1', undefined, '3'])).toEqual([
    { kind: 'edit', at: 0, part: 'a', farId: '1' },
    { kind: 'remove', at: 2, farId: '3' },
  ]);
  expect(editedParts([], ['1'])).toEqual([{ kind: 'remove', at: 0, farId: '1' }]);
});

test('a message takes over what it replaces, part by part, and a reaction finds the last', () => {
  let now = 1;
  const openDatabase = openMemoryDatabases({ now: () => 1 }).of('channel', 'test');
  const sent = openSentMessages(openDatabase, () => now);
  const note = (id: string, at: number, farId: string, jid = 'a:1') =>
    sent.note({ id, at, jid, farId, text: `text of ${id}` });
  note('d', 0, 'x');
  note('d', 1, 'y');
  expect(sent.partsOf('m', 'd')).toEqual(['x', 'y']);
  note('m', 0, 'x');
  expect(sent.partsOf('m', 'd')).toEqual(['x', 'y']);
  // What was replaced once may be named again, as the progress of a command is.
  expect(sent.partsOf('n', 'd')).toEqual(['x', 'y']);
  expect([sent.idOf('a:1', 'x'), sent.idOf('a:1', 'y'), sent.idOf('a:2', 'x')]).toEqual([
    'm',
    'd',
    null,
  ]);
  expect(sent.shows({ jid: 'a:1', farId: 'x', text: 'text of m' })).toBe(true);
  expect(sent.shows({ jid: 'a:1', farId: 'x', text: 'text of d' })).toBe(false);
  sent.remove({ jid: 'a:1', farId: 'y' });
  expect(sent.partsOf('d')).toEqual(['x']);
  sent.forgetChat('a:1');
  expect(sent.partsOf('m')).toEqual([]);
  note('old', 0, 'z');
  now += 31 * 86_400_000;
  expect(openSentMessages(openDatabase, () => now).partsOf('old')).toEqual([]);
});

test.each([
  ['', null, '…'],
  [' ', 'reading files', '… reading files'],
  ['One **two', null, 'One **two** …'],
  ['One', 'reading files', 'One\n\n… reading files'],
  ['```js\nlet a', null, '```js\nlet a\n```\n…'],
])('a draft of %j with the activity %j is %j', (text, activity, shown) => {
  expect(draftText({ text, activity })).toBe(shown);
});
