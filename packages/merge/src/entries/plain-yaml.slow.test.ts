import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inspectYaml, parseYaml } from '../syntax/faults/keys.ts';
import { namesTwiceInPlainYaml } from './yaml.ts';

const PIECES = [
  ...[
    'a:',
    'b:',
    '"a":',
    "'c d':",
    '- ',
    '-',
    'a',
    'a b',
    '-x',
    '1',
    '~',
    'true:',
    'http://a:1',
    '/@a/b@1(c):',
    'a:b',
    ': ',
    ':',
  ],
  ...[
    '#',
    ' # x',
    '|',
    '>-',
    '|2',
    '"',
    "'",
    '"a"',
    "'a'",
    '[',
    ']',
    '[a, b]',
    '[\'a\', "b"]',
    '{}',
    '{ a: 1 }',
  ],
  ...[
    '{ a: 1, a: 2 }',
    ',',
    'a,',
    '&a',
    '*a',
    '!t',
    '? ',
    '---',
    '...',
    '%',
    '@',
    '<<:',
    '$' + '{{ a }}',
    '|| a',
    '\t',
  ],
];

test('what is told to be plain is read by a parser without a fault, and with the same names twice', () => {
  const line = fc
    .tuple(fc.nat({ max: 3 }), fc.array(fc.constantFrom(...PIECES), { maxLength: 3 }), fc.boolean())
    .map(([depth, parts, isSpaced]) => '  '.repeat(depth) + parts.join(isSpaced ? ' ' : ''));
  const plainLine = fc
    .tuple(
      fc.nat({ max: 2 }),
      fc.constantFrom('a:', 'b:', 'a: 1', '"a": 2', 'b: 3', '- a: 4', '- b'),
    )
    .map(([depth, words]) => '  '.repeat(depth) + words);
  const text = fc
    .array(fc.oneof(line, plainLine, plainLine), { minLength: 1, maxLength: 7 })
    .map((lines) => lines.join('\n'));
  const found = { plain: 0, twice: 0 };
  const law = (some: string) => {
    const read = namesTwiceInPlainYaml(some);
    if (read === null) return;
    found.plain++;
    if (read.length > 0) found.twice++;
    expect(inspectYaml(some), some).toEqual(parseYaml(some));
  };
  fc.assert(fc.property(text, law), { numRuns: 20_000 });
  expect(found.plain).toBeGreaterThan(100);
  expect(found.twice).toBeGreaterThan(100);
});

test.each([
  [
    'names, items, values and texts',
    'a: b # c\nd:\n- e: "f"\n  g: [h, \'i\']\n- |\n  j: k\n\n  l\nm: {}\n',
  ],
  [
    'a value and a list on several lines',
    '---\nif:\n  a == b\n  || c\nos: [\n  d,\n  "e"\n]\nf: { g: 1, h: 2 }\n',
  ],
])('plain: %s', (_, text) => {
  expect(namesTwiceInPlainYaml(text)).toEqual([]);
});

test('names that a map has twice are told with what is around them, and where they are', () => {
  const text = 'a:\n  b:\n  - c: 1\n    d: 2\n    c: 3\n  - c: 4\n  b: 5\ne: 6\n"e": 7\ne: 8\n';
  const places = (name: RegExp) => Array.from(text.matchAll(name), ({ index }) => index);
  expect(namesTwiceInPlainYaml(text)).toEqual([
    { path: '', name: 'e', places: places(/"?e"?:/g) },
    { path: '/a', name: 'b', places: places(/b:/g) },
    { path: '/a/b', name: 'c', places: places(/c: [13]/g) },
  ]);
  expect(inspectYaml(text)).toEqual(parseYaml(text));
});

test.each([
  ['a name twice on one line', 'a: { b: 1, b: 2 }\n'],
  ['a value that goes on as a map', 'a: b\n  c: d\n'],
  ['an anchor', 'a: &b c\n'],
  ['two documents', 'a: b\n---\na: b\n'],
  ['lines that are not as far in as their list', 'a:\n    - b\n  - c\n'],
])('not told to be plain: %s', (_, text) => {
  expect(namesTwiceInPlainYaml(text)).toBe(null);
});
