import { chmodSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import {
  addSkill,
  type Codebase,
  type Files,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { addRelease, versioned } from '../releases.ts';

vi.setConfig({ testTimeout: 120_000 });

const LINES = Array.from({ length: 12 }, (_, at) => `line number ${at + 1} of the file\n`).join('');
const line = (at: number, to: string, text = LINES) =>
  text.replace(`line number ${at} of the file\n`, `${to}\n`);
/** The file with its last lines changed by the release. */
const released = (count: number) =>
  Array.from({ length: count }, (_, at) => 12 - at).reduce(
    (text, at) => line(at, `changed by the release, ${at}`, text),
    LINES,
  );

type Release = { readonly files: Files; readonly gone: readonly string[] };

const MOVED: Release = { files: { 'lib/core.ts': released(1) }, gone: ['src'] };

/** A core with `src/a.ts`, and a next release. */
function core(release: Release, files: Files = {}): Codebase {
  const first = { 'package.json': versioned('1.0.0'), 'src/a.ts': LINES, ...files };
  const codebase = temporaryCodebase(first, { git: true });
  addRelease(codebase, 'v2', {
    files: { 'package.json': versioned('2.0.0'), ...release.files },
    gone: release.gone,
  });
  return codebase;
}

async function update(codebase: Codebase, ...options: readonly string[]) {
  const { json } = await codebase.claw('update', 'v2', ...options);
  expect(json.error).toBe(null);
  const asked = json.conflicts.map(({ path, kind }) => `${kind} ${path}`);
  const told = json.warnings.filter((one) => one.includes('have moved')).join('\n');
  return { asked, told };
}

const byOwner = async (codebase: Codebase) => {
  await codebase.claw('init');
  codebase.remove('src/a.ts');
};
const bySkill = async (codebase: Codebase) => {
  const file_ops = [{ type: 'delete', path: 'src/a.ts' }];
  addSkill(codebase, 'without', { base: { 'src/a.ts': LINES }, manifest: { file_ops } });
  await codebase.claw('apply', 'without');
};

test.each([
  ['the owner', byOwner],
  ['a skill', bySkill],
])('a file that %s took out does not come back where the release moved it', async (_, takeOut) => {
  await using codebase = core({ files: { 'lib/core.ts': LINES }, gone: ['src'] });
  await takeOut(codebase);
  const before = codebase.tree();
  const { asked, told } = await update(codebase);
  expect(asked).toEqual([]);
  expect(told).toContain(
    'moved src/a.ts to lib/core.ts (100 % alike, and no other file fits): it is',
  );
  expect(codebase.has('lib/core.ts')).toBe(false);
  expect((await codebase.claw('replay')).json).toMatchObject({ outcome: 'nothing' });
  expect((await codebase.claw('undo')).code).toBe(0);
  expect(codebase.tree()).toEqual(before);
  expect((await update(codebase, '--moved', 'src/a.ts=')).asked).toEqual([]);
  expect(codebase.read('lib/core.ts')).toBe(LINES);
});

test.each([
  ['the owner', byOwner],
  ['a skill', bySkill],
])(
  'where %s took a file out that the release moved and changed, it is asked',
  async (_, takeOut) => {
    await using codebase = core(MOVED);
    await takeOut(codebase);
    expect((await update(codebase)).asked).toEqual(['modify-delete lib/core.ts']);
  },
);

test('a file that was taken out and may be in one of two places now is named', async () => {
  const files = { 'lib/core.ts': released(1), 'lib/other.ts': released(2) };
  await using codebase = core({ files, gone: ['src'] });
  await byOwner(codebase);
  const { asked, told } = await update(codebase);
  expect(asked).toEqual([]);
  expect(told).toMatch(
    /^src\/a\.ts is deleted here, .* to lib\/core\.ts \(\d\d % alike\) or lib\/other\.ts \(\d\d % alike\)/,
  );
});

test('a file that was taken out and may be in a place that it is not alike enough for is named', async () => {
  await using codebase = core({ files: { 'lib/core.ts': released(5) }, gone: ['src'] });
  await byOwner(codebase);
  const { asked, told } = await update(codebase);
  expect(asked).toEqual([]);
  expect(told).toMatch(/^src\/a\.ts is deleted here, .* to lib\/core\.ts \(5\d % alike\)/);
});

test('a file of the same name is named where a fifth of it is left', async () => {
  const files = { 'lib/a.ts': released(9), 'lib/b.ts': released(9) };
  await using codebase = core({ files, gone: ['src'] });
  await codebase.claw('init');
  codebase.write({ 'src/a.ts': line(1, 'mine') });
  await update(codebase);
  const waiting = (await codebase.claw('conflicts')).json.data;
  expect(waiting).toMatchObject({ details: [{ path: 'src/a.ts', candidates: ['lib/a.ts'] }] });
});

test('a file that the owner moved to where the release has it is merged there', async () => {
  await using codebase = core(MOVED);
  await byOwner(codebase);
  codebase.write({ 'lib/core.ts': line(1, 'mine') });
  expect((await update(codebase)).asked).toEqual([]);
  expect(codebase.read('lib/core.ts')).toBe(line(1, 'mine', released(1)));
});

test.each([
  ['page', 'page'],
  ['page', 'guide'],
])(
  'of a file %s that moved and its copy, both called %s, the copy is not taken for it',
  async (old, now) => {
    const gone = `docs/${old}.md`;
    const files = { [`docs/old/${now}.md`]: LINES, [`docs/new/${now}.mdx`]: released(6) };
    await using codebase = core({ files, gone: [gone] }, { [gone]: LINES });
    await codebase.claw('init');
    codebase.write({ [gone]: line(1, 'mine') });
    expect((await update(codebase)).asked).toEqual([`modify-delete ${gone}`]);
  },
);

test('similar files that all moved are each followed to their own place', async () => {
  const files = { 'src/b.ts': line(2, 'b'), 'src/c.ts': line(3, 'c') };
  const there = { 'lib/a.ts': LINES, 'lib/b.ts': line(2, 'b'), 'lib/c.ts': line(3, 'c') };
  await using codebase = core({ files: there, gone: ['src'] }, files);
  await codebase.claw('init');
  codebase.write({ 'src/a.ts': line(9, 'mine'), 'src/c.ts': line(9, 'mine', line(3, 'c')) });
  expect((await update(codebase)).asked).toEqual([]);
  expect(codebase.read('lib/a.ts')).toBe(line(9, 'mine'));
  expect(codebase.read('lib/b.ts')).toBe(line(2, 'b'));
  expect(codebase.read('lib/c.ts')).toBe(line(9, 'mine', line(3, 'c')));
});

test('a file that many folders have much alike is not taken for the one of a new folder', async () => {
  const files = { 'app/one/settings.yaml': LINES, 'app/two/settings.yaml': line(1, 'two') };
  const release = { files: { 'app/three/settings.yaml': line(1, 'three') }, gone: ['app/one'] };
  await using codebase = core(release, files);
  await codebase.claw('init');
  codebase.write({ 'app/one/settings.yaml': line(9, 'mine') });
  expect((await update(codebase)).asked).toEqual(['modify-delete app/one/settings.yaml']);
});

test('where the owner has another file at the new place, both are asked about, and both can stay', async () => {
  await using codebase = core(MOVED);
  await codebase.claw('init');
  codebase.write({ 'src/a.ts': line(1, 'mine'), 'lib/core.ts': 'my own\n' });
  const { asked } = await update(codebase);
  expect(asked).toEqual(['add-add lib/core.ts', 'modify-delete src/a.ts']);
  for (const path of ['lib/core.ts', 'src/a.ts']) await codebase.claw('resolve', path, '--ours');
  expect((await codebase.claw('continue')).json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('src/a.ts')).toBe(line(1, 'mine'));
  expect(codebase.read('lib/core.ts')).toBe('my own\n');
});

test('where a skill has another file at the new place, the file that moved is asked about as well', async () => {
  await using codebase = core(MOVED);
  addSkill(codebase, 'other', { add: { 'lib/core.ts': 'of a skill\n' } });
  await codebase.claw('apply', 'other');
  codebase.write({ 'src/a.ts': line(1, 'mine') });
  const { asked } = await update(codebase);
  expect(asked).toEqual(['add-add lib/core.ts', 'modify-delete src/a.ts']);
});

test.each([
  ['in letter case alone', 'src/A.ts'],
  ['in its ending', 'src/a.mts'],
])('a new name that differs %s is followed', async (_, path) => {
  await using codebase = core({ files: { [path]: released(1) }, gone: ['src/a.ts'] });
  await codebase.claw('init');
  codebase.write({ 'src/a.ts': line(1, 'mine') });
  expect((await update(codebase)).asked).toEqual([]);
  expect(codebase.read(path)).toBe(line(1, 'mine', released(1)));
  expect(codebase.has('src/a.ts')).toBe(false);
});

test('a change of its mode, and one of a file that is not text, follow as well', async () => {
  const picture = Buffer.from([0, 1, 2, 3]);
  const files = { 'bin/run.sh': released(1), 'art/a.png': picture };
  await using codebase = core(
    { files, gone: ['run.sh', 'a.png'] },
    { 'run.sh': LINES, 'a.png': picture },
  );
  await codebase.claw('init');
  chmodSync(codebase.path('run.sh'), 0o755);
  codebase.write({ 'a.png': Buffer.from([0, 9]) });
  expect((await update(codebase)).asked).toEqual([]);
  expect(codebase.tree()['bin/run.sh']).toBe(`${released(1)} +x`);
  expect(codebase.tree()['art/a.png']).toBe('\0\t');
});

test('if a file moved and was split, an edit of the part that went elsewhere is a conflict', async () => {
  const [head, tail] = [LINES.slice(0, LINES.indexOf('line number 9')), 'line number 9'];
  const files = { 'lib/a.ts': head, 'lib/rest.ts': LINES.slice(LINES.indexOf(tail)) };
  await using codebase = core({ files, gone: ['src'] });
  await codebase.claw('init');
  codebase.write({ 'src/a.ts': line(10, 'mine') });
  expect((await update(codebase)).asked).toEqual(['content lib/a.ts']);
});

test('two skills follow one file; removing one, undo and replay hold after it', async () => {
  await using codebase = core(MOVED);
  addSkill(codebase, 'first', { modify: { 'src/a.ts': [LINES, line(1, 'first')] } });
  addSkill(codebase, 'second', { modify: { 'src/a.ts': [LINES, line(6, 'second')] } });
  for (const name of ['first', 'second']) await codebase.claw('apply', name);
  codebase.write({ 'src/a.ts': line(3, 'mine', codebase.read('src/a.ts')) });
  const { asked, told } = await update(codebase);
  expect(asked).toEqual([]);
  expect(told.split('\n')).toHaveLength(1);
  const mine = line(3, 'mine', released(1));
  expect(codebase.read('lib/core.ts')).toBe(line(1, 'first', line(6, 'second', mine)));
  const after = codebase.tree();
  expect((await codebase.claw('replay')).json).toMatchObject({ outcome: 'nothing' });
  expect((await codebase.claw('remove', 'first')).json.error).toBe(null);
  expect(codebase.read('lib/core.ts')).toBe(line(6, 'second', mine));
  expect((await codebase.claw('undo')).code).toBe(0);
  expect(codebase.tree()).toEqual(after);
  expect((await codebase.claw('verify')).json.data).toMatchObject({ recomposed: [], damaged: [] });
});
