import { expect, test } from 'vitest';
import { likeness, lineWeights } from '../compare-files.ts';

const of = (one: string, other: string) => {
  const [a, b] = [lineWeights(Buffer.from(one)), lineWeights(Buffer.from(other))];
  return a && b ? likeness(a, b) : null;
};

test('the same lines in another order and at another depth are the same', () => {
  expect(of('a = 1\nb = 2\n', '  b = 2\r\n  a = 1\r\n')).toBe(1);
});

test('a line that only one of them has counts against both', () => {
  expect(of('aaaa\n', 'aaaa\nbbbb\n')).toBe(0.5);
  expect(of('aaaa\nbbbb\n', 'aaaa\n')).toBe(0.5);
  expect(of('aaaa\n', 'bbbb\n')).toBe(0);
});

test('a line that stands three times is not shared by one that stands once', () => {
  expect(of('aa\naa\naa\n', 'aa\n')).toBeCloseTo(1 / 3);
});

test('empty and binary files are like nothing', () => {
  expect(of('', '')).toBe(0);
  expect(lineWeights(Buffer.from([1, 0, 2]))).toBe(null);
});
