import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const CORE =
  '{\n  "name": "app",\n  "version": "1.0.0",\n  "dependencies": { "isarray": "^1.0.0" }\n}\n';

function codebaseWith(structured: object): Codebase {
  const codebase = temporaryCodebase({ 'package.json': CORE }, { git: true });
  addSkill(codebase, 'demo', { add: { 'b.txt': 'b\n' }, manifest: { structured } });
  return codebase;
}

test('a skill that replaces a range of the core is shown, and needs the owner’s named consent', async () => {
  await using codebase = codebaseWith({ npm_overrides: { isarray: '^2.0.0' } });
  const shown = expect.stringContaining('isarray: ^2.0.0 takes the place of the core');
  const planned = await codebase.claw('plan', 'apply', 'demo', '--no-install');
  expect(planned.json).toMatchObject({ ok: true, data: { consent: ['package.json#isarray'] } });
  expect(planned.json.warnings).toContainEqual(shown);
  expect(planned.json.warnings).toContain('This needs --allow package.json#isarray.');
  const refused = await codebase.claw('apply', 'demo', '--no-install', '--yes');
  expect(refused).toMatchObject({ code: 1, json: { error: { code: 'CONSENT_NEEDED' } } });
  expect(refused.json.error?.message).toContain('--allow package.json#isarray');
  expect(codebase.read('package.json')).toBe(CORE);
  const allowed = ['--no-install', '--allow', 'package.json#isarray'];
  const applied = await codebase.claw('apply', 'demo', ...allowed);
  expect(applied).toMatchObject({ code: 0 });
  expect(applied.json.warnings).toContainEqual(shown);
  expect(codebase.read('package.json')).toBe(CORE.replace('^1.0.0', '^2.0.0'));
  // What was agreed to once is not asked again.
  addSkill(codebase, 'other', { add: { 'c.txt': 'c\n' } });
  expect(await codebase.claw('apply', 'other', '--no-install')).toMatchObject({ code: 0 });
  expect(await codebase.claw('remove', 'demo', '--no-install')).toMatchObject({ code: 0 });
  expect(codebase.read('package.json')).toBe(CORE);
});

test('a range that the core’s allows needs no consent, whichever way it is declared', async () => {
  for (const key of ['npm_dependencies', 'npm_overrides']) {
    await using codebase = codebaseWith({ [key]: { isarray: '^1.0.1' } });
    expect(await codebase.claw('apply', 'demo', '--no-install')).toMatchObject({ code: 0 });
    expect(codebase.read('package.json')).toBe(CORE.replace('^1.0.0', '^1.0.1'));
  }
});

test('a package in both lists, or one that no registry has, is refused', async () => {
  const both = { npm_dependencies: { isarray: '^2.0.0' }, npm_overrides: { isarray: '^2.0.0' } };
  for (const [structured, code] of [
    [both, 'SCHEMA_INVALID'],
    [{ npm_overrides: { isarray: 'github:a/b' } }, 'DEPENDENCY_REFUSED'],
  ] as const) {
    await using codebase = codebaseWith(structured);
    const run = await codebase.claw('plan', 'apply', 'demo');
    expect(run.json).toMatchObject({ ok: false, error: { code } });
  }
});

test('pack declares a range that leaves the core’s behind as one that replaces it', async () => {
  await using codebase = temporaryCodebase({ 'package.json': CORE, 'a.txt': 'a\n' }, { git: true });
  addSkill(codebase, 'first', { add: { 'first.txt': '1\n' } });
  await codebase.claw('apply', 'first');
  codebase.write({ 'package.json': CORE.replace('^1.0.0', '^2.0.0'), 'a.txt': 'A\n' });
  expect(await codebase.claw('pack', 'mine')).toMatchObject({ code: 0 });
  const manifest = codebase.read('skills/mine/manifest.yaml');
  expect(manifest).toMatch(/npm_overrides:[\s{]+isarray: \^2\.0\.0/);
  expect(manifest).not.toContain('npm_dependencies');
});
