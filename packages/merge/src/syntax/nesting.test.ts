import { expect, test } from 'vitest';
import { splitLines } from '../lines/lines.ts';
import { readNesting } from './nesting.ts';

/** Returns the lines at which the brackets around a place begin, the innermost first. */
function around(text: string, place: string): readonly number[] | null {
  const lines = splitLines(text);
  const nesting = readNesting(lines);
  if (nesting === null) return null;
  const found: number[] = [];
  let index = nesting.around[lines.findIndex((line) => line.includes(place))] ?? -1;
  for (let one = nesting.brackets[index]; one !== undefined; one = nesting.brackets[index]) {
    found.push(one.line);
    index = one.parent;
  }
  return found;
}

test('brackets in texts, comments, patterns and templates are none; those in what a template holds are', () => {
  const text = String.raw`a({ b: "(", c: '{' }, /[(]\/{/, // {
/* [
 [ */ T{ S{d({
  here: TS{1}T,
})} (T);
`
    .replaceAll('T', '`')
    .replaceAll('S', '$');
  expect(around(text, 'here')).toEqual([2, 2, 2, 0]);
});

test('brackets that do not match are told, and an apostrophe among words is not text', () => {
  expect(around('a(b];\n', 'a')).toBe(null);
  expect(around('a(\n', 'a')).toBe(null);
  expect(around("<p>don't {\n  here\n}</p>\n", 'here')).toEqual([0]);
});

test.each([
  ['{\n  const a = 1\n}\n', true],
  ['{\n  a.b(1)\n}\n', true],
  ['{\n  a,\n  get: 1,\n  return: 2,\n  b() {},\n}\n', false],
  ['{\n  a:\n    b.c(1),\n}\n', false],
])('a bracket with statements is told from one that may be a list: %j', (text, isBlock) => {
  expect(readNesting(splitLines(text))?.brackets[0]?.isBlock).toBe(isBlock);
});
