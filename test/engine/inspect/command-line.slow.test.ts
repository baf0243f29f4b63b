import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addSkill, CLAW, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

function claw(args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  const run = spawnSync(process.execPath, [CLAW, ...args], {
    encoding: 'utf8',
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
  });
  return { code: run.status, stdout: run.stdout, stderr: run.stderr };
}

test('wrong use exits 2, and with --json still prints one object that names the verb', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' });
  const wrong: readonly (readonly [verb: string, ...args: string[]])[] = [
    [''],
    ['frob', 'frob'],
    ['apply', 'apply'],
    ['status', 'status', '--bogus'],
    ['status', 'status', '--cwd', codebase.path('missing')],
    ['status', 'status', '--cwd', codebase.path('a.txt')],
    ['recover', 'recover', '--keep-mine', '--roll-back'],
    ['plan', 'plan', 'frob'],
    ['plan', 'plan', 'apply'],
    ['plan', 'plan', 'replay', 'demo'],
  ];
  for (const [verb, ...args] of wrong) {
    const run = claw(['--json', ...args], { cwd: codebase.root });
    expect(run.code, args.join(' ')).toBe(2);
    expect(JSON.parse(run.stdout), args.join(' ')).toMatchObject({
      ok: false,
      verb,
      outcome: 'refused',
      error: { code: 'USAGE' },
    });
  }
  const bare = claw([], { cwd: codebase.root });
  expect(bare).toMatchObject({ code: 2, stdout: '' });
  expect(bare.stderr).toContain('Usage: claw <verb>');
  expect(codebase.has('.claw')).toBe(false);
});

test('started by npx, it names commands as they can be typed there; code and JSON are as ever', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'run claw undo\n' }, { git: true });
  const run = (startedBy: string, ...args: string[]) =>
    claw(args, { cwd: codebase.root, env: { npm_lifecycle_event: startedBy } });
  const unknown = ['resolutions', 'forget', 'nobody'];
  expect(run('start', ...unknown).stderr).toContain('nobody: claw resolutions lists');
  expect(run('npx', ...unknown).stderr).toContain('nobody: npx claw resolutions lists');
  const { error } = JSON.parse(run('npx', ...unknown, '--json').stdout);
  expect(error.message).toContain('nobody: claw resolutions lists');
  expect(run('npx', 'frob').stderr).toContain('(npx claw --help lists the verbs)');
  expect(run('npx', 'status').stdout).toContain('`npx claw apply <skill>`');
  expect((await codebase.claw('init')).json.ok).toBe(true);
  codebase.write({ 'a.txt': 'run claw update\n' });
  expect(run('npx', 'diff').stdout).toMatch(/^-run claw undo\n\+run claw update$/m);
});

test('help and version are no mistakes', () => {
  expect(claw(['--help'])).toMatchObject({ code: 0, stderr: '' });
  expect(claw(['apply', '--help']).stdout).toContain('--cwd');
  expect(claw(['--version'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+/),
  });
  expect(JSON.parse(claw(['--help', '--json']).stdout)).toMatchObject({ ok: true, verb: 'help' });
});

test('a subfolder works on its project, and a project on itself whatever lies around it', async () => {
  await using outer = temporaryCodebase({ 'a.txt': 'a\n', 'sub/deep/b.txt': 'b\n' }, { git: true });
  addSkill(outer, 'demo', { add: { 'new.txt': 'new\n' } });
  expect(claw(['apply', 'demo', '--json'], { cwd: outer.path('sub/deep') }).code).toBe(0);
  expect(outer.has('new.txt')).toBe(true);
  mkdirSync(outer.path('inner'));
  execFileSync('git', ['init', '--quiet'], { cwd: outer.path('inner') });
  const inner = claw(['status', '--json'], { cwd: outer.path('inner') });
  expect(JSON.parse(inner.stdout).data.initialised).toBe(false);
});

test('inside a git hook the project’s own repository counts', async () => {
  await using other = temporaryCodebase({ 'other.txt': 'other\n' }, { git: true });
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  const env = { GIT_DIR: other.path('.git'), GIT_INDEX_FILE: other.path('.git/index') };
  expect(claw(['init', '--json', '--cwd', codebase.root], { env }).code).toBe(0);
  expect(codebase.has('.claw/base/a.txt')).toBe(true);
  expect(codebase.has('.claw/base/other.txt')).toBe(false);
});

test('a reader that stops reading breaks nothing', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  addSkill(codebase, 'demo', { add: { 'new.txt': 'new\n' } });
  const line = '"$0" "$1" apply demo --cwd "$2" 2>&1 | true; "$0" "$1" list --json --cwd "$2"';
  const args = ['-c', line, process.execPath, CLAW, codebase.root];
  const run = spawnSync('sh', args, { encoding: 'utf8' });
  expect(run.stderr).toBe('');
  expect(JSON.parse(run.stdout).data).toMatchObject([{ name: 'demo' }]);
});

test('plan says which consent the verb would ask for', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  addSkill(codebase, 'ci', { add: { '.github/workflows/ci.yml': 'on: push\n' } });
  const allow = ['--allow', '.github/workflows/ci.yml'];
  const planned = await codebase.claw('plan', 'apply', 'ci');
  expect(planned.json.warnings).toEqual([`This needs ${allow.join(' ')}.`]);
  const refused = await codebase.claw('apply', 'ci', '--yes');
  expect(refused).toMatchObject({ code: 1, json: { error: { code: 'CONSENT_NEEDED' } } });
  expect((await codebase.claw('plan', 'apply', 'ci', ...allow)).json.warnings).toEqual([]);
  expect((await codebase.claw('apply', 'ci', ...allow)).code).toBe(0);
});
