import { expect, test } from 'vitest';
import { findImports, readImport } from './import-statements.ts';

test.each([
  ["import { a, b as c } from './x.ts';", './x.ts', '', ['a', 'c']],
  ["import type { A } from './x.ts'", 'type ./x.ts', '', ['A']],
  ["import { type A, b } from './x.ts'", './x.ts', '', ['A', 'b']],
  ["import a from 'x'", 'x', 'a', null],
  ["import type from 'x'", 'x', 'type', null],
  ["import a, { b } from 'x'", 'x', 'a', ['b']],
  ["import * as a from 'x'", '* x', '* as a', null],
  ["import a, * as b from 'x'", 'x', 'a, * as b', null],
  ["import {} from 'x'", 'x', '', []],
  ["import './x.css'", 'import ./x.css', '', null],
  ["const a = require('x')", 'require all of x', 'a', null],
  ["const { a, b: c } = require('x')", 'require x', '', ['a', 'c']],
])('%s', (line, key, whole, names) => {
  const read = readImport([line]);
  expect(
    read && { key: read.key, whole: read.whole, names: read.names && [...read.names.keys()] },
  ).toEqual({
    key,
    whole,
    names,
  });
});

test.each([
  "import { a, a } from 'x'",
  "import a from './x.json' with { type: 'json' }",
  "import { a } from 'x' // why",
  "import { a /* why */ } from 'x'",
  "import a = require('x')",
  "const { a = 1 } = require('x')",
  "const { a, ...b } = require('x')",
  "const a = require('x').a",
  "const a = require('x'), b = require('y')",
])('not read: %s', (line) => {
  expect(readImport([line])).toBe(null);
});

test('imports over several lines are found, and nothing that only begins like one', () => {
  const lines = [
    "import { a } from 'x'",
    'import {',
    '  b,',
    '  c',
    "} from 'y'",
    "import('z')",
    'const {',
    '  d',
    '} = options',
    'const {',
    '  e,',
    "} = require('z')",
  ];
  expect(findImports(lines)).toEqual([
    { start: 0, end: 1 },
    { start: 1, end: 5 },
    { start: 9, end: 12 },
  ]);
});
