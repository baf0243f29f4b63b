import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const PACKAGE =
  '{\n  "name": "demo",\n  "version": "1.0.0",\n  "scripts": {\n    "a": "true"\n  }\n}\n';
const CORE = {
  'package.json': PACKAGE,
  '.env.example': 'HOST=localhost\n',
  'src/a.ts': LINES,
  'src/b.ts': LINES,
  'src/gone.txt': 'gone\n',
  'src/data.bin': Buffer.from([0, 1, 2]),
};

function editEverything(codebase: Codebase): void {
  codebase.write({
    'src/a.ts': LINES.replace('nine', 'mine'),
    'src/new.ts': 'export const mine = 1;\n',
    'src/data.bin': Buffer.from([0, 1, 3]),
    'src/b.ts': { text: LINES, mode: 0o755 },
    'package.json': PACKAGE.replace('"a": "true"', '"a": "true",\n    "b": "false"'),
    '.env.example': 'HOST=localhost\nMINE=1\n',
  });
  codebase.remove('src/gone.txt');
}

async function clone(codebase: Codebase): Promise<Codebase> {
  const target = temporaryCodebase({});
  codebase.git('clone', '--quiet', codebase.root, target.path('clone'));
  const cloned = openCodebase(target.path('clone'));
  return { ...cloned, [Symbol.asyncDispose]: () => target[Symbol.asyncDispose]() };
}

/** Takes a clone back to the bare core, with `.claw/` as it is. */
function bare(codebase: Codebase): void {
  codebase.git('rm', '--quiet', '-r', '--cached', 'src');
  for (const path of ['src', 'package.json', '.env.example']) codebase.remove(path);
  codebase.git('checkout', '--quiet', 'v1.0.0', '--', 'src', 'package.json', '.env.example');
}

test('edits made before the first skill are recorded and replayed: all kinds, committed or not', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  codebase.write({ 'src/a.ts': LINES.replace('nine', 'mine') });
  commitAll(codebase, 'work of the owner');
  editEverything(codebase);
  const before = codebase.tree();
  const run = await codebase.claw('customize', 'a warmer greeting');
  expect(run).toMatchObject({
    code: 0,
    json: { outcome: 'done', data: { customisation: { name: 'custom-a-warmer-greeting' } } },
  });
  expect(codebase.tree()).toEqual(before);
  expect((await codebase.claw('status')).json.data).toMatchObject({ edits: [] });
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
  expect(codebase.read('.claw/custom/custom-a-warmer-greeting/manifest.yaml')).toContain(
    'description: a warmer greeting',
  );
  commitAll(codebase, 'recorded');
  await using other = await clone(codebase);
  bare(other);
  expect(other.read('src/a.ts')).toBe(LINES);
  expect((await other.claw('replay')).code).toBe(0);
  expect(other.tree()).toEqual(before);
});

test('edits made after a skill lie on it, and on what another skill brings later', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  addSkill(codebase, 'alpha', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] } });
  addSkill(codebase, 'beta', { modify: { 'src/a.ts': [LINES, LINES.replace('five', 'FIVE')] } });
  await codebase.claw('apply', 'alpha');
  codebase.write({ 'src/a.ts': LINES.replace('one', 'ONE').replace('nine', 'mine') });
  expect((await codebase.claw('customize', 'nine is mine')).code).toBe(0);
  expect((await codebase.claw('apply', 'beta')).code).toBe(0);
  const all = LINES.replace('one', 'ONE').replace('five', 'FIVE').replace('nine', 'mine');
  expect(codebase.read('src/a.ts')).toBe(all);
  expect((await codebase.claw('remove', 'alpha')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(all.replace('ONE', 'one'));
  const names = (await codebase.claw('list')).json.data as { name: string }[];
  expect(names.map(({ name }) => name)).toEqual(['beta', 'custom-nine-is-mine']);
});

test('customisations come last and in the order they were made; each is removed alone', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  codebase.write({ 'src/a.ts': LINES.replace('one', 'first') });
  await codebase.claw('customize', 'zebra');
  codebase.write({ 'src/a.ts': LINES.replace('one', 'first\nsecond') });
  await codebase.claw('customize', 'aardvark');
  addSkill(codebase, 'zz', { add: { 'src/zz.ts': 'zz\n' } });
  await codebase.claw('apply', 'zz');
  const names = (await codebase.claw('list')).json.data as { name: string }[];
  expect(names.map(({ name }) => name)).toEqual(['zz', 'custom-zebra', 'custom-aardvark']);
  expect((await codebase.claw('remove', 'custom-aardvark')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(LINES.replace('one', 'first'));
  expect((await codebase.claw('remove', 'custom-zebra', 'zz')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(LINES);
});

test('two customisations of one description have two names', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  for (const line of ['one', 'five']) {
    codebase.write({ 'src/a.ts': codebase.read('src/a.ts').replace(line, line.toUpperCase()) });
    await codebase.claw('customize', 'Mine! (ä)');
  }
  const names = (await codebase.claw('list')).json.data as { name: string }[];
  expect(names.map(({ name }) => name)).toEqual(['custom-mine-a', 'custom-mine-a-2']);
});

test('without edits nothing is recorded, and without a description nothing is done', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  await codebase.claw('init');
  const state = codebase.state();
  expect(await codebase.claw('customize', 'nothing')).toMatchObject({
    code: 0,
    json: { outcome: 'nothing' },
  });
  expect(codebase.state()).toEqual(state);
  expect(await codebase.claw('customize', ' ')).toMatchObject({ code: 2 });
});

test('deleting a file that a skill modifies is a conflict, not a resurrection', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  addSkill(codebase, 'alpha', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] } });
  codebase.remove('src/a.ts');
  const unrecorded = await codebase.claw('apply', 'alpha');
  expect(unrecorded).toMatchObject({
    code: 3,
    json: { conflicts: [{ path: 'src/a.ts', kind: 'modify-delete' }] },
  });
  await codebase.claw('abort');
  expect((await codebase.claw('customize', 'no a')).code).toBe(0);
  const recorded = await codebase.claw('apply', 'alpha');
  expect(recorded).toMatchObject({
    code: 3,
    json: {
      conflicts: [{ path: 'src/a.ts', kind: 'modify-delete', layers: ['alpha', 'custom-no-a'] }],
    },
  });
  expect(codebase.has('src/a.ts')).toBe(false);
});

test('an edit of a file that a skill moved finds the file again when the skill is gone', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  addSkill(codebase, 'mover', {
    base: { 'src/a.ts': LINES },
    manifest: { file_ops: [{ type: 'rename', from: 'src/a.ts', to: 'lib/a.ts' }] },
  });
  await codebase.claw('apply', 'mover');
  codebase.write({ 'lib/a.ts': LINES.replace('five', 'mine') });
  expect((await codebase.claw('customize', 'five')).code).toBe(0);
  expect((await codebase.claw('remove', 'mover')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(LINES.replace('five', 'mine'));
  expect((await codebase.claw('apply', 'mover')).code).toBe(0);
  expect(codebase.read('lib/a.ts')).toBe(LINES.replace('five', 'mine'));
});

test('an edit of a file that a skill added is a conflict when the skill goes, with two ways out', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  addSkill(codebase, 'alpha', { add: { 'src/alpha.ts': LINES } });
  await codebase.claw('apply', 'alpha');
  codebase.write({ 'src/alpha.ts': LINES.replace('five', 'mine') });
  await codebase.claw('customize', 'five');
  expect((await codebase.claw('remove', 'alpha')).code).toBe(3);
  expect((await codebase.claw('resolve', 'src/alpha.ts', '--take', 'mine')).code).toBe(0);
  expect(await codebase.claw('continue')).toMatchObject({ code: 0, json: { outcome: 'done' } });
  expect(codebase.read('src/alpha.ts')).toBe(LINES.replace('five', 'mine'));
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
  // It is the customisation's own file now, and goes with it.
  expect((await codebase.claw('remove', 'custom-five')).code).toBe(0);
  expect(codebase.has('src/alpha.ts')).toBe(false);
});

test('a conflict with a customisation re-anchors it: it merges cleanly from then on', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  addSkill(codebase, 'alpha', { modify: { 'src/a.ts': [LINES, LINES.replace('five', 'FIVE')] } });
  codebase.write({ 'src/a.ts': LINES.replace('five', 'mine') });
  await codebase.claw('customize', 'five');
  expect((await codebase.claw('apply', 'alpha')).code).toBe(3);
  codebase.write({ 'answer.txt': LINES.replace('five', 'FIVE_and_mine') });
  await codebase.claw('resolve', 'src/a.ts', '--with', 'answer.txt');
  codebase.remove('answer.txt');
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(LINES.replace('five', 'FIVE_and_mine'));
  expect(codebase.has('.claw/resolutions')).toBe(false);
  addSkill(codebase, 'beta', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] } });
  expect((await codebase.claw('apply', 'beta')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(
    LINES.replace('five', 'FIVE_and_mine').replace('one', 'ONE'),
  );
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
});

test('an undone customize leaves the edits, unrecorded', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  editEverything(codebase);
  const before = codebase.tree();
  await codebase.claw('customize', 'mine');
  expect((await codebase.claw('undo')).code).toBe(0);
  expect(codebase.tree()).toEqual(before);
  expect(codebase.has('.claw/state.yaml')).toBe(false);
});

test('what the owner had already just as the skill makes it is said to be the skill’s now', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  addSkill(codebase, 'alpha', { add: { 'src/new.txt': 'the same\n' } });
  codebase.write({ 'src/new.txt': 'the same\n' });
  const run = await codebase.claw('apply', 'alpha');
  expect(run).toMatchObject({ code: 0, json: { changes: [] } });
  expect(run.json.warnings.join('\n')).toMatch(/src\/new\.txt.*claw undo, claw customize/s);
  // As it says: recorded first, it stays when the skill goes.
  expect((await codebase.claw('undo')).code).toBe(0);
  await codebase.claw('customize', 'new');
  expect((await codebase.claw('apply', 'alpha')).json.warnings).toEqual([]);
  expect((await codebase.claw('remove', 'alpha')).code).toBe(0);
  expect(codebase.read('src/new.txt')).toBe('the same\n');
});
