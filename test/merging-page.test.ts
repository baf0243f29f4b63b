import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mergeText } from '../packages/merge/src/merge-text.ts';

const PAGE = readFileSync(join(import.meta.dirname, '..', 'docs', 'merging.md'), 'utf8');
const EXAMPLE = /^```merge (\S+)\n([\s\S]*?)^```$/gm;

const examples = [...PAGE.matchAll(EXAMPLE)].map(([, path = '', text = '']) => {
  const [, ...parts] = text.split(/^--- (?=(?:base|ours|theirs|merged|question)\n)/m);
  const sections = new Map(
    parts.map((part) => {
      const end = part.indexOf('\n');
      return [part.slice(0, end), part.slice(end + 1)];
    }),
  );
  return { path, sections };
});

test('the page of merging has an example of each rule', () => {
  expect(examples.length).toBeGreaterThanOrEqual(7);
});

test.each(examples)(
  'the page of merging says what a merge does, example $#: $path',
  ({ path, sections }) => {
    const [base = '', ours = '', theirs = ''] = ['base', 'ours', 'theirs'].map((name) =>
      sections.get(name),
    );
    const { text, conflicts } = mergeText({ base, ours, theirs }, { path });
    if (sections.has('question')) expect(conflicts).toBe(1);
    else expect({ text, conflicts }).toEqual({ text: sections.get('merged'), conflicts: 0 });
  },
);
