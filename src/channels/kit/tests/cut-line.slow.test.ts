import fc from 'fast-check';
import { expect, test } from 'vitest';
import { graphemesOf } from '../../../lib/graphemes.ts';
import { CLUSTERS, clusterText } from '../../../testing/clusters.ts';
import { costOfFourfold, LINEAR_AT_MOST } from '../../../testing/growth.ts';
import { cutLine, splitMarkdown } from '../split-markdown.ts';

test('a line is cut at spaces, and where there is none anywhere but within a character', () => {
  expect(cutLine('one two three', 8)).toEqual(['one two', 'three']);
  expect(cutLine('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
  expect(cutLine('abc🐢🐢', 4)).toEqual(['abc', '🐢🐢']);
});

test.each(CLUSTERS)('%s is cut at no offset', (cluster) => {
  const whole = graphemesOf(cluster.repeat(12));
  for (let offset = 0; offset < 40; offset += 1) {
    const text = 'x'.repeat(offset) + cluster.repeat(12);
    const pieces = cutLine(text, 40);
    expect(pieces.join('')).toBe(text);
    expect(pieces.flatMap(graphemesOf).filter((each) => each !== 'x')).toEqual(whole);
  }
});

test('no text of emoji, flags and marks loses or splits a character, whatever its limit', () => {
  const characters = (text: string) => graphemesOf(text).filter((each) => !/^[\s*]+$/.test(each));
  fc.assert(
    fc.property(clusterText, fc.integer({ min: 24, max: 90 }), (text, limit) => {
      const parts = splitMarkdown(text, limit);
      for (const part of parts) expect(part.length).toBeLessThanOrEqual(limit);
      expect(parts.flatMap(characters)).toEqual(characters(text));
    }),
  );
});

test('bold text, code and links are not cut', () => {
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
