import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ProofInput } from './proof.ts';
import { prove } from './prove.ts';
import { openMemory } from './remembered-passes.ts';
import { ENVIRONMENT, layer, temporaryProject, treeFile } from './testing/project.ts';

const FILES = {
  'package.json': '{"type":"module"}',
  'src/value.js': "import { part } from './part.js'; export const value = part;",
  'src/part.js': "export const part = 'right';",
  'src/other.js': 'export {};',
};
const ASKS = `import test from 'node:test'; import assert from 'node:assert';
  import { value } from '../../../src/value.js';
  test('the value is right', () => assert.equal(value, 'right'));`;
const READS = `import test from 'node:test'; import { readFileSync } from 'node:fs';
  test('reads', () => { readFileSync('src/other.js'); });`;

/** Proves a tree of the project with a memory, and tells what ran. */
async function proveAgain(root: string, rest: Partial<ProofInput>) {
  const told: string[] = [];
  const proof = await prove({
    root,
    paths: Object.keys(FILES),
    changed: new Map(),
    tests: [],
    presentTests: [],
    checks: [],
    testCommand: null,
    nodeModules: null,
    memory: openMemory(root),
    environment: ENVIRONMENT,
    onProgress: ({ kind, text }) => {
      if (kind !== 'ended' && kind !== 'output') told.push(text);
    },
    ...rest,
  });
  return { ...proof, told };
}

test('a test that passed runs again only where a file changed that it reaches', async () => {
  using project = temporaryProject(FILES);
  const tests = [layer('one', ASKS)];
  expect(await proveAgain(project.root, { tests })).toMatchObject({ told: ['test: one'] });

  const other = new Map([['src/other.js', treeFile('export const changed = 1;')]]);
  const reused = await proveAgain(project.root, { tests, changed: other });
  expect(reused).toMatchObject({ ok: true, reused: 1 });
  expect(reused.told).toEqual(['passed before on the same files: 1 of 1 files']);

  const part = new Map([['src/part.js', treeFile("export const part = 'wrong';")]]);
  const broken = await proveAgain(project.root, { tests, changed: part });
  expect(broken).toMatchObject({ ok: false, failures: [{ name: 'one' }] });
  // A failed test is not remembered.
  expect(await proveAgain(project.root, { tests, changed: part })).toMatchObject({ ok: false });
});

test('a test file runs again with another test command, other packages, and other settings of the project', async () => {
  using project = temporaryProject(FILES);
  const tests = [layer('one', ASKS)];
  const told = async (rest: Partial<ProofInput>) =>
    (await proveAgain(project.root, { tests, ...rest })).told;
  expect(await told({})).toEqual(['test: one']);
  expect(await told({ testCommand: 'node --test --test-concurrency=1' })).toEqual(['test: one']);
  const settings = new Map([['package.json', treeFile('{"type":"module","private":true}')]]);
  expect(await told({ changed: settings })).toEqual(['test: one']);
  fs.mkdirSync(join(project.root, 'node_modules'));
  // Nothing tells which packages those are.
  expect(await told({})).toEqual(['test: one']);
  expect(await told({})).toEqual(['test: one']);
  fs.writeFileSync(join(project.root, 'node_modules/.package-lock.json'), '{}');
  expect(await told({})).toEqual(['test: one']);
  expect(await told({})).toEqual(['passed before on the same files: 1 of 1 files']);
  // An edit by hand, of which npm has no note.
  fs.mkdirSync(join(project.root, 'node_modules/dep'));
  fs.writeFileSync(join(project.root, 'node_modules/dep/i.js'), '');
  expect(await told({})).toEqual(['test: one']);
});

test.each([
  ['data', 'data/d.json', '{"n":2}'],
  ['the package.json of a folder', 'src/package.json', '{"type":"module","private":true}'],
  ['a file that the command names', 'setup/a.js', 'globalThis.a = 2;'],
  ['what that file imports', 'setup/b.js', 'globalThis.b = 2;'],
  ['a file that settings name', 'setup/c.js', 'globalThis.c = 2;'],
  ['another file that a path may mean', 'src/value.ts', 'export {};'],
])('it runs again with %s', async (_, path, text) => {
  using project = temporaryProject({
    ...FILES,
    'data/d.json': '{"n":1}',
    'package.json': '{"type":"module","scripts":{"t":"node --import ./setup/a.js --test"}}',
    'setup/a.js': "import './b.js';",
    'setup/b.js': 'globalThis.b = 1;',
    'setup/c.js': 'globalThis.c = 1;',
    'src/package.json': '{"type":"module"}',
    '.mocharc.yaml': 'require: setup/c.js',
  });
  const paths = fs
    .readdirSync(project.root, { recursive: true, encoding: 'utf8' })
    .filter((one) => fs.statSync(join(project.root, one)).isFile());
  const testCommand = 'node --run t --';
  const input = { paths, tests: [layer('one', ASKS)], testCommand };
  const first = await proveAgain(project.root, input);
  expect(first).toMatchObject({ ok: true, reused: 0 });
  expect((await proveAgain(project.root, input)).reused).toBe(1);
  const changed = new Map([[path, treeFile(text)]]);
  expect((await proveAgain(project.root, { ...input, changed })).reused).toBe(0);
});

test('a test of the codebase runs again with its snapshot, and all of them where all are asked for', async () => {
  const files = {
    'src/value.js': 'export const value = 1;',
    'src/value.test.js': "import test from 'node:test'; import './value.js'; test('a', () => {});",
    'src/value.test.js.snapshot': 'exports[`a 1`] = 1;',
  };
  using project = temporaryProject({ ...files, 'package.json': FILES['package.json'] });
  const own = {
    tests: ['src/*.test.js'],
    except: [],
    command: 'node --test',
    seconds: 60,
    most: 9,
  };
  const changed = new Map([['src/value.js', treeFile('export const value = 2;')]]);
  const input = { paths: [...Object.keys(files), 'package.json'], own, changed };
  const told = async (rest: Partial<ProofInput>) =>
    (await proveAgain(project.root, { ...input, ...rest })).told;
  expect(await told({})).toEqual(['related tests: src/value.test.js']);
  expect(await told({})).toEqual([]);
  expect(await told({ scope: 'all' })).toEqual(['all tests: src/value.test.js']);
  const snapshot = new Map([...changed, ['src/value.test.js.snapshot', treeFile('')] as const]);
  expect(await told({ changed: snapshot })).toEqual(['related tests: src/value.test.js']);
});

test('with --proof all, the tests of layers run as well, passed before or not', async () => {
  using project = temporaryProject(FILES);
  const input = { tests: [layer('one', ASKS)], scope: 'all' } as const;
  await proveAgain(project.root, input);
  expect(await proveAgain(project.root, input)).toMatchObject({ reused: 0, told: ['test: one'] });
});

test('a test that reads files or starts programs always runs, others beside it need not', async () => {
  using project = temporaryProject(FILES);
  const tests = [layer('one', ASKS), layer('two', READS)];
  await proveAgain(project.root, { tests });
  const again = await proveAgain(project.root, { tests });
  expect(again).toMatchObject({ ok: true, reused: 1 });
  expect(again.told).toEqual(['passed before on the same files: 1 of 2 files', 'test: two']);
});

test('a file that a test has beside it counts, named or not', async () => {
  using project = temporaryProject(FILES);
  const withSnapshot = (text: string) => {
    const one = layer('one', ASKS);
    return [{ ...one, files: new Map([...one.files, ['tests/a.snap', treeFile(text)]]) }];
  };
  await proveAgain(project.root, { tests: withSnapshot('1') });
  expect((await proveAgain(project.root, { tests: withSnapshot('1') })).reused).toBe(1);
  expect((await proveAgain(project.root, { tests: withSnapshot('2') })).reused).toBe(0);
});

test('a remembered pass counts only in the folder where it was learned', async () => {
  using project = temporaryProject(FILES);
  using copy = temporaryProject(FILES);
  const tests = [layer('one', ASKS)];
  await proveAgain(project.root, { tests });
  fs.cpSync(join(project.root, '.claw/cache'), join(copy.root, '.claw/cache'), { recursive: true });
  expect((await proveAgain(copy.root, { tests })).reused).toBe(0);
  expect((await proveAgain(project.root, { tests })).reused).toBe(1);
});

test('files that a check keeps are there for the next one, and no test can change them', async () => {
  using project = temporaryProject(FILES);
  const script = [
    "const fs = require('fs')",
    "const spoilt = fs.existsSync('notes/a') && fs.readFileSync('notes/a', 'utf8') !== 'kept'",
    "fs.mkdirSync('notes', { recursive: true })",
    "fs.writeFileSync('notes/a', 'kept')",
    'process.exit(spoilt ? 1 : 0)',
  ];
  const line = `node -e "${script.join('; ')}"`;
  const spoils = `import test from 'node:test'; import { writeFileSync } from 'node:fs';
    test('spoils', () => { writeFileSync('notes/a', 'spoilt'); });`;
  const input = { checks: [line], keep: ['notes/a'], tests: [layer('one', spoils)] };
  expect((await proveAgain(project.root, input)).ok).toBe(true);
  expect(openMemory(project.root).readKept('notes/a')?.toString()).toBe('kept');
  expect((await proveAgain(project.root, input)).ok).toBe(true);
});

test('a link that a check leaves is not followed', async () => {
  using project = temporaryProject(FILES);
  await proveAgain(project.root, { checks: ['ln -s /etc/passwd note'], keep: ['note'] });
  expect(openMemory(project.root).readKept('note')).toBeNull();
});

test('a test that imports a workspace is remembered until a file changes that it reaches there', async () => {
  const files = {
    'package.json': '{"type":"module","workspaces":["packages/*"]}',
    'packages/own/package.json':
      '{"name":"@scope/own","type":"module","exports":{".":"./index.js","./part":"./part.js"}}',
    'packages/own/index.js': "export * from './inner.js';",
    'packages/own/inner.js': "export const own = 'right';",
    'packages/own/part.js': 'export {};',
    'node_modules/.package-lock.json': '{}',
  };
  using project = temporaryProject(files);
  fs.mkdirSync(join(project.root, 'node_modules/@scope'));
  fs.symlinkSync('../../packages/own', join(project.root, 'node_modules/@scope/own'));
  const asks = `import test from 'node:test'; import assert from 'node:assert';
    import { own } from '@scope/own';
    test('the value is right', () => assert.equal(own, 'right'));`;
  const rest = {
    paths: Object.keys(files).filter((path) => !path.startsWith('node_modules/')),
    nodeModules: join(project.root, 'node_modules'),
    tests: [layer('one', asks)],
  };
  const again = (path: string, text: string) =>
    proveAgain(project.root, { ...rest, changed: new Map([[path, treeFile(text)]]) });
  expect(await proveAgain(project.root, rest)).toMatchObject({ told: ['test: one'] });
  expect(await again('packages/own/part.js', 'export const other = 1;')).toMatchObject({
    ok: true,
    reused: 1,
  });
  const inner = await again('packages/own/inner.js', "export const own = 'wrong';");
  expect(inner).toMatchObject({ ok: false, failures: [{ name: 'one' }] });
});
