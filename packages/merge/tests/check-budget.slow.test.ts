import { expect, test } from 'vitest';
import { mergeText } from '../src/merge-text.ts';

/**
 * Merges a map of many keys: the sides disagree on one key, and each adds far from there what the other one has made
 * of it. So the merge has a name twice whichever side is taken, and finding that takes two rounds.
 */
function mergeMap(keys: number): { readonly open: string; readonly text: string } {
  const write = (key: string, added: string, where: 'head' | 'tail') => {
    const all = Array.from(
      { length: keys },
      (_, at) => `key-${at}: a text of forty letters, or nearly so`,
    );
    all[Math.floor(keys / 2)] = `${key}: 1`;
    if (added !== '') all.splice(where === 'head' ? 20 : keys - 20, 0, `${added}: 2`);
    return `${all.join('\n')}\n`;
  };
  const { text } = mergeText(
    {
      base: write('old', '', 'head'),
      ours: write('x', 'y', 'tail'),
      theirs: write('y', 'x', 'head'),
    },
    { path: 'a.yaml' },
  );
  return { text, open: [...text.matchAll(/<{7}.*?>{7}/gs)].join('\n') };
}

test('a name that the merge would have twice is part of the conflict, whichever side it is taken with', () => {
  const { open } = mergeMap(200);
  expect(open).toContain('\nx: 2\n');
  expect(open).toContain('\ny: 2\n');
});

test('checks read a long text so many times and no more, and what they have found stays open', () => {
  const { text, open } = mergeMap(4_000);
  expect(text.length).toBeGreaterThan(180_000);
  expect(open).toContain('\nx: 2\n');
  expect(open).not.toContain('\ny: 2\n');
  expect(text).toContain('\ny: 2\n');
});
