import { expect, test } from 'vitest';
import { splitLines } from '../lines/lines.ts';
import { readNesting } from '../syntax/nesting.ts';
import { declaredWords, findClashes } from './needs-syntax-check.ts';

/** Tells whether the first two places that may declare `name` may clash. */
function isClash(text: string, name = 'x'): boolean {
  const lines = splitLines(text);
  const nesting = readNesting(lines);
  if (nesting === null) throw new Error('brackets that do not match');
  const places = lines.flatMap((one, line) =>
    declaredWords(one).map((word) => ({ ...word, line })),
  );
  const [one, other] = places.filter((place) => place.name === name);
  if (one === undefined || other === undefined) throw new Error(`no two places of ${name}`);
  return findClashes({ lines, nesting })(one, other);
}

test.each([
  ['in one block', 'function a() {\n  const x = 1;\n  const x = 2;\n}\n'],
  ['at the top', "import { x } from 'a';\nconst x = 1;\n"],
  ['a parameter and a variable', 'function a(b, x) {\n  let x = 1;\n}\n'],
  ['a parameter without brackets', 'a(b, x => {\n  let x = 1;\n});\n'],
  ['parameters on lines', 'function a(\n  x,\n  b,\n  x,\n) {\n  b();\n}\n'],
  ['out of a block by var', 'function a() {\n  let x;\n  if (b) {\n    var x;\n    b();\n  }\n}\n'],
  ['keys of one object', 'const a = {\n  x: 1,\n  x: 2,\n};\n'],
  ['a pattern', 'function a() {\n  const {\n    x,\n  } = b();\n  const x = 1;\n}\n'],
])('a name that is declared twice may clash: %s', (_, text) => {
  expect(isClash(text)).toBe(true);
});

test.each([
  [
    'two functions',
    'a(() => {\n  const x = 1;\n  a();\n});\nb(() => {\n  const x = 2;\n  a();\n});\n',
  ],
  ['var in two functions', 'a(() => {\n  var x = 1;\n});\nb(() => {\n  var x = 2;\n});\n'],
  ['two classes', 'class A {\n  x() {}\n}\nclass B {\n  x() {}\n}\n'],
  ['parameters of two functions', 'a(b, x => {\n  a();\n});\nb(b, x => {\n  a();\n});\n'],
  ['a function and the module', 'a(() => {\n  const x = 1;\n  a();\n});\nconst x = 2;\n'],
])('a name that is declared in two scopes does not: %s', (_, text) => {
  expect(isClash(text)).toBe(false);
});
