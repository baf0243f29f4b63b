import { cpSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  keptPackage,
  skillFiles,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const WEB = "export const web = 'web';\n";
const CORE = {
  'package.json': '{\n  "name": "demo",\n  "version": "1.0.0",\n  "dependencies": {}\n}\n',
  '.env.example': 'HOST=localhost\n',
  'src/a.ts': LINES,
  'src/b.ts': LINES,
};

/** A codebase in git with the skill web applied and everything committed. */
async function appliedWeb(parts: Partial<Parameters<typeof skillFiles>[1]> = {}) {
  const codebase = temporaryCodebase(CORE, { git: true });
  addSkill(codebase, 'web', {
    add: { 'src/web/web.ts': WEB },
    modify: { 'src/a.ts': [LINES, LINES.replace('two', 'TWO')] },
    ...parts,
  });
  await codebase.claw('apply', 'web');
  commitAll(codebase, 'web is in');
  return codebase;
}

/** Checks that `status` and `verify` report these edits, and no other difference from the layers. */
async function expectOnlyEdits(codebase: Codebase, ...paths: string[]): Promise<void> {
  expect((await codebase.claw('status')).json.data).toMatchObject({
    edits: paths.map((path) => ({ path })),
  });
  const verified = await codebase.claw('verify');
  expect(verified.json.data).toMatchObject({ recomposed: [], edits: { length: paths.length } });
}

test('edits of files that a skill adds and changes go back into its package, and none is left', async () => {
  await using codebase = await appliedWeb();
  codebase.write({
    'src/web/web.ts': WEB.replace("'web'", "'wide'"),
    'src/a.ts': LINES.replace('two', 'zwei').replace('eight', 'EIGHT'),
  });
  const before = codebase.tree();
  const run = await codebase.claw('pack', 'web', '--update');
  expect(run).toMatchObject({
    code: 0,
    json: {
      outcome: 'done',
      data: { skill: 'web', version: '1.0.1', folded: ['src/a.ts', 'src/web/web.ts'], left: [] },
    },
  });
  expect(codebase.read('skills/web/add/src/web/web.ts')).toContain('wide');
  expect(codebase.read('skills/web/base/src/a.ts')).toBe(LINES);
  expect(codebase.read('skills/web/modify/src/a.ts')).toContain('zwei');
  expect(codebase.read('skills/web/modify/src/a.ts')).toContain('EIGHT');
  expect(keptPackage(codebase, 'web')['modify/src/a.ts']).toContain('zwei');
  expect((await codebase.claw('list')).json.data).toMatchObject([
    { name: 'web', version: '1.0.1' },
  ]);
  await expectOnlyEdits(codebase);

  expect((await codebase.claw('undo')).code).toBe(0);
  expect(codebase.tree()).toEqual(before);
  await expectOnlyEdits(codebase, 'src/a.ts', 'src/web/web.ts');
});

test('the renewed package gives the same tree on a clone, and takes all of it out again', async () => {
  await using codebase = await appliedWeb();
  codebase.write({
    'src/web/web.ts': 'export const web = 2;\n',
    'src/a.ts': LINES.replace('nine', 'NINE'),
  });
  await codebase.claw('pack', 'web', '--update');
  await using clone = temporaryCodebase(CORE, { git: true });
  cpSync(codebase.path('skills'), clone.path('skills'), { recursive: true });
  expect((await clone.claw('apply', 'web')).code).toBe(0);
  expect(clone.tree()).toEqual(codebase.tree());
  expect((await codebase.claw('remove', 'web')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(LINES);
  expect(codebase.has('src/web')).toBe(false);
});

test('a version is raised once for what is committed, and by the asked step', async () => {
  await using codebase = await appliedWeb();
  const update = async (...args: string[]) =>
    (await codebase.claw('pack', 'web', '--update', ...args)).json.data;
  codebase.write({ 'src/web/web.ts': 'export const web = 2;\n' });
  expect(await update()).toMatchObject({ version: '1.0.1' });
  codebase.write({ 'src/web/web.ts': 'export const web = 3;\n' });
  expect(await update()).toMatchObject({ version: '1.0.1' });
  codebase.write({ 'skills/web/SKILL.md': '# Another word\n' });
  expect(await update()).toMatchObject({ version: '1.0.1' });
  await expectOnlyEdits(codebase);
  expect(keptPackage(codebase, 'web')['SKILL.md']).toBe('# Another word\n');
  expect(await update('--minor')).toMatchObject({ version: '1.1.0' });
  expect(await update('--minor')).toMatchObject({ version: '1.1.0' });
  commitAll(codebase, '1.1.0');
  codebase.write({ 'skills/web/SKILL.md': '# A last word\n' });
  expect(await update('--major')).toMatchObject({ version: '2.0.0' });
  expect(await codebase.claw('pack', 'web', '--update', '--minor', '--major')).toMatchObject({
    code: 2,
  });
});

test('new files belong to the skill in folders that it made, others when they are named', async () => {
  await using codebase = await appliedWeb();
  codebase.write({
    'src/web/helper.ts': 'export const helper = 1;\n',
    'src/other.ts': 'export const other = 1;\n',
    'src/b.ts': LINES.replace('five', 'FIVE'),
    'notes/mine.txt': 'mine\n',
  });
  const first = await codebase.claw('pack', 'web', '--update');
  expect(first.json.data).toMatchObject({
    folded: ['src/web/helper.ts'],
    left: [{ path: 'notes/mine.txt' }, { path: 'src/b.ts' }, { path: 'src/other.ts' }],
  });
  const second = await codebase.claw('pack', 'web', '--update', 'src');
  expect(second.json.data).toMatchObject({ folded: ['src/b.ts', 'src/other.ts'] });
  expect(codebase.read('skills/web/base/src/b.ts')).toBe(LINES);
  expect(codebase.read('skills/web/modify/src/b.ts.intent.md')).toContain('line 5');
  await expectOnlyEdits(codebase, 'notes/mine.txt');
  expect(await codebase.claw('pack', 'web', '--update', 'src/nothing.ts')).toMatchObject({
    code: 2,
    json: { error: { code: 'USAGE', path: 'src/nothing.ts' } },
  });
});

test('edits in another layer’s lines stay edits, and the rest of the file goes back', async () => {
  await using codebase = await appliedWeb();
  addSkill(codebase, 'other', {
    modify: { 'src/a.ts': [LINES, LINES.replace('six', 'SIX')] },
  });
  await codebase.claw('apply', 'other');
  const both = LINES.replace('two', 'TWO').replace('six', 'SIX');
  codebase.write({ 'src/a.ts': both.replace('TWO', 'zwei').replace('SIX', 'sechs') });
  const run = await codebase.claw('pack', 'web', '--update');
  expect(run.json.data).toMatchObject({
    folded: ['src/a.ts'],
    left: [{ path: 'src/a.ts', why: expect.stringContaining('other') }],
  });
  expect(codebase.read('skills/web/modify/src/a.ts')).toBe(LINES.replace('two', 'zwei'));
  expect(codebase.read('src/a.ts')).toContain('sechs');
  await expectOnlyEdits(codebase, 'src/a.ts');
  expect((await codebase.claw('pack', 'other', '--update')).json.data).toMatchObject({ left: [] });
  expect(codebase.read('skills/other/modify/src/a.ts')).toBe(LINES.replace('six', 'sechs'));
  await expectOnlyEdits(codebase);
});

test('a file that the owner deleted goes out of the package, or becomes a deletion of the skill', async () => {
  await using codebase = await appliedWeb({
    add: { 'src/web/web.ts': WEB, 'src/web/two.ts': WEB },
  });
  codebase.remove('src/web/two.ts');
  codebase.remove('src/a.ts');
  expect((await codebase.claw('pack', 'web', '--update')).json.data).toMatchObject({ left: [] });
  expect(codebase.has('skills/web/add/src/web/two.ts')).toBe(false);
  expect(codebase.read('skills/web/manifest.yaml')).toContain('delete');
  await expectOnlyEdits(codebase);
  await codebase.claw('remove', 'web');
  expect(codebase.read('src/a.ts')).toBe(LINES);
});

test('packages, settings with their comment, and services become declarations, once the skill has some or they are named', async () => {
  await using codebase = await appliedWeb({
    manifest: { structured: { env_additions: ['WEB_PORT'] } },
  });
  codebase.write({
    '.env.example': `${codebase.read('.env.example')}# Where it listens.\n# An address.\nWEB_HOST=0.0.0.0\n`,
    'docker-compose.yml': 'services:\n  cache:\n    image: redis:7\n',
  });
  const first = await codebase.claw('pack', 'web', '--update');
  expect(first.json.data).toMatchObject({
    folded: ['.env.example'],
    left: [{ path: 'docker-compose.yml' }],
  });
  const manifest = codebase.read('skills/web/manifest.yaml');
  expect(manifest).toContain('WEB_HOST');
  expect(manifest).toContain('An address.');
  await expectOnlyEdits(codebase, 'docker-compose.yml');
  const second = await codebase.claw('pack', 'web', '--update', 'docker-compose.yml');
  expect(second.json.data).toMatchObject({ folded: ['docker-compose.yml'], left: [] });
  await expectOnlyEdits(codebase);
  codebase.write({ '.env.example': codebase.read('.env.example').replace('WEB_PORT=\n', '') });
  await codebase.claw('pack', 'web', '--update');
  expect(codebase.read('skills/web/manifest.yaml')).not.toContain('WEB_PORT');
  await expectOnlyEdits(codebase);
});

test('the order of keys, comments and other lines of the owner’s stay as they are, and stay an edit', async () => {
  const order = (...names: string[]) => Object.fromEntries(names.map((name) => [name, './a.mjs']));
  const npm = (exports: object, dependencies: object) =>
    `${JSON.stringify({ name: 'demo', version: '1.0.0', exports: { '.': exports }, dependencies }, null, 2)}\n`;
  await using codebase = temporaryCodebase(
    {
      'package.json': npm(order('default', 'import'), {}),
      '.env.example': '# Call 555-OLD.\nHOST=localhost\n',
      'docker-compose.yml': '# Not for use.\nservices:\n  app:\n    image: app\n',
    },
    { git: true },
  );
  addSkill(codebase, 'web', {
    add: { 'src/web/web.ts': WEB },
    manifest: {
      structured: {
        npm_dependencies: { one: '^1.0.0' },
        env_additions: ['WEB_PORT'],
        docker_compose_services: { cache: { image: 'redis:7' } },
      },
    },
  });
  await codebase.claw('apply', 'web', '--no-install');
  commitAll(codebase, 'web is in');
  const own = {
    'package.json': npm(order('import', 'default'), { one: '^1.0.0', two: '^2.0.0' }),
    '.env.example': 'a line of mine\nHOST=localhost\nWEB_PORT=\nWEB_HOST=\n',
    'docker-compose.yml': `${codebase.read('docker-compose.yml').replace('# Not for use.\n', '')}  queue:\n    image: queue\n`,
  };
  const paths = Object.keys(own).sort();
  codebase.write(own);
  const run = await codebase.claw('pack', 'web', '--update', '--no-install');
  expect(Object.fromEntries(paths.map((path) => [path, codebase.read(path)]))).toEqual(own);
  const left = paths.map((path) => ({
    path,
    what: [],
    why: 'its layout, order or comments are yours',
  }));
  expect(run).toMatchObject({ code: 0, json: { data: { folded: paths, left } } });
  const manifest = codebase.read('skills/web/manifest.yaml');
  for (const declared of ['two: ^2.0.0', 'WEB_HOST', 'queue']) expect(manifest).toContain(declared);
  await expectOnlyEdits(codebase, ...paths);
  const again = await codebase.claw('pack', 'web', '--update', '--no-install');
  expect(again.json).toMatchObject({ outcome: 'nothing', data: { folded: [], left } });
  expect((await codebase.claw('remove', 'web', '--no-install')).code).toBe(0);
  expect(codebase.read('package.json')).toBe(npm(order('import', 'default'), {}));
  expect(codebase.read('.env.example')).toBe('a line of mine\nHOST=localhost\n');
  expect(codebase.read('docker-compose.yml')).toBe('services:\n  app:\n    image: app\n');
});

test('a reworded comment of the core’s does not make its setting one of the skill', async () => {
  await using codebase = temporaryCodebase({ '.env.example': '# Where.\nHOST=localhost\n' });
  addSkill(codebase, 'web', { manifest: { structured: { env_additions: ['WEB_PORT'] } } });
  await codebase.claw('apply', 'web');
  const own = codebase.read('.env.example').replace('# Where.', '# Where it listens.');
  codebase.write({ '.env.example': own });
  const run = await codebase.claw('pack', 'web', '--update');
  expect(run.json).toMatchObject({ data: { folded: [], left: [{ path: '.env.example' }] } });
  expect(codebase.read('skills/web/manifest.yaml')).not.toContain('HOST');
  expect(codebase.read('.env.example')).toBe(own);
  await expectOnlyEdits(codebase, '.env.example');
});

test('what was written in the package folder comes into the tree with the edits, and new tests where tests are listed', async () => {
  await using codebase = await appliedWeb();
  codebase.write({
    'src/web/web.ts': `${WEB}export const more = 1;\n`,
    'skills/web/modify/src/a.ts': LINES.replace('two', 'TWO').replace('nine', 'NINE'),
    'skills/web/manifest.yaml': codebase
      .read('skills/web/manifest.yaml')
      .replace(/\}\s*$/, ', "test": [] }'),
    'skills/web/tests/web.test.mjs':
      "import { test } from 'node:test';\nimport { more } from '../../../src/web/web.ts';\ntest('more', () => { if (more !== 1) throw new Error('less'); });\n",
  });
  const run = await codebase.claw('pack', 'web', '--update');
  expect(run.json.data).toMatchObject({ folded: ['src/web/web.ts'], left: [] });
  expect(codebase.read('src/a.ts')).toContain('NINE');
  expect(codebase.read('skills/web/manifest.yaml')).toContain('tests/web.test.mjs');
  await expectOnlyEdits(codebase);
});

test('a test of the skill that fails on the edits stops it, although the tree has them already', async () => {
  await using codebase = await appliedWeb({
    tests: {
      'web.test.mjs':
        "import { test } from 'node:test';\nimport { web } from '../../../src/web/web.ts';\ntest('web', () => { if (web !== 'web') throw new Error('not web'); });\n",
    },
  });
  codebase.write({ 'src/web/web.ts': WEB.replace("'web'", "'wide'") });
  const before = { ...codebase.tree(), ...codebase.state() };
  const run = await codebase.claw('pack', 'web', '--update');
  expect(run).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  expect({ ...codebase.tree(), ...codebase.state() }).toEqual(before);
  expect((await codebase.claw('pack', 'web', '--update', '--no-proof')).code).toBe(0);
  await expectOnlyEdits(codebase);
});

test('edits of a folder and of the tree that disagree wait for a decision, and go on from it', async () => {
  await using codebase = await appliedWeb();
  codebase.write({
    'src/web/web.ts': WEB.replace("'web'", "'tree'"),
    'skills/web/add/src/web/web.ts': WEB.replace("'web'", "'folder'"),
  });
  expect(await codebase.claw('pack', 'web', '--update')).toMatchObject({
    code: 3,
    json: { outcome: 'blocked', conflicts: [{ path: 'src/web/web.ts' }] },
  });
  expect((await codebase.claw('resolve', 'src/web/web.ts', '--ours')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('skills/web/add/src/web/web.ts')).toContain('tree');
  expect(codebase.read('src/web/web.ts')).toContain('tree');
  await expectOnlyEdits(codebase);
});

test('a skill from elsewhere gets a package under skills/, from where it is upgraded on', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  await using elsewhere = temporaryCodebase(skillFiles('web', { add: { 'src/web.ts': WEB } }));
  await codebase.claw('apply', elsewhere.root);
  codebase.write({ 'src/web.ts': 'export const web = 2;\n' });
  const run = await codebase.claw('pack', 'web', '--update');
  expect(run.json.data).toMatchObject({ version: '1.0.1', folded: ['src/web.ts'] });
  expect(run.json.warnings.join('\n')).toContain('skills/web');
  expect((await codebase.claw('list')).json.data).toMatchObject([
    { source: 'web', version: '1.0.1' },
  ]);
  await expectOnlyEdits(codebase);
});

test('edits made since a package was packed go into it before it is applied', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  codebase.write({
    'src/a.ts': LINES.replace('two', 'TWO'),
    'src/dice.ts': 'export const dice = 1;\n',
  });
  await codebase.claw('pack', 'dice');
  codebase.write({
    'src/a.ts': LINES.replace('two', 'TWO').replace('nine', 'NINE'),
    'src/dice.ts': 'export const dice = 2;\n',
  });
  const run = await codebase.claw('pack', 'dice', '--update');
  expect(run.json.data).toMatchObject({
    version: '1.0.0',
    folded: ['src/a.ts', 'src/dice.ts'],
    left: [],
  });
  expect(codebase.read('skills/dice/modify/src/a.ts')).toContain('NINE');
  expect(await codebase.claw('apply', 'dice')).toMatchObject({ code: 0, json: { changes: [] } });
  await expectOnlyEdits(codebase);
});

test('an own edit of a file whose change the tree does not have is not mistaken for the skill’s', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  addSkill(codebase, 'web', { modify: { 'src/a.ts': [LINES, LINES.replace('two', 'TWO')] } });
  codebase.write({ 'src/a.ts': LINES.replace('nine', 'mine') });
  const run = await codebase.claw('pack', 'web', '--update');
  expect(run.json).toMatchObject({
    outcome: 'nothing',
    data: { folded: [], left: [{ path: 'src/a.ts' }] },
  });
  expect(codebase.read('skills/web/modify/src/a.ts')).toBe(LINES.replace('two', 'TWO'));
});

test('the plan says what would be folded and touches nothing', async () => {
  await using codebase = await appliedWeb();
  codebase.write({ 'src/web/web.ts': 'export const web = 2;\n' });
  const before = { ...codebase.tree(), ...codebase.state() };
  const run = await codebase.claw('plan', 'pack', 'web');
  expect(run).toMatchObject({
    code: 0,
    json: { data: { verb: 'pack', version: '1.0.1', folded: ['src/web/web.ts'] } },
  });
  expect({ ...codebase.tree(), ...codebase.state() }).toEqual(before);
  const named = await codebase.claw('plan', 'pack', 'web', '--update');
  expect(named.json.data).toEqual(run.json.data);
  expect(await codebase.claw('plan', 'pack', 'nowhere', '--update')).toMatchObject({
    json: { error: { code: 'SKILL_NOT_FOUND' } },
  });
  expect(await codebase.claw('plan', 'remove', 'web', '--update')).toMatchObject({
    json: { error: { code: 'USAGE', message: 'remove takes no --update.' } },
  });
});

test('a package that is not there yet is planned as it would be begun', async () => {
  await using codebase = await appliedWeb();
  codebase.write({ 'src/mine.ts': 'export const mine = 1;\n' });
  const before = { ...codebase.tree(), ...codebase.state() };
  const planned = await codebase.claw('plan', 'pack', 'mine');
  expect(planned).toMatchObject({
    code: 0,
    json: { outcome: 'done', data: { verb: 'pack', skill: 'mine', adds: ['src/mine.ts'] } },
  });
  expect({ ...codebase.tree(), ...codebase.state() }).toEqual(before);
  const packed = await codebase.claw('pack', 'mine');
  expect(packed.code).toBe(0);
  expect(planned.json.changes).toEqual(packed.json.changes);
  expect(planned.json.changes.map(({ path }) => path)).toContain('skills/mine/add/src/mine.ts');
});

test('a package whose folder is gone is written again from what is applied', async () => {
  await using codebase = await appliedWeb();
  rmSync(codebase.path('skills/web'), { recursive: true });
  codebase.write({ 'src/web/web.ts': 'export const web = 2;\n' });
  expect((await codebase.claw('pack', 'web', '--update')).code).toBe(0);
  expect(codebase.read('skills/web/add/src/web/web.ts')).toContain('2');
  await expectOnlyEdits(codebase);
});
