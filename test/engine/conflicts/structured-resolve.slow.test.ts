import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const COMPOSE = `services:
  web: # the page
    image: nginx:1
    ports: ["8080:80"]
`;

const service = (definition: Readonly<Record<string, unknown>>, name = 'cache') => ({
  structured: { docker_compose_services: { [name]: definition } },
});

async function blocked(codebase: Codebase, ...args: string[]) {
  const run = await codebase.claw(...args);
  expect(run).toMatchObject({ code: 3, json: { error: null } });
  return run.json.conflicts.map(({ path, kind, layers }) => ({ path, kind, layers }));
}

async function done(codebase: Codebase, ...args: string[]) {
  const run = await codebase.claw(...args);
  expect({ error: run.json.error, conflicts: run.json.conflicts, code: run.code }).toEqual({
    error: null,
    conflicts: [],
    code: 0,
  });
  return run.json;
}

test('ranges, ports and examples are resolved with a value, once and for all', async () => {
  const pkg = '{\n\t"name": "app",\n\t"version": "1.0.0",\n\t"dependencies": {}\n}';
  await using codebase = temporaryCodebase(
    { 'package.json': pkg, 'compose.yml': COMPOSE },
    { git: true },
  );
  for (const [skill, range] of [
    ['alpha', '^6.0.0'],
    ['beta', '^7.0.0'],
  ] as const) {
    addSkill(codebase, skill, {
      manifest: {
        structured: {
          npm_dependencies: { 'is-number': range },
          env_additions: [{ name: 'LEVEL', example: skill }],
          docker_compose_services: { [skill]: { image: 'x:1', ports: ['127.0.0.1:6000:1'] } },
        },
      },
    });
  }
  const before = codebase.tree();
  const layers = ['alpha', 'beta'];
  expect(await blocked(codebase, 'apply', 'alpha', 'beta')).toEqual([
    { path: 'package.json#dependencies.is-number', kind: 'structured', layers },
    { path: '.env.example#LEVEL', kind: 'structured', layers },
    { path: 'compose.yml#services.beta.ports', kind: 'structured', layers },
  ]);
  expect(codebase.tree()).toEqual(before);
  const tag = await codebase.claw(
    'resolve',
    'package.json#dependencies.is-number',
    '--with',
    'next',
  );
  expect(tag).toMatchObject({ code: 1, json: { error: { code: 'DEPENDENCY_REFUSED' } } });
  const open = await codebase.claw('resolve', 'compose.yml#services.beta.ports', '--with', '80:1');
  expect(open).toMatchObject({ code: 1, json: { error: { code: 'COMPOSE_REFUSED' } } });
  await done(codebase, 'resolve', 'package.json#dependencies.is-number', '--with', '^7.0.0');
  await done(codebase, 'resolve', '.env.example#LEVEL', '--theirs');
  await done(codebase, 'resolve', 'compose.yml#services.beta.ports', '--with', '6001');
  await done(codebase, 'continue');
  expect(codebase.read('package.json')).toBe(
    pkg.replace('{}', '{\n\t\t"is-number": "^7.0.0"\n\t}'),
  );
  expect(codebase.read('.env.example')).toBe('LEVEL=beta\n');
  expect(codebase.read('compose.yml')).toContain('- 127.0.0.1:6001:1\n');
  expect(codebase.read('.claw/state.yaml')).toContain('6001/tcp');
  const both = codebase.tree();
  await done(codebase, 'remove', 'alpha');
  expect(codebase.read('compose.yml')).toContain('- 127.0.0.1:6000:1\n');
  await done(codebase, 'apply', 'alpha');
  expect(codebase.tree()).toEqual(both);
  await done(codebase, 'remove', 'beta', 'alpha');
  expect(codebase.tree()).toEqual(before);
});

test('a service of the core and a skill’s other one of that name become what the owner says', async () => {
  await using codebase = temporaryCodebase({ 'compose.yml': COMPOSE }, { git: true });
  addSkill(codebase, 'page', {
    manifest: service({ image: 'nginx:2', ports: ['127.0.0.1:8080:80'] }, 'web'),
  });
  const before = codebase.tree();
  expect(await blocked(codebase, 'apply', 'page')).toEqual([
    { path: 'compose.yml#services.web.image', kind: 'structured', layers: ['core', 'page'] },
    { path: 'compose.yml#services.web.ports', kind: 'structured', layers: ['core', 'page'] },
  ]);
  await done(codebase, 'resolve', 'compose.yml#services.web.image', '--with', 'nginx:3');
  await done(codebase, 'resolve', 'compose.yml#services.web.ports', '--theirs');
  await done(codebase, 'continue');
  expect(codebase.read('compose.yml')).toBe(
    COMPOSE.replace('nginx:1', 'nginx:3').replace('"8080:80"', '"127.0.0.1:8080:80"'),
  );
  await done(codebase, 'remove', 'page');
  expect(codebase.tree()).toEqual(before);
});

test('an owner’s edit of a skill’s service and an upgrade of it meet at one key', async () => {
  await using codebase = temporaryCodebase({ 'compose.yml': COMPOSE }, { git: true });
  addSkill(codebase, 'demo', { manifest: service({ image: 'redis:7', user: '1000' }) });
  await done(codebase, 'apply', 'demo');
  const mine = codebase.read('compose.yml').replace('redis:7', 'redis:7-alpine # small');
  codebase.write({ 'compose.yml': mine });
  addSkill(codebase, 'demo', {
    version: '1.1.0',
    manifest: service({ image: 'redis:8', user: '1000', restart: 'always' }),
  });
  expect(await blocked(codebase, 'upgrade', 'demo')).toEqual([
    {
      path: 'compose.yml#services.cache.image',
      kind: 'structured',
      layers: ['your edits', 'demo'],
    },
  ]);
  expect(codebase.read('compose.yml')).toBe(mine);
  await done(codebase, 'resolve', 'compose.yml#services.cache.image', '--with', 'redis:8-alpine');
  await done(codebase, 'continue');
  const merged = mine.replace('redis:7-alpine', 'redis:8-alpine');
  expect(codebase.read('compose.yml')).toContain('image: redis:8-alpine # small\n');
  expect(codebase.read('compose.yml').split('\n').sort()).toEqual(
    `${merged}    restart: always\n`.split('\n').sort(),
  );
});

test('a skill’s service cannot take a port that a service of the owner’s own has', async () => {
  await using codebase = temporaryCodebase({ 'compose.yml': COMPOSE }, { git: true });
  const mine = `${COMPOSE}  mine: # by me\n    image: m:1\n    ports: ["6379:1"]\n`;
  codebase.write({ 'compose.yml': mine });
  addSkill(codebase, 'demo', {
    manifest: service({ image: 'redis:7', ports: ['127.0.0.1:6379:6379'] }),
  });
  expect(await blocked(codebase, 'apply', 'demo')).toEqual([
    {
      path: 'compose.yml#services.cache.ports',
      kind: 'structured',
      layers: ['your edits', 'demo'],
    },
  ]);
  await done(codebase, 'resolve', 'compose.yml#services.cache.ports', '--with', '6380');
  await done(codebase, 'continue');
  expect(codebase.read('compose.yml')).toContain(mine.slice(mine.indexOf('  mine:')));
  expect(codebase.read('compose.yml')).toContain('- 127.0.0.1:6380:6379\n');
  // The port is the owner's edit of what the skill brought: it is not lost without a question.
  const [left] = await blocked(codebase, 'remove', 'demo');
  expect(left).toMatchObject({ path: 'compose.yml#services.cache', kind: 'structured' });
  await done(codebase, 'resolve', 'compose.yml#services.cache', '--theirs');
  await done(codebase, 'continue');
  expect(codebase.read('compose.yml')).toBe(mine);
});
