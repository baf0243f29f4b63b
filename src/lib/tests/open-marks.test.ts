import { expect, test } from 'vitest';
import { closeOpenMarks } from '../open-marks.ts';

test.each([
  ['one', 'one'],
  ['one **two', 'one **two**'],
  ['one **two*', 'one **two**'],
  ['one **two**', 'one **two**'],
  ['one `two', 'one `two`'],
  ['one `two**`', 'one `two**`'],
  ['one *', 'one'],
  ['**one\n\ntwo', '**one\n\ntwo'],
  ['```\n**a', '```\n**a'],
  ['```\na\n``', '```\na'],
])('%j is closed as %j while it grows', (text, closed) => {
  expect(closeOpenMarks(text)).toBe(closed);
});
