import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { addRelease, versioned } from '../releases.ts';

const IGNORED = 'node_modules\n';

/** A `package.json` and the lock that belongs to it, in which every package has the version given. */
function packages(version: string, ranges: Record<string, string>, locked: Record<string, string>) {
  const manifest = { name: 'app', version, dependencies: ranges };
  const entries = Object.entries(locked).map(([name, locks]) => [
    `node_modules/${name}`,
    { version: locks },
  ]);
  const lock = {
    name: 'app',
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': manifest, ...Object.fromEntries(entries) },
  };
  return {
    'package.json': versioned(version, { dependencies: ranges }),
    'package-lock.json': `${JSON.stringify(lock, null, 2)}\n`,
  };
}

const RANGES = { 'is-number': '>=5.0.0 <8' };
const FIRST = packages('1.0.0', RANGES, { 'is-number': '6.0.0' });

function installation(): Codebase {
  const codebase = temporaryCodebase({ ...FIRST, '.gitignore': IGNORED }, { git: true });
  addSkill(codebase, 'demo', {
    manifest: { structured: { npm_dependencies: { isarray: '^2.0.0' } } },
  });
  commitAll(codebase, 'skills');
  return codebase;
}

const versionOf = (codebase: Codebase, name: string): string =>
  JSON.parse(codebase.read(`node_modules/${name}/package.json`)).version;
const lockedOf = (
  codebase: Codebase,
  path = 'package-lock.json',
): Record<string, { version: string }> => JSON.parse(codebase.read(path)).packages;

test.concurrent('a release that changes its packages brings them, and those of skills stay', async () => {
  await using codebase = installation();
  const next = packages(
    '1.1.0',
    { 'is-number': '^7.0.0', 'kind-of': '6.0.3' },
    {
      'is-number': '7.0.0',
      'kind-of': '6.0.3',
    },
  );
  addRelease(codebase, 'v1.1.0', { files: next });
  expect((await codebase.claw('apply', 'demo')).json.error).toBe(null);
  expect(versionOf(codebase, 'is-number')).toBe('6.0.0');
  const before = [codebase.tree(), codebase.state()];
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.json.error).toBe(null);
  expect(run.json.changes.map(({ path }) => path)).toEqual(['package-lock.json', 'package.json']);
  expect(versionOf(codebase, 'is-number')).toBe('7.0.0');
  expect(versionOf(codebase, 'kind-of')).toBe('6.0.3');
  expect(versionOf(codebase, 'isarray')).toMatch(/^2\./);
  expect(codebase.read('.claw/package-lock.json')).toBe(codebase.read('package-lock.json'));
  expect((await codebase.claw('undo')).json.error).toBe(null);
  expect([codebase.tree(), codebase.state()]).toEqual(before);
  expect(versionOf(codebase, 'is-number')).toBe('6.0.0');
  await codebase.claw('update', 'v1.1.0');
  expect((await codebase.claw('remove', 'demo')).json.error).toBe(null);
  expect(codebase.read('package.json')).toBe(next['package.json']);
  expect(codebase.read('package-lock.json')).toBe(next['package-lock.json']);
  expect(codebase.has('node_modules/isarray')).toBe(false);
});

test.concurrent('a release that changes nothing but its lock moves its versions, and no others', async () => {
  await using codebase = installation();
  addRelease(codebase, 'v1.1.0', { files: packages('1.1.0', RANGES, { 'is-number': '7.0.0' }) });
  await codebase.claw('apply', 'demo');
  const lock = lockedOf(codebase);
  // An older one than npm would take today: what the composition's lock says stays.
  const older = { ...lock, 'node_modules/isarray': { version: '2.0.4' } };
  for (const path of ['package-lock.json', '.claw/package-lock.json']) {
    const text = JSON.parse(codebase.read(path));
    codebase.write({ [path]: `${JSON.stringify({ ...text, packages: older }, null, 2)}\n` });
  }
  expect((await codebase.claw('update', 'v1.1.0')).json.error).toBe(null);
  expect(lockedOf(codebase)).toMatchObject({
    'node_modules/is-number': { version: '7.0.0' },
    'node_modules/isarray': { version: '2.0.4' },
  });
  expect(versionOf(codebase, 'is-number')).toBe('7.0.0');
  expect(versionOf(codebase, 'isarray')).toBe('2.0.4');
});

test.concurrent('where nothing is installed, a lock that moves is the release’s, without npm', async () => {
  await using codebase = temporaryCodebase({ ...FIRST, '.gitignore': IGNORED }, { git: true });
  const next = packages('1.1.0', RANGES, { 'is-number': '99.0.0' });
  addRelease(codebase, 'v1.1.0', { files: { ...next, 'npm-shrinkwrap.json': '{}\n' } });
  await codebase.claw('init');
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.json.error).toBe(null);
  expect(run.json.changes.map(({ path }) => path)).toEqual([
    'npm-shrinkwrap.json',
    'package-lock.json',
    'package.json',
  ]);
  expect(codebase.read('package-lock.json')).toBe(next['package-lock.json']);
  expect(codebase.has('node_modules')).toBe(false);
  await codebase.claw('undo');
  expect(codebase.read('package-lock.json')).toBe(FIRST['package-lock.json']);
});

test.concurrent('packages that cannot be had leave everything as it was', async () => {
  await using codebase = installation();
  addRelease(codebase, 'v1.1.0', { files: packages('1.1.0', { 'is-number': '^99.0.0' }, {}) });
  await codebase.claw('init');
  mkdirSync(codebase.path('node_modules'));
  const before = [codebase.tree(), codebase.state()];
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run).toMatchObject({ code: 4, json: { error: { code: 'NPM_FAILED' } } });
  expect([codebase.tree(), codebase.state()]).toEqual(before);
});

test.concurrent('the owner’s and the skills’ keys of structured files stay through an update', async () => {
  const compose = 'services:\n  db:\n    image: db:1\n';
  await using codebase = temporaryCodebase(
    {
      'package.json': versioned('1.0.0', { scripts: { go: 'echo' } }),
      '.env.example': '# settings\nA=1\n',
      'docker-compose.yml': compose,
    },
    { git: true },
  );
  addSkill(codebase, 'demo', {
    manifest: {
      structured: {
        env_additions: ['DEMO_TOKEN'],
        docker_compose_services: { cache: { image: 'cache:1' } },
      },
    },
  });
  addRelease(codebase, 'v1.1.0', {
    files: {
      'package.json': versioned('1.1.0', { scripts: { go: 'echo', more: 'echo' } }),
      '.env.example': '# settings\nA=2\nB=1\n',
      'docker-compose.yml': compose.replace('db:1', 'db:2'),
    },
  });
  await codebase.claw('apply', 'demo');
  codebase.write({
    'package.json': codebase
      .read('package.json')
      .replace('"scripts": {', '"scripts": {\n    "mine": "echo mine",'),
    '.env.example': `${codebase.read('.env.example')}MINE=1\n`,
  });
  expect((await codebase.claw('customize', 'a script and a setting')).json.error).toBe(null);
  codebase.write({ '.env.example': `${codebase.read('.env.example')}LATER=1\n` });
  expect((await codebase.claw('update', 'v1.1.0')).json.error).toBe(null);
  expect(JSON.parse(codebase.read('package.json'))).toMatchObject({
    version: '1.1.0',
    scripts: { go: 'echo', more: 'echo', mine: 'echo mine' },
  });
  for (const wanted of ['A=2', 'B=1', 'MINE=1', 'LATER=1', 'DEMO_TOKEN=']) {
    expect(codebase.read('.env.example')).toContain(wanted);
  }
  expect(codebase.read('docker-compose.yml')).toMatch(/db:2[\s\S]*cache:1/);
});

test.concurrent('the checks of the new release prove it, not those of the old one', async () => {
  const check = (text: string) => `check: ['grep -q ${text} a.txt']\n`;
  const files = {
    'package.json': versioned('1.0.0'),
    'a.txt': 'old\n',
    'claw.config.yaml': check('old'),
  };
  await using codebase = temporaryCodebase(files, { git: true });
  const release = (version: string, text: string, config: string) =>
    addRelease(codebase, `v${version}`, {
      files: { 'package.json': versioned(version), 'a.txt': text, 'claw.config.yaml': config },
    });
  release('1.1.0', 'new\n', check('new'));
  release('1.2.0', 'neither\n', check('missing'));
  release('1.3.0', 'new\n', 'check: 1\n');
  await codebase.claw('init');
  const before = [codebase.tree(), codebase.state()];
  const failing = await codebase.claw('update', 'v1.2.0');
  expect(failing).toMatchObject({ code: 4, json: { error: { code: 'CHECKS_FAILED' } } });
  const invalid = await codebase.claw('update', 'v1.3.0');
  expect(invalid).toMatchObject({ code: 1, json: { error: { code: 'CONFIG_INVALID' } } });
  expect([codebase.tree(), codebase.state()]).toEqual(before);
  expect((await codebase.claw('update', 'v1.1.0')).json.error).toBe(null);
});

test.concurrent('a skill does not keep a file that the release protects; the owner does', async () => {
  const files = { 'package.json': versioned('1.0.0'), 'core/a.txt': 'one\ntwo\nthree\n' };
  await using codebase = temporaryCodebase(files, { git: true });
  addSkill(codebase, 'demo', {
    modify: { 'core/a.txt': ['one\ntwo\nthree\n', 'ONE\ntwo\nthree\n'] },
  });
  const config = {
    'package.json': versioned('1.1.0'),
    'claw.config.yaml': "protected: ['core/**']\n",
  };
  addRelease(codebase, 'v1.1.0', { files: config });
  await codebase.claw('apply', 'demo');
  const before = [codebase.tree(), codebase.state()];
  const refused = await codebase.claw('update', 'v1.1.0');
  expect(refused).toMatchObject({ code: 1, json: { error: { code: 'PATH_PROTECTED' } } });
  expect(refused.json.error?.message).toMatch(/demo touches core\/a\.txt/);
  expect([codebase.tree(), codebase.state()]).toEqual(before);
  await codebase.claw('remove', 'demo');
  codebase.write({ 'core/a.txt': 'one\ntwo\nmine\n' });
  await codebase.claw('customize', 'mine');
  expect((await codebase.claw('update', 'v1.1.0')).json.error).toBe(null);
  expect(codebase.read('core/a.txt')).toBe('one\ntwo\nmine\n');
});

test.concurrent('what a release no longer counts as core stays, what it counts from now on comes', async () => {
  const config = (...globs: string[]) => `exclude: ${JSON.stringify(globs)}\n`;
  await using codebase = temporaryCodebase(
    {
      'package.json': versioned('1.0.0'),
      'claw.config.yaml': config('data/**'),
      'docs/kept.md': 'kept\n',
      'docs/edited.md': 'kept\n',
      'data/seed.txt': 'seed 1\n',
      'data/edited.txt': 'seed 1\n',
    },
    { git: true },
  );
  addRelease(codebase, 'v1.1.0', {
    files: {
      'package.json': versioned('1.1.0'),
      'claw.config.yaml': config('docs/**'),
      'docs/kept.md': 'changed by the release\n',
      'docs/new.md': 'new\n',
      'data/new.txt': 'new\n',
    },
    gone: ['docs/edited.md'],
  });
  await codebase.claw('init');
  codebase.write({ 'docs/edited.md': 'mine\n', 'data/edited.txt': 'mine\n' });
  const before = codebase.tree();
  const blocked = await codebase.claw('update', 'v1.1.0');
  // The release has a file where the owner, who had nothing to do with the core there, has another.
  expect(blocked.json.conflicts).toMatchObject([{ path: 'data/edited.txt', kind: 'add-add' }]);
  await codebase.claw('resolve', 'data/edited.txt', '--ours');
  expect((await codebase.claw('continue')).json.error).toBe(null);
  expect(codebase.tree()).toEqual({
    ...before,
    'package.json': versioned('1.1.0'),
    'claw.config.yaml': config('docs/**'),
    'data/new.txt': 'new\n',
  });
  expect((await codebase.claw('status')).json.data).toMatchObject({
    edits: [{ path: 'data/edited.txt' }],
  });
  expect((await codebase.claw('verify')).json.data).toMatchObject({ damaged: [], recomposed: [] });
  expect((await codebase.claw('replay')).json.error).toBe(null);
});

test.concurrent('what runs on its own or steers a tool needs the owner’s word in a release as well', async () => {
  await using codebase = temporaryCodebase({ 'package.json': versioned('1.0.0') }, { git: true });
  const files = { 'package.json': versioned('1.1.0'), '.github/workflows/ci.yml': 'on: push\n' };
  addRelease(codebase, 'v1.1.0', { files });
  await codebase.claw('init');
  const refused = await codebase.claw('update', 'v1.1.0', '--yes');
  expect(refused).toMatchObject({ code: 1, json: { error: { code: 'CONSENT_NEEDED' } } });
  expect(codebase.read('package.json')).toBe(versioned('1.0.0'));
  const run = await codebase.claw('update', 'v1.1.0', '--allow', '.github/workflows/ci.yml');
  expect(run.json.error).toBe(null);
  expect(codebase.read('.github/workflows/ci.yml')).toBe('on: push\n');
});

test('an order of keys that the release changed comes along, and is no edit of the owner', async () => {
  const released = (exports: object) => versioned('1.0.0', { exports, files: ['a'] });
  const first = released({ node: './n.js', default: './d.js' });
  await using codebase = temporaryCodebase(
    { 'package.json': first, 'a.mjs': 'a\n' },
    { git: true },
  );
  addSkill(codebase, 'demo', { add: { 'b.mjs': '// b\n' } });
  addRelease(codebase, 'v2', {
    files: { 'package.json': released({ default: './d.js', node: './n.js' }) },
  });
  expect((await codebase.claw('apply', 'demo')).json.error).toBe(null);
  codebase.write({ 'package.json': first.replace('"app"', '"mine"') });
  expect((await codebase.claw('update', 'v2')).json).toMatchObject({
    outcome: 'done',
    error: null,
  });
  expect(Object.keys(JSON.parse(codebase.read('package.json')).exports)).toEqual([
    'default',
    'node',
  ]);
  const diff = await codebase.claw('diff');
  expect(JSON.stringify(diff.json.data)).toContain('mine');
  expect(JSON.stringify(diff.json.data)).not.toContain('./n.js');
  codebase.write({ 'package.json': codebase.read('package.json').replace('"mine"', '"app"') });
  expect((await codebase.claw('status')).json.data).toMatchObject({ edits: [] });
  expect((await codebase.claw('verify')).json.data).toMatchObject({ recomposed: [], damaged: [] });
});
