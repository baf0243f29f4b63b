import { expect, test } from 'vitest';
import { mergeText } from './merge-text.ts';

const base = 'one\ntwo\nthree\n';

test('two edits that do not meet are both in the text', () => {
  const versions = { base, ours: 'ONE\ntwo\nthree\n', theirs: 'one\ntwo\nTHREE\n' };
  expect(mergeText(versions)).toEqual({ text: 'ONE\ntwo\nTHREE\n', conflicts: 0 });
});

test('edits that meet are shown between markers, and counted', () => {
  const versions = { base, ours: 'eins\ntwo\ndrei\n', theirs: 'un\ntwo\ntrois\n' };
  const { text, conflicts } = mergeText(versions, { path: 'src/count.ts' });
  expect(conflicts).toBe(2);
  expect(text).toContain('<<<<<<< ours: src/count.ts\neins\n');
  expect(text).toContain('||||||| base: src/count.ts\none\n');
  expect(text).toContain('=======\nun\n>>>>>>> theirs: src/count.ts\n');
});

test('markers can be given the names of the sides', () => {
  const labels = { base: 'core 0.1.0', ours: 'core', theirs: 'telegram' };
  const { text } = mergeText({ base: 'a\n', ours: 'b\n', theirs: 'c\n' }, { labels });
  expect(text).toBe('<<<<<<< core\nb\n||||||| core 0.1.0\na\n=======\nc\n>>>>>>> telegram\n');
});
