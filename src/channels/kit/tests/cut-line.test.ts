import { expect, test } from 'vitest';
import { costOfFourfold, LINEAR_AT_MOST } from '../../../testing/growth.ts';
import { cutLine } from '../cut-line.ts';

test('a line is cut at spaces, and where there is none anywhere but within a character', () => {
  expect(cutLine('one two three', 8)).toEqual(['one two', 'three']);
  expect(cutLine('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
  expect(cutLine('abc🐢🐢', 4)).toEqual(['abc', '🐢🐢']);
});

test('what is bold, code or a link is not cut', () => {
  expect(cutLine('aaaa **two words** bbb', 18)).toEqual(['aaaa **two words**', 'bbb']);
  expect(cutLine('aaaa **two words** bbb', 14)).toEqual(['aaaa ', '**two words**', 'bbb']);
  expect(cutLine('see [the page](https://a.b/c) now', 28)).toEqual([
    'see ',
    '[the page](https://a.b/c)',
    'now',
  ]);
  expect(cutLine('see [a [1] b](https://a.b) now', 24)).toEqual([
    'see ',
    '[a [1] b](https://a.b)',
    'now',
  ]);
  expect(cutLine('run `a b c d`, then', 12)).toEqual(['run ', '`a b c d`,', 'then']);
  // Code ends at the next sign for it, even after a space.
  expect(cutLine('run `a b c `, then', 12)).toEqual(['run `a b c `', ', then']);
});

test('a span that is too long has its marks in each piece', () => {
  expect(cutLine('**one two three four five**', 14)).toEqual([
    '**one two**',
    '**three four**',
    '**five**',
  ]);
});

test.each(['*', '**a ', '[', '`', '`a ', '_a', '[a', '[[a]', '[]('])(
  'a long line of “%s” costs no more than its length',
  (piece) => {
    const cost = costOfFourfold(20_000, (size) => {
      const line = piece.repeat(size / piece.length);
      return () => cutLine(line, 4_000);
    });
    expect(cost).toBeLessThan(LINEAR_AT_MOST);
  },
);
