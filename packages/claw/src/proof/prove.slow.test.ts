import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ProofInput } from './proof.ts';
import { prove } from './prove.ts';
import { ENVIRONMENT, layer, temporaryProject, treeFile } from './testing/project.ts';

const PASSES = `import test from 'node:test'; test('passes', () => {});`;
const FAILS = `import test from 'node:test'; test('fails', () => { throw new Error('no good'); });`;
/** Passes where \`src/value.js\` says so. */
const ASKS = `import test from 'node:test'; import assert from 'node:assert';
  import { value } from '../../../src/value.js';
  test('the value is right', () => assert.equal(value, 'right'));`;

const FILES = {
  'package.json': '{"type":"module"}',
  'src/value.js': "export const value = 'right';",
};

function input(root: string, rest: Partial<ProofInput>): ProofInput {
  return {
    root,
    paths: Object.keys(FILES),
    changed: new Map(),
    tests: [],
    presentTests: [],
    checks: [],
    testCommand: null,
    nodeModules: null,
    environment: ENVIRONMENT,
    ...rest,
  };
}

const WRONG = new Map([['src/value.js', treeFile("export const value = 'wrong';")]]);

test('the tests of all layers run in one go, and leave no view', async () => {
  using project = temporaryProject(FILES);
  const told: string[] = [];
  const tests = [layer('one', PASSES), layer('two', ASKS)];
  const proof = await prove(
    input(project.root, {
      tests,
      onProgress: ({ kind, text }) => kind !== 'output' && told.push(`${kind} ${text}`),
    }),
  );
  expect(proof).toMatchObject({ ok: true, failures: [] });
  expect(told).toEqual(['started test: one, two', 'ended test: one, two']);
  expect(fs.readdirSync(join(project.root, '.claw/tx'))).toEqual([]);
});

test('if nothing can be run, no view is made', async () => {
  using project = temporaryProject(FILES);
  const proof = await prove(input(project.root, { changed: WRONG }));
  expect(proof).toMatchObject({ ok: true, failures: [], warnings: [] });
  expect(fs.existsSync(join(project.root, '.claw/tx'))).toBe(false);
});

test('a new layer whose test fails is named, with the end of its output', async () => {
  using project = temporaryProject(FILES);
  const tests = [layer('good', PASSES), layer('bad', FAILS)];
  const presentTests = [layer('good', PASSES)];
  const proof = await prove(input(project.root, { tests, presentTests }));
  expect(proof.ok).toBe(false);
  expect(proof.failures).toMatchObject([{ kind: 'test', name: 'bad' }]);
  expect(proof.failures[0]?.output).toContain('no good');
});

test('a change that breaks an older layer is a failure of that layer', async () => {
  using project = temporaryProject(FILES);
  const tests = [layer('old', ASKS)];
  const proof = await prove(input(project.root, { changed: WRONG, tests, presentTests: tests }));
  expect(proof.failures).toMatchObject([{ kind: 'test', name: 'old' }]);
});

test('a layer that fails in the present tree as well is only a warning', async () => {
  using project = temporaryProject({ ...FILES, 'src/value.js': "export const value = 'bad';" });
  const tests = [layer('old', ASKS), layer('new', PASSES)];
  const proof = await prove(input(project.root, { tests, presentTests: [layer('old', ASKS)] }));
  expect(proof.ok).toBe(true);
  // The reason as well: the failing test and the beginning of its error.
  expect(proof.warnings.join()).toMatch(
    /^old fails, as it does without this change:\n✗ skills\/old\/tests\/\S+ > .+\n {4}.*Error/m,
  );
});

test('layers that fail only together are a failure of their own', async () => {
  using project = temporaryProject(FILES);
  const alone = (mine: string, others: string) => `import test from 'node:test';
    import { existsSync, writeFileSync } from 'node:fs';
    test('has the tree for itself', () => {
      writeFileSync('${mine}', '');
      if (existsSync('${others}')) throw new Error('not alone');
    });`;
  const shell = 'rm -f a b; node --test --test-concurrency=1';
  const tests = [layer('one', alone('a', 'b')), layer('two', alone('b', 'a'))];
  const proof = await prove(input(project.root, { tests, testCommand: shell }));
  expect(proof.failures).toMatchObject([{ kind: 'test', name: 'all layers together' }]);
});

test('the tests of eight layers run at a time, and a failure ends the runs', async () => {
  using project = temporaryProject(FILES);
  const told: string[] = [];
  const proveAll = async (texts: readonly string[]) =>
    await prove(
      input(project.root, {
        tests: texts.map((text, at) => layer(`${at + 1}`, text)),
        onProgress: ({ kind, text }) => kind === 'started' && told.push(text),
      }),
    );
  const all = Array.from({ length: 18 }, () => PASSES);
  expect(await proveAll(all)).toMatchObject({ ok: true, failures: [], warnings: [] });
  const [first, second] = ['test: 1, 2, 3, 4, 5, 6, 7, 8', 'test: 9, 10, 11, 12, 13, 14, 15, 16'];
  expect(told.splice(0)).toEqual([first, second, 'test: 17, 18']);
  const broken = await proveAll(all.with(10, FAILS));
  expect(broken.failures).toMatchObject([{ kind: 'test', name: '11' }]);
  expect(told).toEqual([first, second, 'test: 11']);
});

test('a check that fails stops, one that fails already warns', async () => {
  using project = temporaryProject(FILES);
  const check = `node -e "import('./src/value.js').then((m) => process.exit(m.value === 'right' ? 0 : 1))"`;
  const broken = await prove(input(project.root, { checks: [check], changed: WRONG }));
  expect(broken).toMatchObject({ ok: false, failures: [{ kind: 'check', name: check }] });
  fs.writeFileSync(join(project.root, 'src/value.js'), "export const value = 'bad';");
  const known = await prove(input(project.root, { checks: [check], changed: WRONG }));
  expect(known).toMatchObject({ ok: true, failures: [] });
  expect(known.warnings.join()).toContain('as it does without this change');
});

test('a check that fails already stops where it names errors that are new, and those are told', async () => {
  const error = (file: string, code: string) => `${file}(1,1): error ${code}: no good.`;
  const check = `node -e "const text = require('fs').readFileSync('errors', 'utf8'); console.log(text); process.exit(text === '' ? 0 : 1)"`;
  const old = error('src/old.ts', 'TS2304');
  using project = temporaryProject({ ...FILES, errors: old });
  const changeTo = async (text: string) =>
    await prove(
      input(project.root, {
        paths: [...Object.keys(FILES), 'errors'],
        checks: [check],
        changed: new Map([['errors', treeFile(text)]]),
      }),
    );
  const added = error('src/new.ts', 'TS2304');
  const broken = await changeTo(`${old}\n${added}`);
  expect(broken).toMatchObject({ ok: false, failures: [{ kind: 'check', text: added }] });
  const known = await changeTo(old.replace('(1,1)', '(2,1)'));
  expect(known).toMatchObject({ ok: true, failures: [] });
  expect(known.warnings.join()).toContain('as it does without this change');
});

test('checks and tests that run at the same time see nothing of each other', async () => {
  using project = temporaryProject(FILES);
  const sees = `import test from 'node:test'; import { existsSync } from 'node:fs';
    test('is built', () => { if (!existsSync('built')) throw new Error('not built'); });`;
  const built = input(project.root, { checks: ['touch built'], tests: [layer('sees', sees)] });
  expect(await prove(built)).toMatchObject({ ok: true });
  const apart = await prove({ ...built, isParallel: true });
  expect(apart.failures).toMatchObject([{ kind: 'test', name: 'sees' }]);
  expect(fs.readdirSync(join(project.root, '.claw/tx'))).toEqual([]);
});

test('a prepared node_modules serves the planned tree, the project’s own the present one', async () => {
  using project = temporaryProject({
    ...FILES,
    'node_modules/dep/index.js': "throw new Error('old');",
    '.claw/tx/view-1-x/node_modules/dep/index.js': 'export default 1;',
  });
  const tests = [layer('uses-dep', `import 'dep';`)];
  for (const name of ['node_modules', '.claw/tx/view-1-x/node_modules']) {
    const manifest = '{"name":"dep","type":"module","exports":"./index.js"}';
    fs.writeFileSync(join(project.root, name, 'dep/package.json'), manifest);
  }
  const nodeModules = join(project.root, '.claw/tx/view-1-x/node_modules');
  expect(await prove(input(project.root, { tests, nodeModules }))).toMatchObject({ ok: true });
  expect(await prove(input(project.root, { tests }))).toMatchObject({ ok: false });
});

test('no view outlives a failure to lay one out', async () => {
  using project = temporaryProject({ ...FILES, 'a/b.js': 'x' });
  const changed = new Map([
    ['c', treeFile('a file')],
    ['c/d.js', treeFile('below a file')],
  ]);
  await expect(prove(input(project.root, { changed, checks: ['true'] }))).rejects.toThrow();
  expect(fs.readdirSync(join(project.root, '.claw/tx'))).toEqual([]);
});
