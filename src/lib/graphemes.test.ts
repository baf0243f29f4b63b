import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CLUSTERS } from '../testing/clusters.ts';
import { cutText } from './cut-text.ts';
import { beginningOf, graphemesOf, shortened } from './graphemes.ts';

/** Returns all lengths at which a text may be cut. */
function boundariesOf(text: string): ReadonlySet<number> {
  let end = 0;
  return new Set([0, ...graphemesOf(text).map((each) => (end += each.length))]);
}

test.each(CLUSTERS)('%s is cut at no length of the text around it', (cluster) => {
  const text = `a${cluster.repeat(5)}b`;
  const boundaries = boundariesOf(text);
  for (let length = cluster.length; length <= text.length; length += 1) {
    const beginning = beginningOf(text, length);
    expect(text.startsWith(beginning)).toBe(true);
    expect(beginning.length).toBeLessThanOrEqual(length);
    expect(beginning.length).toBeGreaterThan(length - cluster.length);
    expect(boundaries).toContain(beginning.length);
  }
  for (let bytes = Buffer.byteLength(`a${cluster}`); bytes < Buffer.byteLength(text); bytes += 1) {
    const { text: kept } = cutText(text, bytes);
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(bytes);
    expect(boundaries).toContain(kept.length);
  }
});

test('one that is longer than the room is cut between code points', () => {
  const family = '👨‍👩‍👧‍👦';
  expect(beginningOf(family, 4)).toBe('👨‍');
  expect(beginningOf(family, 1)).toBe('');
  expect(cutText(family, 5).text.isWellFormed()).toBe(true);
});

test('a shortened text has its sign within the length', () => {
  expect(shortened('as it is', 8)).toBe('as it is');
  expect(shortened('one two three', 9)).toBe('one two…');
  expect(shortened('flags 🇩🇪🇫🇷', 9)).toBe('flags…');
});

test('no other file shortens a text by itself', () => {
  // The engine is alone, and shows code; so does its command line.
  const files = globSync(['src/**/*.ts', 'container/**/*.ts', 'skills/*/{add,modify}/**/*.ts'], {
    exclude: (path) => /^src\/(engine|cli|testing)\b|\.test\.ts$/.test(path),
  });
  const cutting = files.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => /\.slice\(0, [^`]*\}\s?…/.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(files.length).toBeGreaterThan(100);
  expect(cutting).toEqual([]);
});
