import { expect, test } from 'vitest';
import { readMarkdown } from './entry-readers.ts';

const namedIn = (...lines: readonly string[]) =>
  readMarkdown(lines).flatMap(({ list, key }) => (key === null ? [] : [[list, key]]));

test('points are named by their list, headings and sign included', () => {
  expect(namedIn('# One', '## Two', '- a', '  * b', '+ `c`: d', '## Three', '-  e')).toEqual([
    ['# One\n## Two\n-', 'a'],
    ['# One\n## Two\n+', '`c`'],
    ['# One\n## Three\n-', 'e'],
  ]);
});

test('equal headings are of two lists, as are those under them', () => {
  expect(namedIn('# One', '- a', '# One', '## Two', '- a')).toEqual([
    ['# One\n-', 'a'],
    ['# One 2\n## Two\n-', 'a'],
  ]);
});

test('rows and addresses have names, emphasis, rules, and what is fenced have none', () => {
  expect(namedIn('**bold**', '---', '-', '- \u00a0', '```', '- a', '```')).toEqual([]);
  expect(namedIn('a | b', '--|--', 'c | d', '[e]: f')).toEqual([
    ['\na | b', 'c'],
    ['\n[]', 'e'],
  ]);
});
