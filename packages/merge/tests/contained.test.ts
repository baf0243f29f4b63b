import { expect, test } from 'vitest';
import { containedChanges } from '../src/merge-files.ts';

const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];

function contained(sides: { base?: string[]; ours: string[]; theirs: string[] }) {
  const fileOf = (lines: string[]) => ({
    bytes: Buffer.from(lines.map((line) => `${line}\n`).join('')),
    isExecutable: false,
  });
  const { base = LINES, ours, theirs } = sides;
  return containedChanges({ base: fileOf(base), ours: fileOf(ours), theirs: fileOf(theirs) });
}

test('an equal change is contained, another one is not', () => {
  const theirs = LINES.with(0, 'ONE').with(6, 'SEVEN');
  expect(contained({ ours: LINES.with(0, 'ONE'), theirs })).toEqual({
    changes: 2,
    contained: [[1, 1]],
  });
  expect(contained({ ours: LINES.with(0, 'uno'), theirs })).toEqual({ changes: 2, contained: [] });
});

test('an insertion is contained in one that has more', () => {
  const theirs = LINES.toSpliced(3, 0, 'new');
  const ours = LINES.toSpliced(3, 0, 'first', 'new', 'last');
  expect(contained({ ours, theirs })).toEqual({ changes: 1, contained: [[4, 6]] });
  expect(contained({ ours: theirs, theirs: ours })).toEqual({ changes: 1, contained: [] });
});

test('an insertion is contained where ours also changes the line below it', () => {
  const block = ['if (late) {', '  warn(late);', '  retry(late);', '}'];
  const theirs = LINES.toSpliced(3, 0, ...block);
  const ours = LINES.with(3, 'FOUR').toSpliced(3, 0, ...block);
  expect(contained({ ours, theirs })).toMatchObject({ changes: 1, contained: [[4, 8]] });
});

test('lines that both took out are represented by the line after the gap', () => {
  const theirs = LINES.toSpliced(2, 2);
  expect(contained({ ours: theirs, theirs })).toEqual({ changes: 1, contained: [[3, 3]] });
});

test('a file that is not text contains nothing', () => {
  const theirs = LINES.with(0, '\0');
  expect(contained({ ours: theirs, theirs })).toEqual({ changes: 0, contained: [] });
});
