import { expect, test } from 'vitest';
import { mergeText } from '../merge-text.ts';

const packages = (from: number, to: number) =>
  Array.from(
    { length: to - from },
    (_, index) =>
      `  /pkg${from + index}/1.0:\n    needs:\n    - a\n    - b: 1\n      c: 2\n    text: |\n      key: 1\n\n      - x\n`,
  ).join('');
const write = (first: string, last: string, middle = '') =>
  `# head\nlockfile: 1\npackages:\n${first}${packages(0, 40)}${middle}${packages(40, 80)}${last}end: true\n`;

test('keys that two sides insert into one map, far from each other, are merged', () => {
  const versions = {
    base: write('', ''),
    ours: write('  /first:\n    a: 1\n', ''),
    theirs: write('', '', '  /middle:\n    a: 1\n'),
  };
  const merged = mergeText(versions, { path: 'a.yaml' });
  const both = write('  /first:\n    a: 1\n', '', '  /middle:\n    a: 1\n');
  expect(merged).toEqual({ text: both, conflicts: 0 });
});

test('a key that both sides put into one map far from each other is still found', () => {
  const ours = write('  /same:\n    a: 1\n', '');
  const theirs = write('', '  /same:\n    b: 2\n');
  expect(mergeText({ base: write('', ''), ours, theirs }, { path: 'a.yaml' }).conflicts).toBe(1);
});

test('the same key in two maps far from each other is not a conflict', () => {
  const ours = write('  /one:\n    same: 1\n', '');
  const theirs = write('', '  /two:\n    same: 2\n');
  const merged = mergeText({ base: write('', ''), ours, theirs }, { path: 'a.yaml' });
  expect(merged).toEqual({
    text: write('  /one:\n    same: 1\n', '  /two:\n    same: 2\n'),
    conflicts: 0,
  });
});
