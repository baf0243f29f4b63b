import { expect, test } from 'vitest';
import { addSkill, commitAll, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';

/** A codebase with two tagged releases, of which the older one is what the owner stands on. */
function twoReleases() {
  const codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  codebase.write({ 'a.txt': LINES.replace('seven', 'SEVEN') });
  commitAll(codebase, 'second');
  codebase.git('tag', 'v2.0.0');
  addSkill(codebase, 'demo', { modify: { 'a.txt': [LINES, LINES.replace('one', 'ONE')] } });
  return codebase;
}

test('the first apply takes the release that is named, and its plan as well', async () => {
  await using codebase = twoReleases();
  const named = ['demo', '--release', 'v1.0.0', '--core-version', '1.2.3'];
  const planned = await codebase.claw('plan', 'apply', ...named);
  expect(planned).toMatchObject({ code: 0, json: { data: { assumed: [] } } });
  expect(codebase.has('.claw')).toBe(false);
  expect(await codebase.claw('apply', ...named)).toMatchObject({ code: 0 });
  const status = await codebase.claw('status');
  // What HEAD has beyond that release is the owner's.
  expect(status.json.data).toMatchObject({
    core: { version: '1.2.3', from: 'tag', assumed: false },
    edits: [{ path: 'a.txt', kind: 'modify' }],
  });
  expect(codebase.read('a.txt')).toBe(LINES.replace('one', 'ONE').replace('seven', 'SEVEN'));
});

test('a release that is named where one is taken already is refused, planned or not', async () => {
  await using codebase = twoReleases();
  await codebase.claw('apply', 'demo');
  addSkill(codebase, 'other', { add: { 'other.txt': 'o\n' } });
  for (const verb of [['apply'], ['plan', 'apply']]) {
    const run = await codebase.claw(...verb, 'other', '--release', 'v1.0.0');
    expect(run).toMatchObject({ code: 1, json: { error: { code: 'ALREADY_INITIALISED' } } });
    expect(run.json.error?.message).toContain('claw update');
  }
});

test('a plan refuses what the verb itself does not take', async () => {
  await using codebase = twoReleases();
  await codebase.claw('apply', 'demo');
  const run = await codebase.claw('plan', 'remove', 'demo', '--release', 'v1.0.0');
  expect(run).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
  expect(run.json.error?.message).toContain('remove');
});

test('a first apply that conflicts goes on with the release that was named', async () => {
  await using codebase = twoReleases();
  addSkill(codebase, 'demo', { modify: { 'a.txt': [LINES, LINES.replace('seven', 'mine')] } });
  expect(await codebase.claw('apply', 'demo', '--release', 'v1.0.0')).toMatchObject({ code: 3 });
  await codebase.claw('resolve', 'a.txt', '--theirs');
  expect(await codebase.claw('continue')).toMatchObject({ code: 0 });
  const status = await codebase.claw('status');
  expect(status.json.data).toMatchObject({ core: { assumed: false } });
  expect(codebase.read('a.txt')).toBe(LINES.replace('seven', 'mine'));
});

test('status lists edits before anything is installed, and leaves nothing behind', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES, 'b.txt': 'b\n' }, { git: true });
  codebase.write({ 'a.txt': LINES.replace('two', 'TWO'), 'new.txt': 'new\n' });
  codebase.remove('b.txt');
  const status = await codebase.claw('status');
  expect(status).toMatchObject({
    code: 0,
    json: {
      data: {
        initialised: false,
        release: { version: '1.0.0', from: 'tag' },
        edits: [
          { path: 'a.txt', kind: 'modify' },
          { path: 'b.txt', kind: 'delete' },
          { path: 'new.txt', kind: 'add' },
        ],
      },
    },
  });
  expect(codebase.has('.claw')).toBe(false);
});

test('a plan to remove names the skill that goes, not those that stay', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  addSkill(codebase, 'alpha', { modify: { 'a.txt': [LINES, LINES.replace('one', 'ONE')] } });
  addSkill(codebase, 'beta', { modify: { 'a.txt': [LINES, LINES.replace('seven', 'SEVEN')] } });
  await codebase.claw('apply', 'alpha', 'beta');
  const { json } = await codebase.claw('plan', 'remove', 'beta');
  expect(json.changes).toEqual([{ path: 'a.txt', kind: 'modify', cause: 'remove beta' }]);
});

test('a manifest need not say that it adds or modifies nothing', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  for (const [name, parts] of Object.entries({
    adding: { add: { 'new.txt': 'new\n' }, manifest: { modifies: undefined } },
    changing: {
      modify: { 'a.txt': [LINES, LINES.replace('one', 'ONE')] as const },
      manifest: { adds: undefined },
    },
  })) {
    addSkill(codebase, name, parts);
    expect(codebase.read(`skills/${name}/manifest.yaml`)).not.toMatch(
      name === 'adding' ? 'modifies' : 'adds',
    );
    expect(await codebase.claw('apply', name)).toMatchObject({ code: 0 });
    expect(await codebase.claw('remove', name)).toMatchObject({ code: 0 });
  }
});

test('without git, a core that holds a secret of .env is said to be copied with it', async () => {
  await using codebase = temporaryCodebase({
    'a.mjs': "export const token = 'sk-abcdef0123456789XYZ';\n",
    'b.mjs': 'export const b = process.env.API_TOKEN;\n',
    '.env': 'API_TOKEN=sk-abcdef0123456789XYZ\n',
  });
  for (const verb of [['plan', 'init'], ['init']]) {
    const { code, json } = await codebase.claw(...verb);
    expect(code).toBe(0);
    const told = json.warnings.filter((warning) => warning.includes('API_TOKEN'));
    expect(told).toEqual([
      expect.stringMatching(/^a\.mjs holds the value of API_TOKEN .*\.claw\/base/),
    ]);
    expect(told.join()).not.toContain('sk-abc');
  }
  expect(codebase.has('.claw/base/.env')).toBe(false);
  // Afterwards it is nothing new.
  expect((await codebase.claw('status')).json.warnings.join()).not.toContain('API_TOKEN');
  codebase.write({ 'c.mjs': "export const again = 'sk-abcdef0123456789XYZ';\n" });
  const pack = await codebase.claw('pack', 'mine');
  expect(pack.json.error).toMatchObject({ code: 'SECRET_FOUND', path: 'add/c.mjs' });
});
