import { expect, test } from 'vitest';
import { runClaw } from '../../../src/testing/claw/claw.ts';
import {
  addSkill,
  type Codebase,
  commitAll,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const CONFIG = (rest = '') =>
  `related:\n  tests: ['{src,test}/**/*.test.mjs']\n  except: ['test/apart/**']\n${rest}`;
const checks = (what: string, value: string) =>
  `import test from 'node:test';\nimport assert from 'node:assert';\nimport { value } from '${what}';\n` +
  `test('the value', () => assert.equal(value, '${value}'));\n`;
const VALUE = "// A value.\n\n\n\nexport const value = 'one';\n";
const FILES = {
  'src/value.mjs': VALUE,
  'src/value.test.mjs': checks('./value.mjs', 'one'),
  'src/user.mjs': "export { value } from './value.mjs';\n",
  'test/user.test.mjs': checks('../src/user.mjs', 'one'),
  'test/unrelated.test.mjs': "import test from 'node:test';\ntest('is well', () => {});\n",
  'test/apart/git.test.mjs': checks('../../src/value.mjs', 'needs git'),
};

/** A codebase with tests of its own, and a skill that changes a file that they are about. */
function codebaseWith(config: string, files: Record<string, string> = {}): Codebase {
  const all = { ...FILES, 'claw.config.yaml': config, ...files };
  const codebase = temporaryCodebase(all, { git: true });
  addSkill(codebase, 'two', { modify: { 'src/value.mjs': [VALUE, VALUE.replace('one', 'two')] } });
  addSkill(codebase, 'note', {
    modify: { 'src/value.mjs': [VALUE, VALUE.replace('A value.', 'A value, with a note.')] },
    add: { 'src/note.mjs': 'export {};\n' },
  });
  return codebase;
}

test('a skill that breaks tests of the code itself is not published, and they are named', async () => {
  await using codebase = codebaseWith(CONFIG());
  const before = [codebase.tree(), codebase.state()];
  const refused = await codebase.claw('apply', 'two');
  expect(refused).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  const message = refused.json.error?.message ?? '';
  expect(message).toContain(
    'Tests of the code itself (src/value.test.mjs, test/user.test.mjs) failed',
  );
  expect(message).toContain('✗ src/value.test.mjs > the value');
  expect(message).toContain('✗ test/user.test.mjs > the value');
  expect(message).not.toContain('git.test.mjs');
  expect([codebase.tree(), codebase.state()]).toEqual(before);

  const fine = await codebase.claw('apply', 'note');
  expect(fine).toMatchObject({ code: 0, json: { data: { proof: { own: 2 } }, warnings: [] } });
  expect(fine.stderr).toContain('related tests: src/value.test.mjs, test/user.test.mjs');
});

test('with --proof skills they do not run', async () => {
  await using codebase = codebaseWith(CONFIG());
  const run = await codebase.claw('apply', 'two', '--proof', 'skills');
  expect(run).toMatchObject({ code: 0, json: { data: { proof: { own: 0 } } } });
});

test('what fails without the change as well is a warning, what it breaks beside that is not', async () => {
  await using codebase = codebaseWith(CONFIG(), {
    'src/value.test.mjs': checks('./value.mjs', 'never'),
  });
  const run = await codebase.claw('apply', 'note');
  expect(run.code).toBe(0);
  const [warning = '', ...more] = run.json.warnings;
  expect(warning).toMatch(
    /^src\/value\.test\.mjs fails, as it does without this change:\n✗ .*value\.test\.mjs/,
  );
  expect(warning).toContain('AssertionError');
  expect(warning).toContain('\nAll of it: .claw/cache/proof/src-value-test-mjs.log');
  expect(codebase.read('.claw/cache/proof/src-value-test-mjs.log')).toContain('never');
  expect(more).toEqual([]);
  const refused = await codebase.claw('apply', 'two');
  expect(refused).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  expect(refused.json.error?.message).toContain('test/user.test.mjs');
});

test('a test that fails only now and then is a warning', async () => {
  const once =
    "import test from 'node:test';\nimport { existsSync, writeFileSync } from 'node:fs';\nimport './value.mjs';\n" +
    "test('now and then', () => { if (existsSync('ran')) return; writeFileSync('ran', ''); throw new Error('once'); });\n";
  await using codebase = codebaseWith(CONFIG(), { 'src/value.test.mjs': once });
  const run = await codebase.claw('apply', 'note');
  expect(run.code).toBe(0);
  expect(run.json.warnings).toEqual(['src/value.test.mjs failed once, and passed when run again.']);
});

test('at most so many run, nearest first, and the rest is said', async () => {
  await using codebase = codebaseWith(CONFIG('  most: 1\n'));
  const run = await codebase.claw('apply', 'note');
  expect(run.stderr).toContain('related tests: src/value.test.mjs\n');
  const note =
    '1 of 2 related test files ran within 1 files, nearest first; --proof all runs every test';
  expect(run).toMatchObject({ code: 0, json: { data: { proof: { own: 1, note } } } });
  expect(run.stderr).toContain(note);
});

test('what does not end in time proves nothing, and that is said', async () => {
  const endless = `${FILES['src/value.test.mjs']}setInterval(() => {}, 1000);\n`;
  await using codebase = codebaseWith(CONFIG('  seconds: 1\n'), { 'src/value.test.mjs': endless });
  const run = await codebase.claw('apply', 'note');
  expect(run).toMatchObject({ code: 0, json: { data: { proof: { own: 0 } } } });
  expect(run.stderr).toContain('0 of 2 related test files ran within 1 s');
  expect((await codebase.claw('undo')).code).toBe(0);
  const told = await runClaw(['apply', 'note', '--cwd', codebase.root]);
  expect(told.stdout).toContain('proof: 0 of 2 related test files ran within 1 s');
});

test('where the time is over before any has run, the nearest runs alone with more of it', async () => {
  // Together with another it takes longer than the time there is, as everything does on a slow machine.
  const slow = `${FILES['src/value.test.mjs']}if (process.env.TURN !== 'alone') setInterval(() => {}, 1000);\n`;
  const tool =
    'if [ $# -gt 1 ]; then exec node --test "$@"; else TURN=alone exec node --test "$@"; fi\n';
  const config = CONFIG('  seconds: 8\n  command: sh tool.sh\n');
  await using codebase = codebaseWith(config, { 'src/value.test.mjs': slow, 'tool.sh': tool });
  const refused = await codebase.claw('apply', 'two');
  expect(refused).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  expect(refused.stderr).toContain('related tests: src/value.test.mjs alone');
});

test('what failed before the time was over counts, though the run did not end', async () => {
  const tool = [
    '[ $# = 1 ] && exec node --test "$1"',
    "echo ' ❯ test/user.test.mjs (1 test | 1 failed) 3ms'",
    'exec sleep 600',
  ].join('\n');
  const config = CONFIG('  seconds: 2\n  command: sh tool.sh\n');
  const files = { 'src/value.test.mjs': "import './value.mjs';\n", 'tool.sh': tool };
  await using codebase = codebaseWith(config, files);
  const refused = await codebase.claw('apply', 'two');
  expect(refused).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  expect(refused.json.error?.message).toContain('✗ test/user.test.mjs > the value');
  expect(refused.json.error?.message).not.toContain('src/value.test.mjs');
});

test('a test that the change makes hang is a failure, and one that hangs without it as well is not', async () => {
  const hangs = (when: string) =>
    `import test from 'node:test';\nimport { value } from './value.mjs';\n` +
    `test('ends', () => {});\nif (${when}) setInterval(() => {}, 1000);\n`;
  const config = CONFIG('  seconds: 2\n');
  const own = { 'src/value.test.mjs': hangs("value === 'two'"), 'src/user.test.mjs': '' };
  await using codebase = codebaseWith(config, own);
  const refused = await codebase.claw('apply', 'two');
  expect(refused).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  expect(refused.json.error?.message).toContain('src/value.test.mjs');
  expect(refused.json.error?.message).toContain('It printed nothing and did nothing for 6 s');
  codebase.write({ 'src/value.test.mjs': hangs('value') });
  commitAll(codebase, 'hangs always');
  expect((await codebase.claw('apply', 'two')).code).toBe(0);
});

test('--proof all runs every test that can, whatever it concerns', async () => {
  const hidden =
    "import test from 'node:test';\nimport assert from 'node:assert';\nimport { readFileSync } from 'node:fs';\n" +
    "test('no note', () => assert(!readFileSync(['src', 'value.mjs'].join('/'), 'utf8').includes('note')));\n";
  await using codebase = codebaseWith(CONFIG(), { 'test/unrelated.test.mjs': hidden });
  const refused = await codebase.claw('apply', 'note', '--proof', 'all');
  expect(refused).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  expect(refused.json.error?.message).toContain('✗ test/unrelated.test.mjs > no note');
  expect((await codebase.claw('apply', 'note')).code).toBe(0);
});

test('a command with {changed} gets the changed files and finds the tests by itself', async () => {
  const config = "related:\n  tests: ['**']\n  command: sh tool.sh {changed} end\n";
  const tool = 'for file in "$@"; do echo "handed $file"; done\n! grep -q two src/value.mjs\n';
  await using codebase = codebaseWith(config, { 'tool.sh': tool });
  const refused = await codebase.claw('apply', 'two');
  expect(refused).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  expect(refused.json.error?.message).toContain('handed src/value.mjs\nhanded end');
  expect((await codebase.claw('apply', 'note')).code).toBe(0);
});

test('the matrix runs them too, and shows which fail', async () => {
  await using codebase = codebaseWith(CONFIG());
  const run = await codebase.claw('matrix', 'two', 'note');
  expect(run).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  const { cells } = run.json.data as { cells: { skills: string[]; failures: object[] }[] };
  const [failing] = cells.filter(({ failures }) => failures.length > 0);
  expect(failing).toMatchObject({
    skills: ['two'],
    failures: [
      { kind: 'own', text: expect.stringMatching(/^✗ src\/value\.test\.mjs > the value\n/) },
    ],
  });
});

test('a wrong word in the configuration is refused with its place', async () => {
  await using codebase = codebaseWith('related:\n  tests: [a]\n  minutes: 3\n');
  const run = await codebase.claw('apply', 'note');
  expect(run).toMatchObject({ code: 1, json: { error: { code: 'CONFIG_INVALID' } } });
  codebase.write({ 'claw.config.yaml': "keep: ['../outside']\n" });
  const outside = await codebase.claw('apply', 'note');
  expect(outside).toMatchObject({ code: 1, json: { error: { code: 'CONFIG_INVALID' } } });
});

test('at each save the tests of the skill run, and those of the code where they are asked for', async () => {
  const test = "import './note.mjs';\nimport test from 'node:test';\ntest('is there', () => {});\n";
  await using codebase = codebaseWith(CONFIG(), { 'src/note.test.mjs': test });
  expect((await codebase.claw('apply', 'note')).code).toBe(0);
  const save = async (value: number, ...options: readonly string[]) => {
    codebase.write({ 'src/note.mjs': `export const value = ${value};\n` });
    return await runClaw(['dev', 'note', '--once', ...options, '--cwd', codebase.root]);
  };
  const saved = await save(1);
  expect(saved).toMatchObject({ code: 0, stdout: expect.stringContaining('Done: dev') });
  expect(saved.stderr).not.toContain('related tests');
  const asked = await save(2, '--proof', 'related');
  expect(asked.stderr).toContain('related tests: src/note.test.mjs');
});
