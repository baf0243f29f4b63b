import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import {
  addSkill,
  type Codebase,
  type Files,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { addRelease, versioned } from '../releases.ts';

vi.setConfig({ testTimeout: 120_000 });

const LINES = Array.from({ length: 12 }, (_, at) => `line number ${at + 1} of the file\n`).join('');
const line = (at: number, to: string, text = LINES) =>
  text.replace(`line number ${at} of the file\n`, `${to}\n`);
const OTHER = 'something else altogether\nwith other lines\n';

/** A core with a skill on `src/a.ts` and an edit of the owner's on `old/b.ts`. */
async function installation(versions: readonly [string, string]): Promise<Codebase> {
  const [before, after] = versions;
  const files: Files = {
    'package.json': versioned(before),
    'src/a.ts': LINES,
    'old/b.ts': `b\n${LINES}`,
  };
  const codebase = temporaryCodebase(files, { git: true });
  addSkill(codebase, 'demo', {
    core: before,
    add: { 'old/more.ts': 'more\n' },
    modify: { 'src/a.ts': [LINES, line(1, 'demo')] },
  });
  await codebase.claw('apply', 'demo');
  codebase.write({ 'old/b.ts': `b\n${line(3, 'mine')}` });
  addRelease(codebase, 'v2', {
    files: {
      'package.json': versioned(after),
      'lib/core.ts': line(9, 'the release'),
      'new/b.ts': `b\n${line(9, 'the release')}`,
      // Like both, so that the release could have moved either there.
      'lib/other.ts': lastChanged(4),
    },
    gone: ['src', 'old'],
  });
  return codebase;
}

const MOVED = ['--moved', 'src/a.ts=lib/core.ts', '--moved', 'old/=new/'];

function expectMoved(codebase: Codebase): void {
  expect(codebase.read('lib/core.ts')).toBe(line(1, 'demo', line(9, 'the release')));
  expect(codebase.read('new/b.ts')).toBe(`b\n${line(3, 'mine', line(9, 'the release'))}`);
  expect(codebase.read('new/more.ts')).toBe('more\n');
  for (const gone of ['src', 'old']) expect(codebase.has(gone)).toBe(false);
}

test('a file that is gone is looked for among those that came, and the likeliest are named', async () => {
  await using codebase = await installation(['1.0.0', '2.0.0']);
  const run = await codebase.claw('plan', 'update', 'v2');
  expect(run.code).toBe(3);
  const named = run.json.conflicts.map(({ path, kind, ...rest }) => ({
    path,
    kind,
    candidates: 'candidates' in rest ? rest.candidates : null,
  }));
  expect(named).toEqual([
    {
      path: 'src/a.ts',
      kind: 'modify-delete',
      candidates: ['lib/core.ts', 'new/b.ts', 'lib/other.ts'],
    },
    {
      path: 'old/b.ts',
      kind: 'modify-delete',
      candidates: ['new/b.ts', 'lib/core.ts', 'lib/other.ts'],
    },
  ]);
});

test.each([
  ['versions tell which packages are older', '1.0.0', '2.0.0'],
  ['both cores have one version', '1.0.0', '1.0.0'],
])('a declared move carries skills and edits over, where %s', async (_, before, after) => {
  await using codebase = await installation([before, after]);
  const run = await codebase.claw('update', 'v2', ...MOVED);
  expect(run.json).toMatchObject({ outcome: 'done', error: null });
  expectMoved(codebase);
  expect((await codebase.claw('verify')).json.data).toMatchObject({ recomposed: [], damaged: [] });
  expect((await codebase.claw('replay')).json).toMatchObject({ outcome: 'nothing' });
});

test('the answer is in state.yaml, so that a clone replays to the same tree', async () => {
  await using codebase = await installation(['1.0.0', '2.0.0']);
  await codebase.claw('update', 'v2', ...MOVED);
  expect(codebase.read('.claw/state.yaml')).toContain('      src/a.ts: lib/core.ts\n');
  codebase.git('checkout', '--quiet', '--', '.');
  await using clone = openCodebase(mkdtempSync(join(tmpdir(), 'claw-clone-')));
  clone.git('clone', '--quiet', codebase.root, '.');
  clone.git('checkout', '--quiet', 'v2');
  cpSync(codebase.path('.claw'), clone.path('.claw'), { recursive: true });
  clone.remove('.claw/cache');
  clone.remove('.claw/backup');
  expect((await clone.claw('replay')).json).toMatchObject({ outcome: 'done', error: null });
  expect(clone.read('lib/core.ts')).toBe(line(1, 'demo', line(9, 'the release')));
  expect((await clone.claw('verify')).json.data).toMatchObject({ recomposed: [], damaged: [] });
  // A package that was written before the move is carried over as well.
  addSkill(clone, 'late', { modify: { 'src/a.ts': [LINES, line(5, 'late')] } });
  expect((await clone.claw('apply', 'late')).json).toMatchObject({ outcome: 'done' });
  expect(clone.read('lib/core.ts')).toContain('late\n');
});

test('an update that waits is told of a move, file by file, and keeps what else was decided', async () => {
  await using codebase = await installation(['1.0.0', '2.0.0']);
  const blocked = await codebase.claw('update', 'v2');
  expect(blocked.code).toBe(3);
  const conflicts = await codebase.claw('conflicts');
  expect(conflicts.json.data).toMatchObject({
    details: [
      { path: 'src/a.ts', candidates: ['lib/core.ts', 'new/b.ts', 'lib/other.ts'] },
      { path: 'old/b.ts' },
    ],
  });
  expect((await codebase.claw('resolve', 'old/b.ts', '--ours')).code).toBe(0);
  const wrong = await codebase.claw('resolve', 'src/a.ts', '--moved', 'nowhere.ts');
  expect(wrong.json.error).toMatchObject({ code: 'USAGE' });
  expect(wrong.json.error?.message).toContain('the release has no nowhere.ts');
  const moved = await codebase.claw('resolve', 'src/a.ts', '--moved', 'lib/core.ts');
  expect(moved.json).toMatchObject({ outcome: 'done', data: { open: [] } });
  expect((await codebase.claw('apply', 'demo')).json.error).toMatchObject({
    code: 'OPERATION_PENDING',
  });
  expect((await codebase.claw('continue')).json).toMatchObject({ outcome: 'done', error: null });
  expect(codebase.read('lib/core.ts')).toBe(line(1, 'demo', line(9, 'the release')));
  expect(codebase.read('old/b.ts')).toBe(`b\n${line(3, 'mine')}`);
});

test('a file of answers says moves as well, all of it or nothing', async () => {
  await using codebase = await installation(['1.0.0', '2.0.0']);
  await codebase.claw('update', 'v2');
  const asked = await codebase.claw('conflicts', '--answers');
  expect(JSON.stringify(asked.json.data)).toContain('# {moved: lib/core.ts}');
  const answer = async (answers: object) => {
    codebase.write({ '.claw/cache/answers.yaml': JSON.stringify(answers) });
    return await codebase.claw('resolve', '--answers', '.claw/cache/answers.yaml');
  };
  const wrong = await answer({ 'old/b.ts': 'ours', 'src/a.ts': { moved: 'nowhere.ts' } });
  expect(wrong.json.error).toMatchObject({ code: 'USAGE' });
  expect((await codebase.claw('conflicts')).json.data).toMatchObject({
    details: [
      { path: 'src/a.ts', decided: false },
      { path: 'old/b.ts', decided: false },
    ],
  });
  const run = await answer({ 'old/b.ts': 'ours', 'src/a.ts': { moved: 'lib/core.ts' } });
  expect(run.json).toMatchObject({
    outcome: 'done',
    data: { paths: ['old/b.ts', 'src/a.ts'], open: [] },
  });
  expect((await codebase.claw('continue')).json).toMatchObject({ outcome: 'done', error: null });
  expect(codebase.read('lib/core.ts')).toBe(line(1, 'demo', line(9, 'the release')));
  expect(codebase.read('old/b.ts')).toBe(`b\n${line(3, 'mine')}`);
});

test('what meets at the new place is asked there', async () => {
  await using codebase = await installation(['1.0.0', '2.0.0']);
  codebase.write({ 'src/a.ts': line(9, 'mine', codebase.read('src/a.ts')) });
  await codebase.claw('update', 'v2', '--moved', 'old=new');
  const moved = await codebase.claw('resolve', 'src/a.ts', '--moved', 'lib/core.ts');
  expect(moved.json.data).toMatchObject({ open: ['lib/core.ts'] });
  await codebase.claw('resolve', 'lib/core.ts', '--ours');
  expect((await codebase.claw('continue')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('lib/core.ts')).toBe(line(1, 'demo', line(9, 'mine')));
});

test('going back takes a declared move back, and undo as well', async () => {
  await using codebase = await installation(['1.0.0', '2.0.0']);
  const before = codebase.tree();
  await codebase.claw('update', 'v2', ...MOVED);
  const after = codebase.tree();
  expect((await codebase.claw('undo')).code).toBe(0);
  expect(codebase.tree()).toEqual(before);
  await codebase.claw('update', 'v2', ...MOVED);
  expect(codebase.tree()).toEqual(after);
  expect((await codebase.claw('update', 'v1.0.0')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.tree()).toEqual(before);
  expect(codebase.read('.claw/state.yaml')).not.toContain('moves:');
});

test.each([
  ['src/a.ts', 'it names no new path'],
  ['src/nowhere.ts=lib/core.ts', 'the old core has no src/nowhere.ts'],
  ['src/a.ts=lib/nowhere.ts', 'the release has no lib/nowhere.ts'],
  ['src/a.ts=lib', 'one of them is a file, the other a folder'],
])('--moved %s is refused: %s', async (move, reason) => {
  await using codebase = await installation(['1.0.0', '2.0.0']);
  const run = await codebase.claw('update', 'v2', '--moved', move);
  expect(run.json.error).toMatchObject({ code: 'USAGE' });
  expect(run.json.error?.message).toContain(reason);
  const other = await codebase.claw('plan', 'remove', 'demo', '--moved', 'src/a.ts=lib/core.ts');
  expect(other.json.error).toMatchObject({ code: 'USAGE' });
});

/** A core with a skill on `src/a.ts`, which the next release has elsewhere, with so many of its lines changed. */
async function movedWithin(changed: number, others: Files = {}): Promise<Codebase> {
  const codebase = temporaryCodebase(
    { 'package.json': versioned('1.0.0'), 'src/a.ts': LINES, 'src/c.ts': OTHER },
    { git: true },
  );
  addSkill(codebase, 'demo', { modify: { 'src/a.ts': [LINES, line(1, 'demo')] } });
  await codebase.claw('apply', 'demo');
  addRelease(codebase, 'v2', {
    files: {
      'package.json': versioned('2.0.0'),
      'lib/core.ts': lastChanged(changed),
      'lib/other.ts': 'not like any other\n',
      ...others,
    },
    gone: ['src'],
  });
  return codebase;
}

function lastChanged(count: number): string {
  const places = Array.from({ length: count }, (_, at) => 12 - at);
  return places.reduce((text, at) => line(at, `changed by the release, ${at}`, text), LINES);
}

test('a file that only one file of the release is like is followed, and the plan names it', async () => {
  await using codebase = await movedWithin(3);
  const planned = await codebase.claw('plan', 'update', 'v2');
  expect(planned.json).toMatchObject({ outcome: 'done', conflicts: [] });
  expect(planned.json.warnings).toContainEqual(
    expect.stringMatching(
      /^The release seems to have moved src\/a\.ts to lib\/core\.ts \(\d\d % alike, and no other file fits\)/,
    ),
  );
  expect((await codebase.claw('update', 'v2')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('lib/core.ts')).toBe(line(1, 'demo', lastChanged(3)));
  expect(codebase.has('src/a.ts')).toBe(false);
  expect(codebase.read('.claw/state.yaml')).toContain('      src/a.ts: lib/core.ts\n');
  expect((await codebase.claw('undo')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe(line(1, 'demo'));
});

test.each<[string, number, Files]>([
  ['two files are like it', 3, { 'lib/second.ts': lastChanged(4) }],
  ['none is like it enough', 6, {}],
])('where %s, it is asked', async (_, changed, others) => {
  await using codebase = await movedWithin(changed, others);
  const run = await codebase.claw('update', 'v2');
  expect(run.code).toBe(3);
  expect(run.json.conflicts).toMatchObject([{ path: 'src/a.ts', kind: 'modify-delete' }]);
});

test('where another file that is gone is like the new one too, it is asked', async () => {
  const codebase = temporaryCodebase(
    { 'package.json': versioned('1.0.0'), 'src/a.ts': LINES, 'src/b.ts': lastChanged(1) },
    { git: true },
  );
  await using _ = codebase;
  addSkill(codebase, 'demo', { modify: { 'src/a.ts': [LINES, line(1, 'demo')] } });
  await codebase.claw('apply', 'demo');
  const files = { 'package.json': versioned('2.0.0'), 'lib/b.ts': lastChanged(2) };
  addRelease(codebase, 'v2', { files, gone: ['src'] });
  expect((await codebase.claw('update', 'v2')).code).toBe(3);
});

test('the owner can say that it did not move', async () => {
  await using codebase = await movedWithin(3);
  const run = await codebase.claw('update', 'v2', '--moved', 'src/a.ts=');
  expect(run.code).toBe(3);
  expect(run.json.conflicts).toMatchObject([{ path: 'src/a.ts', kind: 'modify-delete' }]);
});
