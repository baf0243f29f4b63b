import { expect, test } from 'vitest';
import { costOfFourfold, LINEAR_AT_MOST } from '../testing/growth.ts';
import { closeOpenMarks } from './open-marks.ts';

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

test('marks without end are closed in time that grows with their number', () => {
  const cost = costOfFourfold(4_000, (size) => {
    const text = `${'*'.repeat(size + 2)}x`;
    return () => void closeOpenMarks(text);
  });
  expect(cost).toBeLessThan(LINEAR_AT_MOST);
});
