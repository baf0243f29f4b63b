import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../src/testing/codebase.ts';

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
  codebase.write({ '.claw/packages/demo/manifest.yaml': '[' });
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

test('verify names the kept file that is damaged', async () => {
  await using codebase = await installation();
  codebase.write({ '.claw/composed/src/a.ts': 'tampered\n' });
  const run = await codebase.claw('verify');
  const path = '.claw/composed/src/a.ts';
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
