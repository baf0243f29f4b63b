import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import * as engine from '../../../packages/claw/src/index.ts';
import {
  addSkill,
  CLAW,
  type Codebase,
  commitAll,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { contextOf } from '../in-process.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';

async function installation(files = {}): Promise<Codebase> {
  const codebase = temporaryCodebase({ 'src/a.ts': LINES, ...files }, { git: true });
  addSkill(codebase, 'demo', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] } });
  expect((await codebase.claw('apply', 'demo')).code).toBe(0);
  return codebase;
}

test('a core that was tampered with never gets into the tree, and replay finds it again', async () => {
  await using codebase = await installation();
  const before = codebase.tree();
  codebase.write({ '.claw/base/src/a.ts': 'tampered\n' });
  for (const verb of ['remove', 'plan remove', 'verify']) {
    const run = await codebase.claw(...verb.split(' '), ...(verb === 'verify' ? [] : ['demo']));
    expect(run, verb).toMatchObject({ code: 1, json: { error: { code: 'DIGEST_MISMATCH' } } });
    expect(run.json.error?.path, verb).toContain('.claw/base');
  }
  expect(codebase.tree()).toEqual(before);
  expect((await codebase.claw('replay')).code).toBe(0);
  expect(codebase.read('.claw/base/src/a.ts')).toBe(LINES);
  expect((await codebase.claw('remove', 'demo')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(LINES);
});

test('a kept package that was damaged is taken from its source', async () => {
  await using codebase = await installation();
  codebase.write({ '.claw/packages/demo.package': '[' });
  expect((await codebase.claw('remove', 'demo')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(LINES);
});

test('what the owner protects later does not keep a skill in', async () => {
  await using codebase = await installation();
  codebase.write({ 'claw.config.yaml': 'protected: [src/**]\n' });
  expect((await codebase.claw('remove', 'demo')).code).toBe(0);
  const again = await codebase.claw('apply', 'demo');
  expect(again).toMatchObject({ code: 1, json: { error: { code: 'PATH_PROTECTED' } } });
});

test('a state that names files outside the project is no state', async () => {
  await using codebase = await installation();
  const state = codebase.read('.claw/state.yaml');
  codebase.write({ '.claw/state.yaml': state.replace('src/a.ts:', '../../../etc/passwd:') });
  for (const verb of [['status'], ['remove', 'demo'], ['replay']]) {
    const run = await codebase.claw(...verb);
    expect(run).toMatchObject({ code: 1, json: { error: { code: 'STATE_INVALID' } } });
  }
});

test.each([
  '.git/config',
  'src/.GIT/hooks/pre-commit',
  '.claw/packages/demo/manifest.yaml',
  'GIT~1/config',
  'node_modules/a/index.js',
])('a state that claims %s is no state, and no command rewrites it', async (path) => {
  await using codebase = await installation();
  const good = codebase.read('.claw/state.yaml');
  const bad = good.replace('files:\n', `files:\n  ${path}: sha256:${'0'.repeat(64)}\n`);
  codebase.write({ '.claw/state.yaml': bad });
  for (const verb of [['replay'], ['status'], ['remove', 'demo']]) {
    const run = await codebase.claw(...verb);
    expect(run).toMatchObject({ code: 1, json: { error: { code: 'STATE_INVALID' } } });
    expect(run.json.error?.message).toContain(path);
  }
  expect(codebase.read('.claw/state.yaml')).toBe(bad);
  const inferred = good.replace(
    /( {4}installed: .*\n)/,
    `$1    inferred_bases:\n      ${path}: unknown\n`,
  );
  codebase.write({ '.claw/state.yaml': inferred });
  const run = await codebase.claw('replay');
  expect(run).toMatchObject({ code: 1, json: { error: { code: 'STATE_INVALID' } } });
});

test('a customisation may have changed what no skill may, and its state is a state', async () => {
  await using codebase = await installation({ '.npmrc': 'audit=false\n' });
  codebase.write({ '.npmrc': 'audit=true\n', 'claw.config.yaml': 'protected: [locked/**]\n' });
  const allowed = ['--allow', '.npmrc', '--allow', 'claw.config.yaml'];
  expect((await codebase.claw('customize', 'settings', ...allowed)).code).toBe(0);
  expect((await codebase.claw('replay')).code).toBe(0);
  expect((await codebase.claw('status')).code).toBe(0);
  expect(codebase.read('.claw/state.yaml')).toContain('claw.config.yaml: sha256:');
});

test('verify names the kept file that is damaged', async () => {
  await using codebase = await installation();
  codebase.write({ '.claw/composed/src/a.ts': 'tampered\n' });
  const run = await codebase.claw('verify');
  const path = '.claw/composed/src/a.ts';
  expect(run).toMatchObject({ code: 1, json: { error: { code: 'DIGEST_MISMATCH', path } } });
});

test('verify names a recording that is in use and gone', async () => {
  await using codebase = await installation();
  addSkill(codebase, 'rival', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'rival')] } });
  expect((await codebase.claw('apply', 'rival')).code).toBe(3);
  await codebase.claw('resolve', 'src/a.ts', '--theirs');
  expect((await codebase.claw('continue')).code).toBe(0);
  const [recording] = Object.keys(codebase.state()).filter((path) =>
    /^resolutions\/.*yaml$/.test(path),
  );
  codebase.remove(`.claw/${recording}`);
  const run = await codebase.claw('verify');
  const path = `.claw/${recording}`;
  expect(run).toMatchObject({ code: 1, json: { error: { code: 'DIGEST_MISMATCH', path } } });
});

test('an unreadable configuration or pending operation is no fault of claw', async () => {
  await using codebase = await installation();
  codebase.write({ '.claw/pending/.claw-operation.yaml': '{[' });
  expect((await codebase.claw('status')).json.data).toMatchObject({ pending: null });
  codebase.write({ 'claw.config.yaml': 'check: *nothing\n' });
  const run = await codebase.claw('status');
  expect(run).toMatchObject({ code: 1, json: { error: { code: 'CONFIG_INVALID' } } });
});

const STATE = '.claw/state.yaml';
const NO_RELEASE = { release: null, coreVersion: null };

/** Every verb that needs to know what is installed. */
const VERBS: Readonly<Record<string, (context: engine.EngineContext) => Promise<unknown>>> = {
  init: (context) => engine.init(context, NO_RELEASE),
  apply: (context) => engine.apply(context, ['other']),
  remove: (context) => engine.remove(context, ['demo']),
  upgrade: (context) => engine.upgrade(context, []),
  replay: (context) => engine.replay(context),
  plan: (context) => engine.plan(context, { verb: 'remove', args: ['demo'], release: NO_RELEASE }),
  status: (context) => engine.status(context),
  list: (context) => engine.list(context, { available: false }),
  verify: (context) => engine.verify(context),
  why: (context) => engine.why(context, 'src/a.ts'),
  diff: (context) => engine.diff(context, 'demo'),
};

/** No verb takes such a state for anything; tree and `.claw` stay as they are. */
async function expectRefused(codebase: Codebase, text: string): Promise<void> {
  codebase.write({ [STATE]: text });
  const before = [codebase.tree(), codebase.state()];
  for (const [verb, run] of Object.entries(VERBS)) {
    const error: unknown = await run(contextOf(codebase)).catch((thrown: unknown) => thrown);
    const label = `${verb} on ${JSON.stringify(text.slice(-40))}`;
    expect(error, label).toMatchObject({
      code: 'STATE_INVALID',
      message: expect.stringMatching(/^\.claw\/state\.yaml, line \d+: ./),
    });
  }
  expect([codebase.tree(), codebase.state()]).toEqual(before);
  expect(codebase.has('.claw/pending')).toBe(false);
}

test('a state that is cut short at any place is refused by every verb', async () => {
  await using codebase = await installation({ 'package.json': '{ "version": "1.0.0" }\n' });
  const structured = { env_additions: ['ONE', 'TWO'] };
  addSkill(codebase, 'env', { manifest: { structured } });
  expect((await codebase.claw('apply', 'env')).code).toBe(0);
  addSkill(codebase, 'other', { add: { 'new.ts': 'new\n' } });
  const state = codebase.read(STATE);
  for (let length = 0; length < state.length; length += 50) {
    await expectRefused(codebase, state.slice(0, length));
  }
  await expectRefused(codebase, state.replace('      - TWO\n...\n', ''));
  await expectRefused(codebase, state.replace('- TWO\n...\n', '- TW'));
});

test('a state that was edited into nonsense is refused by every verb', async () => {
  await using codebase = await installation();
  addSkill(codebase, 'other', { add: { 'new.ts': 'new\n' } });
  const state = codebase.read(STATE);
  for (const text of [
    '[]\n',
    'null\n',
    '\u0000\u0001\u0002',
    state.replace(/^version: .*\n/m, ''),
    state.replace(/^version: 1$/m, 'version: 2'),
    state.replace(/^version: 1$/m, 'version: "1"'),
    state.replace('  - name: demo', '  - name: ../demo'),
    state.replace(/( +digest: sha256:.{10})./, '$1?'),
    state.replace('installed: ', 'installed: yesterday # '),
    state.replace('files:', 'files:\n  src/a.ts: deleted'),
    state.replace('layers:', 'layers: *nothing'),
    state.replaceAll('  ', '\t'),
    state.replace(/^files:/m, 'extra: 1\nfiles:'),
    `${state}---\n${state}`,
  ]) {
    expect(text).not.toBe(state);
    await expectRefused(codebase, text);
  }
});

test('a state with git’s conflict markers in it is refused by every verb', async () => {
  await using codebase = await installation();
  commitAll(codebase, 'demo');
  for (const [branch, skill] of [
    ['one', 'alpha'],
    ['two', 'beta'],
  ] as const) {
    codebase.git('checkout', '--quiet', '-b', branch, 'main');
    addSkill(codebase, skill, { add: { [`${skill}.ts`]: 'new\n' } });
    expect((await codebase.claw('apply', skill)).code).toBe(0);
    commitAll(codebase, skill);
  }
  expect(() => codebase.git('merge', 'one')).toThrow();
  const merged = codebase.read(STATE);
  addSkill(codebase, 'other', { add: { 'new.ts': 'new\n' } });
  expect(merged).toContain('<<<<<<< ');
  await expectRefused(codebase, merged);
  expect((await codebase.claw('status')).json.error?.message).toMatch(
    /line \d+: git left a conflict/,
  );
});

test('a package that changed under its version is named by every verb that needs it', async () => {
  await using codebase = await installation();
  addSkill(codebase, 'other', { add: { 'new.ts': 'new\n' } });
  codebase.write({ 'skills/demo/SKILL.md': 'changed\n' });
  const kept = codebase.read('.claw/packages/demo.package');
  codebase.write({ '.claw/packages/demo.package': kept.replace('for tests', 'for tasks') });
  const before = codebase.tree();
  for (const args of [
    ['apply', 'demo'],
    ['apply', 'other'],
    ['plan', 'apply', 'other'],
    ['remove', 'demo'],
    ['upgrade', 'demo'],
    ['replay'],
    ['verify'],
    ['why', 'src/a.ts'],
    ['diff', 'demo'],
  ]) {
    const { code, json } = await codebase.claw(...args);
    expect(code, args.join(' ')).toBe(1);
    expect(json.error, args.join(' ')).toMatchObject({
      code: 'DIGEST_MISMATCH',
      message: expect.stringContaining('demo 1.0.0'),
    });
  }
  expect(codebase.tree()).toEqual(before);
});

test('without .claw/packages the sources serve, and the packages are kept again', async () => {
  await using codebase = await installation();
  addSkill(codebase, 'other', { add: { 'new.ts': 'new\n' } });
  const kept = codebase.read('.claw/packages/demo.package');
  codebase.remove('.claw/packages');
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
  expect((await codebase.claw('apply', 'other')).code).toBe(0);
  expect(codebase.read('.claw/packages/demo.package')).toBe(kept);
});

test.each(['.claw/base/src/a.ts', '.claw/composed/src/a.ts'])(
  'without %s nothing is guessed, and replay puts it back',
  async (path) => {
    await using codebase = await installation();
    const whole = codebase.state();
    codebase.remove(path);
    const before = codebase.tree();
    for (const args of [['remove', 'demo'], ['plan', 'remove', 'demo'], ['verify']]) {
      const run = await codebase.claw(...args);
      expect(run).toMatchObject({ code: 1, json: { error: { code: 'DIGEST_MISMATCH' } } });
    }
    expect(codebase.tree()).toEqual(before);
    expect((await codebase.claw('replay')).code).toBe(0);
    expect(codebase.state()).toEqual(whole);
    expect((await codebase.claw('remove', 'demo')).code).toBe(0);
  },
);

test('three skills that need each other in a circle are named in its order', async () => {
  await using codebase = await installation();
  for (const [skill, needed] of [
    ['a', 'b'],
    ['b', 'c'],
    ['c', 'a'],
  ] as const) {
    addSkill(codebase, skill, { add: { [skill]: 'new\n' }, manifest: { depends: [needed] } });
  }
  const before = codebase.tree();
  const run = await codebase.claw('apply', 'c', 'a', 'b');
  expect(run).toMatchObject({ code: 1, json: { error: { code: 'GRAPH_INVALID' } } });
  expect(run.json.error?.message).toMatch(/a → b → c → a|b → c → a → b|c → a → b → c/);
  expect(codebase.tree()).toEqual(before);
});

test('a folder where the lock belongs is named', async () => {
  await using codebase = await installation();
  mkdirSync(codebase.path('.claw/lock.db'));
  const run = await codebase.claw('remove', 'demo');
  expect(run).toMatchObject({ code: 1, json: { error: { code: 'IO_FAILED' } } });
  expect(run.json.error?.message).toMatch(/lock\.db is a folder/);
  expect((await codebase.claw('status')).code).toBe(0);
});

const hasBubblewrap = spawnSync('bwrap', ['--dev-bind', '/', '/', 'true']).status === 0;

test.skipIf(!hasBubblewrap)('a .claw that cannot be written serves for reading', async () => {
  await using codebase = await installation();
  const folder = codebase.path('.claw');
  const readOnly = (...args: string[]) => {
    const command = [process.execPath, CLAW, ...args, '--cwd', codebase.root, '--json'];
    const run = spawnSync(
      'bwrap',
      ['--dev-bind', '/', '/', '--ro-bind', folder, folder, ...command],
      {
        encoding: 'utf8',
      },
    );
    return { code: run.status, json: JSON.parse(run.stdout) };
  };
  for (const args of [['status'], ['list'], ['verify'], ['plan', 'remove', 'demo']]) {
    expect(readOnly(...args)).toMatchObject({ code: 0, json: { outcome: 'done', error: null } });
  }
  const before = codebase.tree();
  const refused = readOnly('remove', 'demo');
  expect(refused).toMatchObject({ code: 1, json: { error: { code: 'IO_FAILED' } } });
  expect(refused.json.error.message).toMatch(/EROFS.*may you write there/);
  expect(codebase.tree()).toEqual(before);
  const { findings } = readOnly('doctor').json.data;
  expect(findings).toContainEqual(expect.objectContaining({ area: 'folder', ok: false }));
});

test.each([
  ['that a YAML tool wrote anew', ''],
  [
    'of an engine that marked no end',
    '# What is installed here. Written by claw; commit it together with the tree.\n',
  ],
])('a state %s is a state', async (_, heading) => {
  await using codebase = temporaryCodebase({ 'a.txt': 'one\n' }, { git: true });
  addSkill(codebase, 'demo', { add: { 'b.txt': 'two\n' } });
  await codebase.claw('apply', 'demo');
  const plain = stringify(parse(codebase.read('.claw/state.yaml')));
  codebase.write({ '.claw/state.yaml': heading + plain });
  expect(await codebase.claw('status')).toMatchObject({ code: 0 });
  expect(await codebase.claw('remove', 'demo')).toMatchObject({ code: 0 });
  expect(codebase.has('b.txt')).toBe(false);
});
