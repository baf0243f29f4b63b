import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';
import { startAnthropicServer } from '../../../src/testing/model/anthropic.ts';

const CODE = 'export const one = 1;\n\nexport const two = 2;\n\nexport const three = 3;\n';
const A = CODE.replace('= 2', "= 'a'");
const B = CODE.replace('= 2', "= 'b'");
const B_TEST = `import test from 'node:test';
test('b', async () => {
  const { two } = await import('../../../src/a.ts');
  if (two !== 'b') throw new Error('b is lost');
});
`;

/** Two skills that disagree on one line; the second has a test. */
async function disagreement(): Promise<Codebase> {
  const codebase = temporaryCodebase({ 'src/a.ts': CODE, 'src/b.ts': 'export {};\n' });
  addSkill(codebase, 'a', { modify: { 'src/a.ts': [CODE, A] } });
  addSkill(codebase, 'b', {
    modify: { 'src/a.ts': [CODE, B] },
    add: { 'src/c.ts': 'export {};\n' },
    tests: { 'b.test.ts': B_TEST },
  });
  await codebase.claw('apply', 'a');
  expect((await codebase.claw('apply', 'b')).code).toBe(3);
  return codebase;
}

test('continue --prove runs checks and tests, and changes nothing; continue then need not run them again', async () => {
  await using codebase = await disagreement();
  const { details, installed } = (await codebase.claw('conflicts')).json.data as {
    details: object[];
    installed: object;
  };
  const [detail] = details;
  const { state, layers } = (await codebase.claw('status')).json.data as {
    state: string;
    layers: { name: string }[];
  };
  expect(installed).toEqual({ state, layers: layers.map(({ name }) => name) });
  expect(detail).toMatchObject({
    decided: false,
    decision: null,
    decidable: true,
    places: [{ line: 3 }],
    sizes: { ours: A.length, theirs: B.length },
  });
  await codebase.claw('resolve', 'src/a.ts', '--ours');
  const failed = await codebase.claw('continue', '--prove');
  expect(failed).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });

  await codebase.claw('resolve', 'src/a.ts', '--theirs');
  const before = codebase.tree();
  const proved = await codebase.claw('continue', '--prove');
  expect(proved).toMatchObject({
    code: 0,
    json: {
      outcome: 'done',
      data: { verb: 'apply', isTrial: true, proof: { checks: 0, tests: 1 } },
    },
  });
  expect(proved.stderr).toContain('test: b');
  expect(codebase.tree()).toEqual(before);
  const { data } = (await codebase.claw('conflicts')).json;
  expect(data).toMatchObject({ open: [], details: [{ decision: { origin: 'owner' } }] });
  expect(JSON.stringify(data)).toContain("-export const two = 'a';\\n+export const two = 'b';\\n");

  const { plan } = proved.json.data as { plan: string };
  const done = await codebase.claw('continue', '--expect', plan);
  expect(done).toMatchObject({ code: 0, json: { data: { proof: { tests: 1 } } } });
  expect(done.stderr).not.toContain('test: b');
  expect(codebase.read('src/a.ts')).toBe(B);
});

test('what is edited after the proof is proved again, and a plan that is another one is not carried out', async () => {
  await using codebase = await disagreement();
  await codebase.claw('resolve', 'src/a.ts', '--theirs');
  const { plan } = (await codebase.claw('continue', '--prove')).json.data as { plan: string };
  const edited = A.replace('three = 3', "three = 'my own'");
  codebase.write({ 'src/a.ts': edited });
  const refused = await codebase.claw('continue', '--expect', plan);
  expect(refused).toMatchObject({ code: 1, json: { error: { code: 'PLAN_CHANGED' } } });
  expect(codebase.read('src/a.ts')).toBe(edited);

  const again = (await codebase.claw('continue', '--prove')).json.data as { plan: string };
  codebase.write({ 'src/b.ts': 'export const other = 1;\n' });
  const done = await codebase.claw('continue', '--expect', again.plan);
  expect(done.code).toBe(0);
  // Proved again, although the test reaches nothing that was edited since.
  expect(done.stderr).toContain('passed before on the same files');
  expect(codebase.read('src/a.ts')).toBe(B.replace('three = 3', "three = 'my own'"));
  expect(codebase.read('src/b.ts')).toBe('export const other = 1;\n');
});

test('what is installed is part of a proof: an edit in node_modules makes it run again', async () => {
  await using codebase = await disagreement();
  codebase.write({ '.gitignore': 'node_modules\n', 'node_modules/dep/i.js': 'exports.one = 1;\n' });
  await codebase.claw('resolve', 'src/a.ts', '--theirs');
  expect((await codebase.claw('continue', '--prove')).stderr).toContain('test: b');
  expect((await codebase.claw('continue', '--prove')).stderr).not.toContain('test: b');
  codebase.write({ 'node_modules/dep/i.js': 'exports.one = 22;\n' });
  const done = await codebase.claw('continue');
  expect(done).toMatchObject({ code: 0 });
  expect(done.stderr).toContain('test: b');
});

test('--expect holds any command to the plan that was looked at', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': CODE });
  addSkill(codebase, 'a', { modify: { 'src/a.ts': [CODE, A] } });
  const { plan } = (await codebase.claw('plan', 'apply', 'a')).json.data as { plan: string };
  const mine = CODE.replace('one = 1', 'one = 11');
  codebase.write({ 'src/a.ts': mine });
  expect(await codebase.claw('apply', 'a', '--expect', plan)).toMatchObject({
    code: 1,
    json: { error: { code: 'PLAN_CHANGED' } },
  });
  expect(codebase.read('src/a.ts')).toBe(mine);
  const now = (await codebase.claw('plan', 'apply', 'a')).json.data as { plan: string };
  expect((await codebase.claw('apply', 'a', '--expect', now.plan)).code).toBe(0);
});

test('--both keeps the lines of both sides, in either order', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': CODE });
  for (const [name, text] of [
    ['c', 'one\nthe c\nthree\n'],
    ['d', 'one\nthe d\nthree\n'],
  ] as const) {
    addSkill(codebase, name, { add: { 'notes.md': text } });
  }
  expect((await codebase.claw('apply', 'c', 'd')).code).toBe(3);
  expect((await codebase.claw('resolve', 'notes.md', '--both', 'theirs')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('notes.md')).toContain('the d\nthe c\n');
  expect((await codebase.claw('resolve', 'x', '--both', 'nobody')).code).toBe(2);
});

test('while the model thinks, other commands go on; its answer to what is gone decides nothing', async () => {
  const thinking = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const server = await startAnthropicServer(async () => {
    thinking.resolve();
    await answer.promise;
    return [{ type: 'text', text: '{"hunks": ["export const two = 0;\\n"]}' }];
  });
  await using codebase = await disagreement();
  codebase.write({ '.env': `ANTHROPIC_API_KEY=sk-test\nANTHROPIC_BASE_URL=${server.url}\n` });
  const asked = codebase.claw('resolve', '--agent');
  await thinking.promise;
  expect((await codebase.claw('abort')).json.outcome).toBe('done');
  addSkill(codebase, 'c', { modify: { 'src/a.ts': [CODE, CODE.replace('= 2', "= 'c'")] } });
  expect((await codebase.claw('apply', 'c')).code).toBe(3);
  answer.resolve();
  expect(await asked).toMatchObject({ code: 1, json: { error: { code: 'STATE_CHANGED' } } });
  expect((await codebase.claw('conflicts')).json.data).toMatchObject({ open: ['src/a.ts'] });
  await server.close();
});
