import { expect, test } from 'vitest';
import { proofFiles } from '../proof-files.ts';
import { treeFile } from '../testing/project.ts';
import { closureOf, type ReadBareName } from './package-closure.ts';

function filesOf(files: Readonly<Record<string, string>>) {
  const changed = new Map(Object.entries(files).map(([path, text]) => [path, treeFile(text)]));
  return proofFiles({ root: '/nowhere', paths: [], changed, tests: [] });
}

const read: ReadBareName = (name) => (name === 'vitest' ? 'installed' : null);
const closure = (files: Readonly<Record<string, string>>) =>
  closureOf('a.test.ts', filesOf(files), read);

test('a test reaches what it names, and what that names, by any way to write an import', () => {
  const files = {
    'a.test.ts':
      "import { test } from 'vitest'; import './b.ts'; const c = await import('./c.js');",
    'b.ts': 'export * from \'./d\'; import { type T } from "./types.ts";',
    'c.ts': "const e = require('./e'); import data from './data.json';",
    'd/index.ts': '',
    'e.cjs': "const worker = './worker.js';",
    'types.ts': '',
    'data.json': '{}',
    'worker.js': '',
    'unrelated.ts': '',
  };
  expect(closure(files)).toEqual(
    Object.keys(files)
      .filter((path) => path !== 'unrelated.ts')
      .sort(),
  );
});

test.each([
  "import { readFileSync } from 'node:fs';",
  "import fs from 'fs';",
  "const fs = await import('node:fs/promises');",
  "import { spawn } from 'node:child_process';",
  'await import(name);',
  "await import('./plugins/' + name);",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a module
  'await import(`./plugins/${name}.ts`);',
  'import.meta.glob("./*.ts");',
  'const here = import.meta.dirname;',
  "import { x } from '@/aliased';",
  "import { x } from '#mapped';",
  'process.getBuiltinModule(name);',
])('no reach is told of a module with %s', (line) => {
  expect(closure({ 'a.test.ts': "import './b.ts';", 'b.ts': line })).toBeNull();
});

test('if a path may mean several files, all of them count', () => {
  const files = {
    'a.test.ts': "const h = require('./h'); const p = require('./p');",
    'h.js': '',
    'h.ts': '',
    'p/lib.js': '',
    'p/package.json': '{"main":"lib.js"}',
  };
  expect(closure(files)).toEqual(Object.keys(files).sort());
});

test('types alone are not there when a test runs', () => {
  const files = {
    'a.test.ts': "import type { T } from './types.ts'; export type * from './types.ts';",
    'types.ts': "import 'node:fs';",
  };
  expect(closure(files)).toEqual(['a.test.ts']);
  const named = { 'a.test.ts': "import type from './type.ts';", 'type.ts': '' };
  expect(closure(named)).toEqual(['a.test.ts', 'type.ts']);
});

test('nor of a test in another language', () => {
  const files = filesOf({ 'test_a.py': 'import b' });
  expect(closureOf('test_a.py', files, read)).toBeNull();
});
