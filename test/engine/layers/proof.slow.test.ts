import { expect, test } from 'vitest';
import { addSkill, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const passing = "import test from 'node:test';\ntest('passes', () => {});\n";
const failing =
  "import test from 'node:test';\ntest('fails', () => { throw new Error('broken'); });\n";

test('a skill whose tests fail is not published, and says which', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  addSkill(codebase, 'good', { add: { 'g.txt': 'g\n' }, tests: { 'good.test.mjs': passing } });
  addSkill(codebase, 'bad', { add: { 'b.txt': 'b\n' }, tests: { 'bad.test.mjs': failing } });
  expect((await codebase.claw('apply', 'good')).code).toBe(0);
  const before = [codebase.tree(), codebase.state()];
  const run = await codebase.claw('apply', 'bad');
  expect(run).toMatchObject({
    code: 4,
    json: { ok: false, outcome: 'failed', error: { code: 'TESTS_FAILED' } },
  });
  const message = run.json.error?.message ?? '';
  expect(message.split('\n').slice(0, 3)).toEqual([
    'The tests of bad, run by "node --test", failed on the new tree, so nothing was changed.',
    '✗ skills/bad/tests/bad.test.mjs > fails',
    '    Error: broken',
  ]);
  expect(message).not.toContain('\u001b');
  const log = /^All of it: (.+)$/m.exec(message)?.[1] ?? '';
  expect(codebase.read(log)).toContain('✖ failing tests:');
  expect([codebase.tree(), codebase.state()]).toEqual(before);
});

test('tests see the planned tree at ../../.., and the tests of every layer run', async () => {
  const reads = (path: string, text: string) =>
    `import test from 'node:test';\nimport assert from 'node:assert';\nimport { readFileSync } from 'node:fs';\n` +
    `test('sees', () => assert.equal(readFileSync(new URL('../../../${path}', import.meta.url), 'utf8'), '${text}\\n'));\n`;
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  addSkill(codebase, 'one', {
    modify: { 'a.txt': ['a\n', 'one\n'] },
    tests: { 'one.test.mjs': reads('a.txt', 'one') },
  });
  expect((await codebase.claw('apply', 'one')).code).toBe(0);
  addSkill(codebase, 'two', {
    modify: { 'a.txt': ['one\n', 'two\n'] },
    manifest: { depends: ['one'] },
  });
  const run = await codebase.claw('apply', 'two');
  expect(run).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  expect(codebase.read('a.txt')).toBe('one\n');
});

test('a check that fails stops a command, unless it failed before', async () => {
  const files = { 'a.txt': 'fine\n', 'claw.config.yaml': "check: ['grep -q fine a.txt']\n" };
  await using codebase = temporaryCodebase(files, { git: true });
  addSkill(codebase, 'breaks', { modify: { 'a.txt': ['fine\n', 'broken\n'] } });
  addSkill(codebase, 'adds', { add: { 'b.txt': 'b\n' } });
  const broken = await codebase.claw('apply', 'breaks');
  expect(broken).toMatchObject({ code: 4, json: { error: { code: 'CHECKS_FAILED' } } });
  codebase.write({ 'a.txt': 'red already\n' });
  const run = await codebase.claw('apply', 'adds');
  expect(run.code).toBe(0);
  expect(run.json.warnings.join()).toContain('grep');
});

test('a layer that the tree already shows is proved as any other', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  codebase.write({ 'a.txt': 'a\nb\n' });
  expect((await codebase.claw('pack', 'mine')).code).toBe(0);
  codebase.write({ 'skills/mine/tests/mine.test.mjs': failing });
  const before = [codebase.tree(), codebase.state()];
  const refused = await codebase.claw('apply', 'mine');
  expect(refused).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  expect([codebase.tree(), codebase.state()]).toEqual(before);
  codebase.write({ 'skills/mine/tests/mine.test.mjs': passing });
  const applied = await codebase.claw('apply', 'mine');
  expect(applied).toMatchObject({ code: 0, json: { data: { proof: { tests: 1 } } } });
});

test('what an upgrade adds to its tests has to pass, also where the old ones fail', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'fine\n' }, { git: true });
  const fine = `import test from 'node:test';\nimport { readFileSync } from 'node:fs';\n
    test('fine', () => { if (readFileSync('a.txt', 'utf8') !== 'fine\\n') throw new Error('not fine'); });\n`;
  addSkill(codebase, 'one', { add: { 'b.txt': 'b\n' }, tests: { 'old.test.mjs': fine } });
  expect((await codebase.claw('apply', 'one')).code).toBe(0);
  codebase.write({ 'a.txt': 'edited\n' });
  const next = (added: string) =>
    addSkill(codebase, 'one', {
      version: '1.1.0',
      add: { 'b.txt': 'c\n' },
      tests: { 'old.test.mjs': fine, 'new.test.mjs': added },
    });
  next(failing);
  const refused = await codebase.claw('upgrade', 'one');
  expect(refused).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  expect(refused.json.error?.message).toContain('broken');
  next(passing);
  const upgraded = await codebase.claw('upgrade', 'one');
  expect(upgraded.code).toBe(0);
  expect(upgraded.json.warnings.join()).toMatch(/one fails, as it does without this change:\n✗ /);
});

test('a test that passed runs again where a skill changes only what the test command loads', async () => {
  const setup = 'globalThis.LIMIT = 5;\n';
  const command = 'node --import ./test/setup.mjs --test';
  const files = { 'claw.config.yaml': `test: ${command}\n`, 'test/setup.mjs': setup };
  await using codebase = temporaryCodebase(files, { git: true });
  addSkill(codebase, 's', {
    add: { 's.mjs': 'export const s = () => globalThis.LIMIT;\n' },
    tests: {
      's.test.mjs': `import test from 'node:test';\nimport { s } from '../../../s.mjs';
test('five', () => { if (s() !== 5) throw new Error('broken'); });\n`,
    },
  });
  expect((await codebase.claw('apply', 's')).code).toBe(0);
  addSkill(codebase, 't', { modify: { 'test/setup.mjs': [setup, 'globalThis.LIMIT = 6;\n'] } });
  const run = await codebase.claw('apply', 't');
  expect(run).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  expect(codebase.read('test/setup.mjs')).toBe(setup);
});
