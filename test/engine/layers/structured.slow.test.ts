import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const PACKAGE = `{
    "name": "app",
    "version": "1.0.0",
    "scripts": { "go": "echo" },
    "dependencies": {}
}
`;

/** A registry package without a registry: npm resolves the range from its cache or the network. */
function withPackages(codebase: Codebase): void {
  mkdirSync(codebase.path('node_modules'), { recursive: true });
}

test('npm packages come and go, versions are locked, and the lock is replayed', async () => {
  await using codebase = temporaryCodebase(
    { 'package.json': PACKAGE, '.gitignore': 'node_modules\n' },
    { git: true },
  );
  withPackages(codebase);
  addSkill(codebase, 'demo', {
    manifest: { structured: { npm_dependencies: { 'is-number': '^7.0.0' } } },
    tests: {
      'demo.test.mjs':
        "import test from 'node:test';\nimport isNumber from 'is-number';\ntest('is there', () => { if (!isNumber(1)) throw new Error('no'); });\n",
    },
  });
  const before = codebase.tree();
  const run = await codebase.claw('apply', 'demo');
  expect(run.json.error).toBe(null);
  expect(run.json.changes.map(({ path }) => path)).toEqual(['package-lock.json', 'package.json']);
  expect(JSON.parse(codebase.read('package.json')).dependencies).toEqual({ 'is-number': '^7.0.0' });
  expect(codebase.read('.claw/package-lock.json')).toBe(codebase.read('package-lock.json'));
  expect(codebase.has('node_modules/is-number/package.json')).toBe(true);
  codebase.write({
    'package.json': codebase.read('package.json').replace('"echo"', '"echo mine"'),
  });
  expect((await codebase.claw('remove', 'demo')).json.error).toBe(null);
  expect(codebase.read('package.json')).toBe(PACKAGE.replace('"echo"', '"echo mine"'));
  expect(codebase.has('node_modules/is-number')).toBe(false);
  codebase.write({ 'package.json': PACKAGE });
  await codebase.claw('undo');
  expect(codebase.has('node_modules/is-number/package.json')).toBe(true);
  expect((await codebase.claw('remove', 'demo')).json.error).toBe(null);
  expect(codebase.tree()).toEqual(before);
});

test('a lock file of the owner’s own outlives the last skill that brought packages', async () => {
  await using codebase = temporaryCodebase({ 'package.json': PACKAGE }, { git: true });
  addSkill(codebase, 'demo', {
    manifest: { structured: { npm_dependencies: { 'is-number': '^7.0.0' } } },
  });
  const own = { name: 'app', version: '1.0.0', lockfileVersion: 3, requires: true };
  const lock = { ...own, packages: { '': { name: 'app', version: '1.0.0', dependencies: {} } } };
  codebase.write({ 'package-lock.json': `${JSON.stringify(lock, null, 4)}\n` });
  expect((await codebase.claw('apply', 'demo')).json.error).toBe(null);
  expect((await codebase.claw('remove', 'demo')).json.error).toBe(null);
  expect(codebase.read('package.json')).toBe(PACKAGE);
  expect(JSON.parse(codebase.read('package-lock.json'))).toMatchObject(own);
  expect(codebase.read('package-lock.json')).not.toContain('is-number');
});

test('npm that fails leaves everything as it was', async () => {
  await using codebase = temporaryCodebase({ 'package.json': PACKAGE }, { git: true });
  addSkill(codebase, 'demo', {
    manifest: { structured: { npm_dependencies: { 'is-number': '^99.0.0' } } },
  });
  const before = codebase.tree();
  const run = await codebase.claw('apply', 'demo');
  expect(run).toMatchObject({
    code: 4,
    json: { outcome: 'failed', error: { code: 'NPM_FAILED' } },
  });
  expect(codebase.tree()).toEqual(before);
  expect(codebase.has('node_modules')).toBe(false);
});

test('ranges that do not intersect are a structured conflict naming both skills', async () => {
  await using codebase = temporaryCodebase({ 'package.json': PACKAGE }, { git: true });
  for (const [skill, range] of [
    ['alpha', '^0.1.0'],
    ['beta', '^0.9.0'],
  ] as const) {
    addSkill(codebase, skill, {
      manifest: { structured: { npm_dependencies: { something: range } } },
    });
  }
  const run = await codebase.claw('plan', 'apply', 'alpha', 'beta');
  expect(run.code).toBe(3);
  expect(run.json.conflicts).toMatchObject([
    { path: 'package.json#dependencies.something', kind: 'structured', layers: ['alpha', 'beta'] },
  ]);
});

test('settings and services are declared, merged by key, and taken out exactly', async () => {
  const env = '# settings\nNAME=a\n';
  const compose =
    'services:\n  db: # the store\n    image: postgres:16\n    ports: ["127.0.0.1:5432:5432"]\n';
  await using codebase = temporaryCodebase(
    { '.env.example': env, 'docker-compose.yml': compose },
    { git: true },
  );
  const service = (port: number) => ({
    cache: { image: 'redis:7', ports: [`127.0.0.1:${port}:6379`] },
  });
  addSkill(codebase, 'demo', {
    manifest: {
      structured: {
        env_additions: ['DEMO_KEY', { name: 'DEMO_URL', description: 'Where it is', example: 'x' }],
        docker_compose_services: service(6379),
      },
    },
  });
  addSkill(codebase, 'clash', {
    manifest: {
      structured: {
        docker_compose_services: { other: { image: 'x:1', ports: ['127.0.0.1:6379:1'] } },
      },
    },
  });
  const before = codebase.tree();
  expect((await codebase.claw('apply', 'demo')).json.error).toBe(null);
  expect(codebase.read('.env.example')).toContain('DEMO_KEY=');
  expect(codebase.read('docker-compose.yml')).toContain('db: # the store\n    image: postgres:16');
  codebase.write({ '.env.example': codebase.read('.env.example').replace('NAME=a', 'NAME=mine') });
  const clash = await codebase.claw('apply', 'clash');
  expect(clash.code).toBe(3);
  expect(clash.json.conflicts[0]?.path).toMatch(/^docker-compose.yml#services\..*ports/);
  expect(clash.json.conflicts[0]?.layers).toEqual(['demo', 'clash'].sort());
  await codebase.claw('abort');
  expect((await codebase.claw('remove', 'demo')).json.error).toBe(null);
  expect(codebase.read('.env.example')).toBe(env.replace('NAME=a', 'NAME=mine'));
  codebase.write({ '.env.example': env });
  expect(codebase.tree()).toEqual(before);
});

test('git itself sees nothing left over after the last skill is gone', async () => {
  await using codebase = temporaryCodebase(
    { 'a.txt': 'a\n', '.gitignore': '.claw\nskills\n' },
    { git: true },
  );
  addSkill(codebase, 'demo', {
    add: { 'deep/er/b.txt': 'b\n' },
    modify: { 'a.txt': ['a\n', 'b\n'] },
  });
  await codebase.claw('apply', 'demo');
  await codebase.claw('remove', 'demo');
  const status = execFileSync('git', ['status', '--porcelain'], {
    cwd: codebase.root,
    encoding: 'utf8',
  });
  expect(status).toBe('');
});
