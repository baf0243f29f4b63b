import { expect, test } from 'vitest';
import { withoutChange } from './without-change.ts';

const undone = (text: string, before: string, after: string) =>
  withoutChange(text, { before, after });

test('a change is taken out, and what was written since stays', () => {
  expect(undone('a\nB\nc\n', 'a\nb\nc\n', 'a\nB\nc\n')).toBe('a\nb\nc\n');
  expect(undone('new\na\nB\nc\n', 'a\nb\nc\n', 'a\nB\nc\n')).toBe('new\na\nb\nc\n');
  // Lines that were added go, lines that were deleted come back between their neighbours.
  expect(undone('a\nb\nx\nmore\n', 'a\nb\n', 'a\nb\nx\n')).toBe('a\nb\nmore\n');
  expect(undone('top\na\nc\n', 'a\nb\nc\n', 'a\nc\n')).toBe('top\na\nb\nc\n');
  expect(undone('x', '', 'x')).toBe('');
});

test('a change is not taken out where its lines were changed again, or are there twice', () => {
  expect(undone('a\nBB\nc\n', 'a\nb\nc\n', 'a\nB\nc\n')).toBeNull();
  expect(undone('a\nB\nc\na\nB\nc\n', 'a\nb\nc\n', 'a\nB\nc\n')).toBeNull();
  expect(undone('a\nnew\nc\n', 'a\nb\nc\n', 'a\nc\n')).toBeNull();
});
