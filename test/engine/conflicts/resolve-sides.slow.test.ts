import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';
import { addRelease, versioned } from '../releases.ts';

const FILES = ['a.txt', 'b.txt', 'c.txt'];
const all = (text: string) => Object.fromEntries(FILES.map((path) => [path, text]));

/**
 * An update that meets the owner in three ways: a customisation of `a.txt`, an unrecorded edit of `b.txt`, and a skill
 * that changes `c.txt`.
 */
async function blockedUpdate(): Promise<Codebase> {
  const codebase = temporaryCodebase(
    { 'package.json': versioned('1.0.0'), ...all('one\n') },
    { git: true },
  );
  addSkill(codebase, 'demo', { modify: { 'c.txt': ['one\n', 'mine\n'] } });
  addRelease(codebase, 'v1.1.0', {
    files: { 'package.json': versioned('1.1.0'), ...all('released\n') },
  });
  await codebase.claw('apply', 'demo');
  codebase.write({ 'a.txt': 'mine\n' });
  await codebase.claw('customize', 'a');
  codebase.write({ 'b.txt': 'mine\n' });
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.json.conflicts.map(({ path, layers }) => [path, ...layers])).toEqual([
    ['c.txt', 'core', 'demo'],
    ['a.txt', 'core', 'custom-a'],
    ['b.txt', 'your edits', 'core'],
  ]);
  return codebase;
}

const readAll = (codebase: Codebase) => FILES.map((path) => codebase.read(path));

test('ours and theirs are refused where the layers have them the other way round than git', async () => {
  await using codebase = await blockedUpdate();
  for (const args of [['--ours'], ['--theirs'], ['--both', 'ours'], ['--choose', 'theirs']]) {
    const { code, json } = await codebase.claw('resolve', 'a.txt', ...args);
    expect([code, json.error?.code]).toEqual([2, 'USAGE']);
    expect(json.error?.message).toContain(
      'Name the side that you want: --take release or --take mine.',
    );
  }
  codebase.write({ 'answers.yaml': 'c.txt: theirs\n' });
  const refused = await codebase.claw('resolve', '--answers', 'answers.yaml');
  expect(refused.json.error?.message).toContain('--take release or --take demo');
  codebase.remove('answers.yaml');
  // For an unrecorded edit they mean what they mean in git: the other files stay open, and it is said why.
  const many = await codebase.claw('resolve', '--all', '--ours');
  expect(many.json).toMatchObject({ outcome: 'done', data: { paths: ['b.txt'] } });
  expect(many.json.warnings).toHaveLength(2);
});

test('a side is taken by the name of its layer, in all files that it has one in', async () => {
  await using codebase = await blockedUpdate();
  const mine = await codebase.claw('resolve', '--all', '--take', 'mine');
  expect(mine.json).toMatchObject({ data: { paths: ['a.txt', 'b.txt'], open: ['c.txt'] } });
  expect(mine.json.warnings).toEqual([
    'c.txt: no side is mine where core and demo disagree. Say --take release or --take demo, or choose place by place with --choose.',
  ]);
  codebase.write({ 'answers.yaml': 'a.txt: {take: release}\nc.txt: {take: demo}\n' });
  expect((await codebase.claw('resolve', '--answers', 'answers.yaml')).code).toBe(0);
  codebase.remove('answers.yaml');
  expect((await codebase.claw('resolve', 'a.txt', '--both', 'custom-a')).code).toBe(0);
  expect((await codebase.claw('continue')).json).toMatchObject({ outcome: 'done' });
  expect(readAll(codebase)).toEqual(['mine\nreleased\n', 'mine\n', 'mine\n']);
});

test('what the owner has is kept, and what comes is taken, in the words of the choices', async () => {
  await using codebase = await blockedUpdate();
  const { json } = await codebase.claw('conflicts');
  const { details } = json.data as {
    details: readonly { takes: readonly string[]; ways: readonly { label: string }[] }[];
  };
  expect(
    details.map(({ takes, ways }) => [takes, ways.slice(0, 2).map((way) => way.label)]),
  ).toEqual([
    [
      ['release', 'demo'],
      ["keep the core's", "take demo's"],
    ],
    [
      ['release', 'mine'],
      ["take the core's", "keep custom-a's"],
    ],
    [
      ['mine', 'release'],
      ['keep yours', "take the core's"],
    ],
  ]);
  const release = await codebase.claw('resolve', '--all', '--take', 'release');
  expect(release.json).toMatchObject({ data: { open: [] } });
  expect((await codebase.claw('continue')).json).toMatchObject({ outcome: 'done' });
  expect(readAll(codebase)).toEqual(['released\n', 'released\n', 'released\n']);
});

test('a skill that comes before an applied one in the order of layers is named as well', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'one\n' }, { git: true });
  addSkill(codebase, 'late', { modify: { 'a.txt': ['one\n', 'late\n'] } });
  addSkill(codebase, 'early', { modify: { 'a.txt': ['one\n', 'early\n'] } });
  await codebase.claw('apply', 'late');
  expect((await codebase.claw('apply', 'early')).json.conflicts).toMatchObject([
    { layers: ['early', 'late'] },
  ]);
  expect((await codebase.claw('resolve', 'a.txt', '--ours')).json.error?.message).toContain(
    '--take early or --take late',
  );
  expect((await codebase.claw('resolve', 'a.txt', '--take', 'nobody')).code).toBe(2);
  expect((await codebase.claw('resolve', 'a.txt', '--take', 'late')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('a.txt')).toBe('late\n');
});
