import { expect, test } from 'vitest';
import { changedLines, changesLineEnds } from '../compare-files.ts';

const before = 'one\ntwo\nthree\nfour\n';

test.each([
  ['nothing', before, []],
  ['one line', before.replace('two', 'TWO'), [[2, 2]]],
  ['a stretch', before.replace('two\nthree', 'a\nb\nc'), [[2, 4]]],
  [
    'two places',
    before.replace('one', 'ONE').replace('four', 'FOUR'),
    [
      [1, 1],
      [4, 4],
    ],
  ],
  ['lines put in', before.replace('three', 'new\nthree'), [[3, 3]]],
  ['lines appended', `${before}five\nsix`, [[5, 6]]],
  ['lines taken out', before.replace('two\nthree\n', ''), [[2, 2]]],
  ['the last line taken out', before.replace('four\n', ''), [[3, 3]]],
  ['everything taken out', '', []],
  ['line ends only', before.replaceAll('\n', '\r\n'), []],
])('a file with %s changed', (_, now, expected) => {
  expect(changedLines(Buffer.from(before), Buffer.from(now))).toEqual(expected);
});

test('a file that was not there is new from its first line to its last', () => {
  expect(changedLines(null, Buffer.from(before))).toEqual([[1, 4]]);
});

test('a file that is gone has no lines', () => {
  expect(changedLines(Buffer.from(before), null)).toEqual([]);
});

test.each([
  ['nothing', before, false],
  ['a line', before.replace('two', 'TWO'), false],
  ['the line ends', before.replaceAll('\n', '\r\n'), true],
  ['one line end', before.replace('two\n', 'two\r\n'), true],
  ['the end of a line that is new', before.replace('two\n', 'TWO\r\n'), false],
  ['the last newline', before.trimEnd(), true],
  ['everything', '', false],
])('%s changed: line ends are told apart from lines', (_, now, expected) => {
  expect(changesLineEnds(Buffer.from(before), Buffer.from(now))).toBe(expected);
});
