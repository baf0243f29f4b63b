import { cpSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const PACKAGE = '{\n  "name": "demo",\n  "version": "1.0.0"\n}\n';
const CORE = {
  'package.json': PACKAGE,
  'src/a.ts': LINES,
  'src/moved.txt': LINES,
  'src/gone.txt': 'gone\n',
  'src/data.bin': Buffer.from([0, 1, 2]),
  'run.sh': 'echo hello\n',
};

/** Everything but the package itself, so that two codebases compare. */
function coreOf(codebase: Codebase): object {
  const entries = Object.entries(codebase.tree()).filter(([path]) => !path.startsWith('skills/'));
  return Object.fromEntries(entries);
}

function editEverything(codebase: Codebase): void {
  codebase.write({
    'src/a.ts': LINES.replace('five', 'FIVE'),
    'src/new.ts': 'export const brandNew = 1;\n',
    'lib/moved.txt': LINES.replace('nine', 'NINE'),
    'src/data.bin': Buffer.from([0, 1, 3]),
    'run.sh': { text: 'echo hello\n', mode: 0o755 },
    'docker-compose.yml': 'services:\n  cache:\n    image: redis:7\n',
  });
  codebase.remove('src/moved.txt');
  codebase.remove('src/gone.txt');
}

test('a package of the edits, applied to a clean clone, gives the tree that it was made from', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  editEverything(codebase);
  const run = await codebase.claw('pack', 'demo', '--description', 'A demonstration');
  expect(run).toMatchObject({ code: 0, json: { outcome: 'done', data: { left: [] } } });
  await using clean = temporaryCodebase(CORE, { git: true });
  cpSync(codebase.path('skills'), clean.path('skills'), { recursive: true });
  expect(await clean.claw('apply', 'demo')).toMatchObject({ code: 0 });
  expect(coreOf(clean)).toEqual(coreOf(codebase));
  expect(await clean.claw('remove', 'demo')).toMatchObject({ code: 0 });
  await using untouched = temporaryCodebase(CORE, { git: true });
  expect(coreOf(clean)).toEqual(coreOf(untouched));
});

test('where the edits are already, applying their package changes nothing', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  editEverything(codebase);
  expect((await codebase.claw('pack', 'demo')).code).toBe(0);
  const before = codebase.tree();
  expect(await codebase.claw('apply', 'demo')).toMatchObject({ code: 0, json: { changes: [] } });
  expect(codebase.tree()).toEqual(before);
  expect((await codebase.claw('status')).json.data).toMatchObject({ edits: [] });
});

test('a fresh package holds bases, intent notes to fill in, and a first test; its manifest lists no files', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  codebase.write({ 'src/a.ts': LINES.replace('five', 'FIVE') });
  await codebase.claw('pack', 'demo', '--description', 'A demonstration');
  expect(codebase.read('skills/demo/base/src/a.ts')).toBe(LINES);
  expect(codebase.read('skills/demo/modify/src/a.ts.intent.md')).toContain('line 5');
  expect(codebase.read('skills/demo/tests/demo.test.ts')).toContain("from 'node:test'");
  expect(codebase.read('skills/demo/manifest.yaml')).toBe(
    'skill: demo\nversion: 1.0.0\ndescription: A demonstration\ncore_version: 1.0.0\n',
  );
});

test('what commits changed is packed by their range', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  codebase.write({ 'src/a.ts': LINES.replace('two', 'TWO') });
  commitAll(codebase, 'second');
  codebase.write({ 'src/a.ts': LINES.replace('two', 'TWO').replace('nine', 'unpacked') });
  const run = await codebase.claw('pack', 'demo', '--range', 'v1.0.0..HEAD');
  expect(run.code).toBe(0);
  expect(codebase.read('skills/demo/modify/src/a.ts')).toBe(LINES.replace('two', 'TWO'));
  expect(await codebase.claw('pack', 'other', '--range', 'nowhere..HEAD')).toMatchObject({
    json: { error: { code: 'USAGE' } },
  });
});

test('settings and packages are declared; what no skill may bring is told', async () => {
  await using codebase = temporaryCodebase(
    { ...CORE, '.env.example': 'HOST=localhost\n' },
    { git: true },
  );
  codebase.write({
    '.env.example': 'HOST=localhost\nDEMO_TOKEN=abc\n',
    'package.json': PACKAGE.replace('"1.0.0"', '"1.0.0",\n  "scripts": { "demo": "true" }'),
    'docker-compose.yml': 'services:\n  cache:\n    image: redis:7\n',
  });
  const run = await codebase.claw('pack', 'demo');
  expect(run.json.data).toMatchObject({
    left: [
      { path: 'package.json', what: ['scripts.demo'], why: expect.stringContaining('packages') },
    ],
  });
  const manifest = codebase.read('skills/demo/manifest.yaml');
  expect(manifest).toContain('name: DEMO_TOKEN');
  expect(manifest).toContain('image: redis:7');
  expect(manifest).not.toContain('scripts');
});

test('a package in place is not overwritten, and nothing to pack is said', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  expect(await codebase.claw('pack', 'demo')).toMatchObject({
    code: 2,
    json: { error: { code: 'USAGE' } },
  });
  addSkill(codebase, 'demo', { add: { 'src/x.ts': 'x\n' } });
  codebase.write({ 'src/a.ts': 'mine\n' });
  const before = codebase.tree();
  expect(await codebase.claw('pack', 'demo')).toMatchObject({
    code: 2,
    json: { error: { code: 'USAGE' } },
  });
  expect(codebase.tree()).toEqual(before);
});

test('where all edits are recorded, packing says so and how they become edits again', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  codebase.write({ 'src/a.ts': 'mine\n' });
  await codebase.claw('customize', 'my way');
  const { code, json } = await codebase.claw('pack', 'demo');
  expect(code).toBe(2);
  expect(json).toMatchObject({ error: { code: 'USAGE' } });
  expect(JSON.stringify(json)).toContain('What is recorded (custom-my-way) is a layer already');
  await codebase.claw('undo', '--yes');
  expect(await codebase.claw('pack', 'demo')).toMatchObject({ code: 0 });
});

test('what skills may not touch is not packed, and nothing is written', async () => {
  await using codebase = temporaryCodebase(
    { ...CORE, 'claw.config.yaml': 'protected: [safe/**]\n', 'safe/a.txt': 'a\n' },
    { git: true },
  );
  codebase.write({ 'safe/a.txt': 'b\n' });
  expect(await codebase.claw('pack', 'demo')).toMatchObject({
    code: 1,
    json: { error: { code: 'PATH_PROTECTED', path: 'safe/a.txt' } },
  });
  expect(codebase.has('skills')).toBe(false);
});

test('an edit of a file that a skill added makes the package depend on it', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  addSkill(codebase, 'alpha', { add: { 'src/alpha.ts': LINES } });
  await codebase.claw('apply', 'alpha');
  codebase.write({ 'src/alpha.ts': LINES.replace('two', 'TWO') });
  await codebase.claw('pack', 'demo');
  expect(codebase.read('skills/demo/manifest.yaml')).toContain('depends:\n  - alpha\n');
  expect(await codebase.claw('apply', 'demo')).toMatchObject({ code: 0, json: { changes: [] } });
});

test('--update writes a package against the core that is here now', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  codebase.write({ 'src/a.ts': LINES.replace('two', 'TWO') });
  await codebase.claw('pack', 'demo');
  codebase.git('checkout', '--quiet', 'src/a.ts');
  const newer = LINES.replace('eight', 'EIGHT');
  codebase.write({
    'src/a.ts': newer,
    'package.json': PACKAGE.replace('1.0.0', '1.1.0'),
  });
  commitAll(codebase, 'second');
  codebase.git('tag', 'v1.1.0');
  const run = await codebase.claw('pack', 'demo', '--update');
  expect(run).toMatchObject({ code: 0, json: { outcome: 'done' } });
  expect(codebase.read('skills/demo/base/src/a.ts')).toBe(newer);
  expect(codebase.read('skills/demo/modify/src/a.ts')).toBe(newer.replace('two', 'TWO'));
  expect(codebase.read('skills/demo/manifest.yaml')).toContain('core_version: 1.1.0');
  expect(codebase.read('skills/demo/manifest.yaml')).toContain('version: 1.0.1');
  expect(codebase.read('skills/demo/modify/src/a.ts.intent.md')).toContain('Must keep');
  expect(await codebase.claw('pack', 'demo', '--update')).toMatchObject({
    code: 0,
    json: { outcome: 'nothing' },
  });
});

test('--update is blocked where the core and the package disagree', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  addSkill(codebase, 'demo', { modify: { 'src/a.ts': [LINES, LINES.replace('two', 'TWO')] } });
  codebase.write({ 'src/a.ts': LINES.replace('two', 'due') });
  commitAll(codebase, 'second');
  codebase.git('tag', 'v1.1.0');
  const before = codebase.tree();
  const run = await codebase.claw('pack', 'demo', '--update');
  expect(run).toMatchObject({ code: 3, json: { outcome: 'blocked' } });
  expect(run.json.conflicts).toMatchObject([{ path: 'src/a.ts', layers: ['core', 'demo'] }]);
  expect(codebase.tree()).toEqual(before);
});

test('a test is begun in the language of the test command, and none where that is not known', async () => {
  await using codebase = temporaryCodebase(
    { 'notes.txt': 'one\n', 'claw.config.yaml': 'test: python3 -m pytest\n' },
    { git: true },
  );
  codebase.write({ 'notes.txt': 'mine\n' });
  const packed = await codebase.claw('pack', 'demo');
  expect(packed.json.data).toMatchObject({
    toWrite: [
      {
        path: 'skills/demo/modify/notes.txt.intent.md',
        sections: ['What', 'Key sections', 'Invariants', 'Must keep'],
      },
      { path: 'skills/demo/tests/test_demo.py', sections: [] },
      { path: 'skills/demo/SKILL.md', sections: ['description'] },
    ],
  });
  codebase.write({ 'notes.txt': 'one\nelse\n', 'claw.config.yaml': 'test: cargo test\n' });
  await codebase.claw('pack', 'other');
  const tests = Object.keys(codebase.tree()).filter((path) => path.includes('/tests/t'));
  expect(tests).toEqual(['skills/demo/tests/test_demo.py']);
});

test('what is protected stays the owner’s edit, and the rest is packed', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': 'one\n' }, { git: true });
  codebase.write({ 'notes.txt': 'mine\n', 'claw.config.yaml': 'test: sh\n' });
  const packed = await codebase.claw('pack', 'demo');
  expect(packed.json.data).toMatchObject({
    modifies: ['notes.txt'],
    left: [{ path: 'claw.config.yaml' }],
  });
  await codebase.claw('apply', 'demo');
  expect((await codebase.claw('status')).json.data).toMatchObject({
    edits: [{ path: 'claw.config.yaml' }],
  });
});

test('edits beside the lines of another skill are packed against the core; edits of its lines depend on it', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  addSkill(codebase, 'alpha', { modify: { 'src/a.ts': [LINES, LINES.replace('two', 'TWO')] } });
  await codebase.claw('apply', 'alpha');
  const composed = LINES.replace('two', 'TWO');
  codebase.write({ 'src/a.ts': composed.replace('eight', 'EIGHT') });
  expect((await codebase.claw('pack', 'free')).code).toBe(0);
  expect(codebase.read('skills/free/base/src/a.ts')).toBe(LINES);
  expect(codebase.read('skills/free/modify/src/a.ts')).toBe(LINES.replace('eight', 'EIGHT'));
  expect(codebase.read('skills/free/manifest.yaml')).not.toContain('depends');
  expect(await codebase.claw('apply', 'free')).toMatchObject({ code: 0, json: { changes: [] } });
  await codebase.claw('undo');

  codebase.write({ 'src/a.ts': composed.replace('TWO', 'TWO and a half') });
  expect((await codebase.claw('pack', 'bound')).code).toBe(0);
  expect(codebase.read('skills/bound/manifest.yaml')).toContain('depends:\n  - alpha\n');
  expect(await codebase.claw('apply', 'bound')).toMatchObject({ code: 0, json: { changes: [] } });
});

test('the first test imports what the skill brings, and fails where that is missing', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': 'one\n' }, { git: true });
  codebase.write({ 'src/dice.ts': 'export const roll = (): number => 4;\n', 'notes.txt': 'two\n' });
  await codebase.claw('pack', 'dice');
  const stub = codebase.read('skills/dice/tests/dice.test.ts');
  expect(stub).toContain("from '../../../src/dice.ts'");
  codebase.write({
    'skills/dice/add/src/dice.ts': 'export const throwAll = (): number => 4;\n',
    'src/dice.ts': 'export const throwAll = (): number => 4;\n',
  });
  codebase.remove('src/dice.ts');
  expect(await codebase.claw('apply', 'dice')).toMatchObject({
    code: 4,
    json: { error: { code: 'TESTS_FAILED' } },
  });
});

test('the first test of a skill without a module looks for a line that the skill writes', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': 'one\n' }, { git: true });
  codebase.write({ 'notes.txt': "one\nit's two\n" });
  await codebase.claw('pack', 'demo');
  codebase.write({ 'notes.txt': 'one\n' });
  expect(codebase.read('skills/demo/tests/demo.test.mjs')).toContain("it\\'s two");
  expect(await codebase.claw('apply', 'demo')).toMatchObject({
    code: 0,
    json: { data: { proof: { tests: 1 } } },
  });
});

test('the comment above a setting becomes its description, and no value of .env its example', async () => {
  const example = '# Mine.\nHOST=localhost\n';
  await using codebase = temporaryCodebase({ ...CORE, '.env.example': example }, { git: true });
  codebase.write({
    '.gitignore': '.env\n',
    '.env': 'DEMO_TOKEN=abc\nDEMO_URL=https://a.example\n',
    '.env.example': `${example}\n# Token of the demo.\n# From its page.\nDEMO_TOKEN=abc\nDEMO_SIZE=3\n`,
  });
  const run = await codebase.claw('pack', 'demo');
  const manifest = codebase.read('skills/demo/manifest.yaml');
  expect(manifest).toContain('Token of the demo.');
  expect(manifest).toContain('From its page.');
  expect(manifest).toContain('example: "3"');
  expect(manifest).not.toContain('abc');
  expect(run.json.data).toMatchObject({
    left: expect.arrayContaining([
      { path: '.env.example', what: ['DEMO_TOKEN'], why: expect.stringContaining('.env') },
    ]),
  });
});

test('a package that would hold a secret of .env is refused, whatever file it is in', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  codebase.write({
    '.gitignore': '.env\n',
    '.env': 'DEMO_TOKEN=4711-very-secret\n',
    'src/new.ts': "export const token = '4711-very-secret';\n",
  });
  expect(await codebase.claw('pack', 'demo')).toMatchObject({
    code: 1,
    json: { error: { code: 'SECRET_FOUND', path: 'add/src/new.ts' } },
  });
  expect(codebase.has('skills')).toBe(false);
});

test.each([
  ['api_token=sk-live-lower-12345', 'sk-live-lower-12345'],
  ['DATABASE_URL=postgres://bob:hunter2hunter2@db/x', 'hunter2hunter2'],
  ['SLACK_WEBHOOK=https://hooks.example/T0/B0', 'https://hooks.example/T0/B0'],
  ['SIGNING="-----BEGIN KEY-----\nMIIEabcdefghi\n-----END KEY-----"', 'MIIEabcdefghi'],
])('with %s in .env, a package that would hold %s is refused', async (setting, text) => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  codebase.write({
    '.gitignore': '.env\n',
    '.env': `ASSISTANT_NAME=Andy\n${setting}\n`,
    'src/new.ts': `export const mine = '${text}';\n`,
  });
  expect(await codebase.claw('pack', 'demo')).toMatchObject({
    code: 1,
    json: { error: { code: 'SECRET_FOUND', path: 'add/src/new.ts' } },
  });
  expect(codebase.has('skills')).toBe(false);
});

test('a secret of .env that the commits of a range take out does not come along as base', async () => {
  const core = { ...CORE, '.gitignore': '.env\n', 'src/key.ts': "use('4711-very-secret');\n" };
  await using codebase = temporaryCodebase(core, { git: true });
  codebase.write({ '.env': 'DEMO_TOKEN=4711-very-secret\n', 'src/key.ts': 'use(fromEnv());\n' });
  commitAll(codebase, 'take the token out');
  const run = await codebase.claw('pack', 'demo', '--range', 'HEAD~1..HEAD');
  expect(run).toMatchObject({
    code: 1,
    json: { error: { code: 'SECRET_FOUND', path: 'base/src/key.ts' } },
  });
  expect(codebase.has('skills')).toBe(false);
});

test('a skill that would change nothing is refused, with what stays out and why', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  codebase.write({
    'package.json': PACKAGE.replace('"1.0.0"', '"1.0.0",\n  "scripts": { "demo": "true" }'),
  });
  const run = await codebase.claw('pack', 'demo');
  expect(run).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
  expect(run.json.error?.message).toContain('scripts.demo');
  expect(codebase.has('skills')).toBe(false);
});
