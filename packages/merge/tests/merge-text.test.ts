import { expect, test } from 'vitest';
import { mergeText } from '../src/merge-text.ts';

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

test('a path tells the language, in which both sides may put a name into one list', () => {
  const versions = {
    base: "import { a } from './x.ts';\n",
    ours: "import { a, größe } from './x.ts';\n",
    theirs: "import { a, c } from './x.ts';\n",
  };
  const text = "import { a, größe, c } from './x.ts';\n";
  expect(mergeText(versions, { path: 'src/a.ts' })).toEqual({ text, conflicts: 0 });
  expect(mergeText(versions, { path: 'docs/a.md' }).conflicts).toBe(1);
  expect(mergeText(versions).conflicts).toBe(1);
});

test('lone carriage returns and bytes that are not text do no harm to a merge by syntax', () => {
  const versions = { base: 'a(\r"\xff");\n', ours: "a(\r'\xff');\n", theirs: 'a(\r"\xfe");\n' };
  const merged = mergeText(versions, { path: 'a.js' });
  expect(merged).toEqual({ text: "a(\r'\xfe');\n", conflicts: 0 });
});
