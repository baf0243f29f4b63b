import { expect, test } from 'vitest';
import { addSkill, commitAll, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const TEST = "import test from 'node:test';\ntest('true', () => {});\n";

test('rebase makes one customisation of skills, customisations and edits; what is lost is said', async () => {
  await using codebase = temporaryCodebase(
    {
      'package.json': '{\n  "name": "demo",\n  "version": "1.0.0"\n}\n',
      'src/a.ts': LINES,
      'src/b.ts': LINES,
      'src/gone.txt': 'gone\n',
      'src/data.bin': Buffer.from([0, 1, 2]),
    },
    { git: true },
  );
  addSkill(codebase, 'alpha', {
    add: { 'src/alpha.ts': 'alpha\n', 'run.sh': { text: 'true\n', mode: 0o755 } },
    modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] },
    tests: { 'alpha.test.ts': TEST },
  });
  await codebase.claw('apply', 'alpha');
  codebase.write({ 'src/data.bin': Buffer.from([0, 9]) });
  codebase.remove('src/gone.txt');
  await codebase.claw('customize', 'recorded');
  codebase.write({ 'src/b.ts': LINES.replace('nine', 'mine') });
  const before = codebase.tree();

  const planned = await codebase.claw('plan', 'rebase');
  expect(planned.json.data).toMatchObject({
    losses: [
      expect.stringContaining('alpha can no longer be removed'),
      expect.stringContaining('tests of alpha'),
    ],
  });
  expect((await codebase.claw('rebase', '--yes')).code).toBe(0);
  expect(codebase.tree()).toEqual(before);
  expect((await codebase.claw('list')).json.data).toMatchObject([{ name: 'custom-rebased' }]);
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });

  // Undone, everything is apart again; removed, every byte of the core is back.
  expect((await codebase.claw('undo')).code).toBe(0);
  expect((await codebase.claw('list')).json.data).toMatchObject([
    { name: 'alpha' },
    { name: 'custom-recorded' },
  ]);
  await codebase.claw('rebase', '--yes');
  expect((await codebase.claw('remove', 'custom-rebased')).code).toBe(0);
  commitAll(codebase, 'everything');
  expect(codebase.git('diff', '--stat', 'v1.0.0', '--', 'src', 'package.json', 'run.sh')).toBe('');
});

test('a file that a skill moved and the owner edited since is rebased where it is', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  addSkill(codebase, 'mover', {
    base: { 'src/a.ts': LINES },
    manifest: { file_ops: [{ type: 'move', from: 'src/a.ts', to: 'lib/a.ts' }] },
  });
  await codebase.claw('apply', 'mover');
  codebase.write({ 'lib/a.ts': LINES.replace('nine', 'mine') });
  const before = codebase.tree();
  expect((await codebase.claw('rebase', '--yes')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.tree()).toEqual(before);
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
  expect((await codebase.claw('remove', 'custom-rebased')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(LINES);
  expect(codebase.has('lib')).toBe(false);
});

test('rebased work goes through an update, and a second rebase has nothing to do', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  addSkill(codebase, 'alpha', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] } });
  await codebase.claw('apply', 'alpha');
  await codebase.claw('rebase', '--yes');
  expect((await codebase.claw('rebase', '--yes')).json.outcome).toBe('nothing');
  await using release = temporaryCodebase({ 'src/a.ts': LINES.replace('nine', 'NINE') });
  expect((await codebase.claw('update', release.root)).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(LINES.replace('one', 'ONE').replace('nine', 'NINE'));
});

test('with nothing but the core there is nothing to rebase', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  await codebase.claw('init');
  expect(await codebase.claw('rebase', '--yes')).toMatchObject({
    code: 0,
    json: { outcome: 'nothing', warnings: [] },
  });
});
