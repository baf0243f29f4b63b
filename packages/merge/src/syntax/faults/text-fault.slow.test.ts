import { expect, test } from 'vitest';
import { mergeFault, tellFault } from './merge-defects.ts';

const file = (text: string) => ({ bytes: Buffer.from(text), isExecutable: false });
const fault = (path: string, merged: string, ours: string, theirs = ours, base = ours) =>
  mergeFault(path, file(merged), { base: file(base), ours: file(ours), theirs: file(theirs) });

test.each([
  ['a.ts', 'let a: number = 1\n', 'let a = 1;\nfoo(\n', 3],
  ['a.tsx', 'const a = <b />;\n', 'const a = <b>;\n', 1],
  ['a.js', 'const a = 1;\n', 'const a = ;\n', 1],
  ['a.json', '{ "a": 1 }', '{\n  "a": 1,\n}', 3],
  ['a.jsonc', '{ "a": 1, /* why */ }', '{\n  "a": 1,\n  "b"\n}', 4],
  ['a.yaml', 'a: 1\n', 'a: 1\nb: "x\n', 3],
])('%s that does not parse is told by its line', (path, side, merged, line) => {
  expect(fault(path, side, side)).toBe(null);
  expect(fault(path, merged, side)).toMatchObject({ line, reason: expect.stringMatching(/\w/) });
});

test('a syntax error that a side has too is no fault of the answer', () => {
  expect(fault('a.ts', 'foo(', 'bar(')).toBe(null);
  expect(fault('a.json', '{ "a": 1, } // why', '{ "a": 2, }')).toBe(null);
  expect(fault('a.json', '{ "a": 1, }', '{ "a": 2 }')).not.toBe(null);
  expect(fault('a.md', '{', '')).toBe(null);
});

test.each([
  ['a.ts', "import { a } from './a.ts';\n\nconst a = 1;\n", '`a` (lines 1 and 3)'],
  ['a.ts', 'const a = { b: 1,\nb: 2 };\nexport default 1;\nexport default 2;\n', null],
  ['a.json', '{ "a": { "b": 1,\n"b": 2 } }', '`b` (lines 1 and 2)'],
  ['a.yml', 'a:\n  b: 1\n  c: 2\n  b: 3\n', '`b` (lines 2 and 4)'],
  ['a.yml', 'a: 1\n---\na: 1\na: 2\n', '`a` (lines 3 and 4)'],
  ['.env.example', '# A=1\nA=2\nexport A=3\n', '`A` (lines 2 and 3)'],
  ['Cargo.toml', 'name = "a"\n[a]\nname = 1\nname = 2\n', '`name` (lines 3 and 4)'],
])('%s with a name twice that no input has twice is told with its lines', (path, text, told) => {
  const none = path.endsWith('json') ? '{}' : '';
  const found = fault(path, text, none);
  const names = told ?? '`b` (lines 1 and 2) and `default` (lines 3 and 4)';
  expect(found && tellFault(found)).toBe(`has twice ${names}`);
  expect(fault(path, text, none, text)).toBe(null);
  expect(fault(path, text, none, none, text)).toBe(null);
});

test.each([
  [
    'a.ts',
    'function f(a: 1): 1;\nfunction f(a: 2): 2;\nfunction f(a: unknown) {\n  return a;\n}\n',
  ],
  ['a.ts', 'declare function f(a: 1): 1;\ndeclare function f(a: 2): 2;\n'],
  ['a.ts', 'export default function f(a: 1): 1;\nexport default function f(a: unknown) {\n}\n'],
  [
    'a.ts',
    'interface A {\n  f(a: 1): 1;\n  f(a: 2): 2;\n}\nclass A {\n  get b() {}\n  set b(c) {}\n}\n',
  ],
  ['a.ts', "import type { A } from './a.ts';\nconst A = 1;\ntype B = 1;\nconst B = 2;\n"],
  ['a.ts', 'namespace A {}\nfunction A() {}\nnamespace A {}\nvar b;\nvar b;\n'],
  [
    'a.ts',
    'declare global {\n  var a: 1;\n}\nvar a = 1;\nexport type { A } from "b";\nexport { A } from "c";\n',
  ],
  ['a.ts', 'switch (a) {\n  case 1:\n    switch (a) {\n      case 1:\n    }\n}\n'],
  ['a.ts', 'function f() {\n  const a = 1;\n  {\n    const a = 2;\n  }\n}\nconst a = 3;\n'],
  ['a.js', 'var a = 1;\nfunction f(a) {\n  var a = 2;\n}\nvar a = 3;\n'],
  ['a.yml', 'a: &a\n  x: 1\nb:\n  <<: *a\n  <<: *a\n  x: 2\n---\na: 1\n'],
  ['a.toml', 'a = 1\n[[b]]\na = 1\n[[b]]\na = 2\n[c]\na = 3 # a = 4\n'],
])('%s with a name in two places that may have it is no fault: %j', (path, text) => {
  expect(fault(path, text, '')).toBe(null);
});
