import { expect, test } from 'vitest';
import { createDefectFinder } from './merge-defects.ts';

const TWICE = 'a: 1\na: 2\n';

test('a name that ours has twice is no defect of the merge, and theirs is not read for it', () => {
  const inputs = {
    base: '',
    ours: TWICE,
    get theirs(): string {
      throw new Error('theirs is read');
    },
  };
  expect(createDefectFinder('yaml', () => inputs)(`${TWICE}b: 1\n`)).toBe(null);
  expect(() => createDefectFinder('yaml', () => inputs)('b: 1\nb: 2\n')).toThrow('theirs is read');
});

test('a name that the merge has twice is a defect, unless the inputs are too much to read', () => {
  const inputs = { base: '', ours: 'a: 1\n', theirs: 'a: 2\n' };
  expect(createDefectFinder('yaml', () => inputs)(TWICE)?.kind).toBe('duplicates');
  expect(createDefectFinder('yaml', () => null)(TWICE)).toBe(null);
});
