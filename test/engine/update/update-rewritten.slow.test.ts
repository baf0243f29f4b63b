import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';
import { addRelease, versioned } from '../releases.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const REWRITTEN = 'eins\nzwei\ndrei\n';
const changed = (...words: readonly string[]) =>
  words.reduce((text, word) => text.replace(`${word}\n`, `${word.toUpperCase()}\n`), LINES);

/** A core whose next release rewrites a file that three skills change, each in another place. */
async function updated(): Promise<Codebase> {
  const codebase = temporaryCodebase(
    { 'package.json': versioned('1.0.0'), 'src/c.ts': LINES },
    { git: true },
  );
  for (const [name, word] of [
    ['alpha', 'one'],
    ['beta', 'five'],
    ['gamma', 'nine'],
  ] as const) {
    addSkill(codebase, name, { modify: { 'src/c.ts': [LINES, changed(word)] } });
  }
  addRelease(codebase, 'v1.1.0', {
    files: { 'package.json': versioned('1.1.0'), 'src/c.ts': REWRITTEN },
  });
  await codebase.claw('apply', 'alpha', 'beta', 'gamma');
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.code).toBe(3);
  expect(run.json.conflicts).toMatchObject([
    {
      path: 'src/c.ts',
      layers: ['core', 'alpha, beta, gamma'],
      hunks: [{ base: LINES, ours: REWRITTEN, theirs: changed('one', 'five', 'nine') }],
    },
  ]);
  return codebase;
}

async function holds(codebase: Codebase, text: string): Promise<void> {
  expect(codebase.read('src/c.ts')).toBe(text);
  expect(await codebase.claw('replay')).toMatchObject({ code: 0, json: { conflicts: [] } });
  expect(await codebase.claw('verify')).toMatchObject({ code: 0 });
  expect(codebase.read('src/c.ts')).toBe(text);
}

test.concurrent('a file that a release rewrites is asked about once for all skills; the release’s lines hold for each', async () => {
  await using codebase = await updated();
  expect((await codebase.claw('resolve', 'src/c.ts', '--take', 'release')).code).toBe(0);
  expect(await codebase.claw('continue')).toMatchObject({ code: 0 });
  await holds(codebase, REWRITTEN);
  for (const name of ['alpha', 'gamma', 'beta']) {
    expect(await codebase.claw('remove', name)).toMatchObject({ code: 0 });
    await holds(codebase, REWRITTEN);
  }
});

test.concurrent('the skills’ lines of a rewritten file hold for each that stays', async () => {
  await using codebase = await updated();
  expect((await codebase.claw('resolve', 'src/c.ts', '--take', 'alpha')).code).toBe(0);
  expect(await codebase.claw('continue')).toMatchObject({ code: 0 });
  await holds(codebase, changed('one', 'five', 'nine'));
  const own = { changesNothing: false };
  expect((await codebase.claw('status')).json.data).toMatchObject({ layers: [own, own, own] });
  expect(await codebase.claw('remove', 'alpha')).toMatchObject({ code: 0 });
  await holds(codebase, changed('five', 'nine'));
  expect(await codebase.claw('remove', 'gamma')).toMatchObject({ code: 0 });
  await holds(codebase, changed('five'));
  expect(await codebase.claw('apply', 'gamma', 'alpha')).toMatchObject({ code: 0 });
  await holds(codebase, changed('one', 'five', 'nine'));
  expect(await codebase.claw('remove', 'alpha', 'beta', 'gamma')).toMatchObject({ code: 0 });
  await holds(codebase, REWRITTEN);
});

test.concurrent('an answer of the owner’s own to a rewritten file holds for these skills, and is asked for again with one less', async () => {
  await using codebase = await updated();
  codebase.write({ '.claw/pending/src/c.ts': 'EINS\nzwei\nDREI\n' });
  expect(await codebase.claw('continue')).toMatchObject({ code: 0 });
  await holds(codebase, 'EINS\nzwei\nDREI\n');
  const run = await codebase.claw('remove', 'beta');
  expect(run).toMatchObject({
    code: 3,
    json: { conflicts: [{ layers: ['core', 'alpha, gamma'] }] },
  });
  expect(await codebase.claw('abort')).toMatchObject({ code: 0 });
  expect(codebase.read('src/c.ts')).toBe('EINS\nzwei\nDREI\n');
});

test.concurrent('why names each skill beside its own lines, also in an answer of the owner’s own', async () => {
  await using codebase = await updated();
  codebase.write({ '.claw/pending/src/c.ts': 'ONE\nzwei\nNINE\nmine\n' });
  expect(await codebase.claw('continue')).toMatchObject({ code: 0 });
  const { data } = (await codebase.claw('why', 'src/c.ts')).json;
  expect(data).toMatchObject({
    ranges: [
      { owner: 'alpha', text: 'ONE\n' },
      { owner: 'resolution', text: 'zwei\n' },
      { owner: 'gamma', text: 'NINE\n' },
      { owner: 'resolution', layers: ['core', 'alpha, beta, gamma'], text: 'mine\n' },
    ],
  });
});
