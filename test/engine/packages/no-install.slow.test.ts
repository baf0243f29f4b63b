import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const CORE = JSON.stringify({ name: 'app', version: '1.0.0', dependencies: {} });

/** A codebase, and a skill that brings a package; `npmrc` are the project's own settings. */
function codebaseWithSkill(npmrc: string | null = null): Codebase {
  const files = { 'package.json': CORE, '.gitignore': 'node_modules\n', 'a.txt': 'a\n' };
  const codebase = temporaryCodebase(npmrc === null ? files : { ...files, '.npmrc': npmrc }, {
    git: true,
  });
  addSkill(codebase, 'demo', {
    add: { 'b.txt': 'b\n' },
    manifest: { structured: { npm_dependencies: { isarray: '^2.0.0' } } },
  });
  commitAll(codebase, 'skills');
  return codebase;
}

const PASSED_OVER = expect.stringContaining('npm is passed over (--no-install)');

async function lacking(codebase: Codebase): Promise<unknown> {
  return ((await codebase.claw('status')).json.data as { lackingPackages: unknown })
    .lackingPackages;
}

test('npm is passed over where the owner says so, and status says it until it is made good', async () => {
  await using codebase = codebaseWithSkill();
  const planned = await codebase.claw('plan', 'apply', 'demo', '--no-install');
  expect(planned).toMatchObject({ code: 0, json: { warnings: [PASSED_OVER] } });
  const applied = await codebase.claw('apply', 'demo', '--no-install');
  expect(applied).toMatchObject({ code: 0, json: { warnings: [PASSED_OVER] } });
  expect(codebase.read('package.json')).toContain('isarray');
  expect(codebase.has('node_modules')).toBe(false);
  expect(codebase.has('package-lock.json')).toBe(false);
  expect(await lacking(codebase)).toEqual(['isarray']);
  const replayed = await codebase.claw('replay');
  expect(replayed).toMatchObject({ code: 0, json: { outcome: 'done', warnings: [] } });
  expect(codebase.has('node_modules/isarray/package.json')).toBe(true);
  expect(codebase.has('.claw/package-lock.json')).toBe(true);
  expect(await lacking(codebase)).toEqual([]);
  expect((await codebase.claw('verify')).code).toBe(0);
}, 120_000);

test('an install of the owner’s own makes it good as well', async () => {
  await using codebase = codebaseWithSkill();
  await codebase.claw('apply', 'demo', '--no-install');
  codebase.write({ 'node_modules/isarray/package.json': '{"name":"isarray","version":"1.0.0"}' });
  expect(await lacking(codebase)).toEqual(['isarray']);
  codebase.write({ 'node_modules/isarray/package.json': '{"name":"isarray","version":"2.0.5"}' });
  expect(await lacking(codebase)).toEqual([]);
});

test('an operation that waited goes on without npm, and is undone without it', async () => {
  await using codebase = codebaseWithSkill();
  codebase.write({ 'b.txt': 'mine\n' });
  expect(await codebase.claw('apply', 'demo', '--no-install')).toMatchObject({ code: 3 });
  await codebase.claw('resolve', 'b.txt', '--ours');
  const continued = await codebase.claw('continue');
  expect(continued).toMatchObject({ code: 0, json: { warnings: [PASSED_OVER] } });
  expect(codebase.has('node_modules')).toBe(false);
  expect(await codebase.claw('undo')).toMatchObject({ code: 0 });
  expect(codebase.read('package.json')).toBe(CORE);
  expect(await lacking(codebase)).toBeUndefined();
});

test('where npm has no work there is nothing to pass over', async () => {
  await using codebase = codebaseWithSkill();
  addSkill(codebase, 'plain', { add: { 'c.txt': 'c\n' } });
  for (const verb of [['plan', 'apply'], ['apply']]) {
    const run = await codebase.claw(...verb, 'plain', '--no-install');
    expect(run).toMatchObject({ code: 0, json: { warnings: [] } });
  }
  expect(await lacking(codebase)).toEqual([]);
});

test('a project that wants no lock gets none, and its packages go with the skill', async () => {
  await using codebase = codebaseWithSkill('# ours\npackage-lock = false\n');
  const applied = await codebase.claw('apply', 'demo');
  expect(applied).toMatchObject({ code: 0 });
  expect(applied.json.changes.map(({ path }) => path)).toEqual(['b.txt', 'package.json']);
  expect(codebase.has('node_modules/isarray/package.json')).toBe(true);
  expect(codebase.has('package-lock.json')).toBe(false);
  expect(codebase.has('.claw/package-lock.json')).toBe(false);
  expect((await codebase.claw('verify')).code).toBe(0);
  addSkill(codebase, 'plain', { add: { 'c.txt': 'c\n' } });
  expect(await codebase.claw('apply', 'plain')).toMatchObject({ code: 0 });
  expect(codebase.has('.claw/package-lock.json')).toBe(false);
  expect(await codebase.claw('remove', 'demo')).toMatchObject({ code: 0 });
  expect(codebase.has('node_modules/isarray')).toBe(false);
  expect(codebase.has('package-lock.json')).toBe(false);
  expect(codebase.read('package.json')).toBe(CORE);
}, 120_000);

test('a proof that fails without the packages says which of them --no-install left out, and what to do', async () => {
  await using codebase = codebaseWithSkill();
  const check = `test ! -e b.txt || node -e "require.resolve('isarray')"`;
  codebase.write({ 'claw.config.yaml': JSON.stringify({ check: [check] }) });
  codebase.write({ 'node_modules/there/package.json': '{"name":"there","version":"1.0.0"}' });
  addSkill(codebase, 'demo', {
    add: { 'b.txt': 'b\n' },
    manifest: { structured: { npm_dependencies: { isarray: '^2.0.0', there: '^1.0.0' } } },
  });
  const refused = await codebase.claw('apply', 'demo', '--no-install');
  expect(refused).toMatchObject({ code: 4, json: { error: { code: 'CHECKS_FAILED' } } });
  const { message = '' } = refused.json.error ?? {};
  expect(message).toContain(
    'Because of --no-install these packages of the new tree are not installed: isarray.',
  );
  expect(message).toContain('npm install --no-save isarray,');
  expect(refused.json.error).toMatchObject({ data: { missingPackages: ['isarray'] } });
  // Installed by hand, as it says, the same command goes through.
  codebase.write({
    'node_modules/isarray/package.json': '{"name":"isarray","version":"2.0.5","main":"index.js"}',
    'node_modules/isarray/index.js': '',
  });
  expect(await codebase.claw('apply', 'demo', '--no-install')).toMatchObject({ code: 0 });
});

test('a proof that fails of itself says nothing of packages', async () => {
  await using codebase = codebaseWithSkill();
  codebase.write({ 'claw.config.yaml': JSON.stringify({ check: ['test ! -e c.txt'] }) });
  addSkill(codebase, 'plain', { add: { 'c.txt': 'c\n' } });
  const refused = await codebase.claw('apply', 'plain', '--no-install');
  expect(refused.json.error).toMatchObject({ code: 'CHECKS_FAILED' });
  expect(refused.json.error?.message).not.toContain('--no-install');
});
