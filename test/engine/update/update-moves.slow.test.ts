import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  type Files,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { addRelease, versioned } from '../releases.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const line = (from: string, to: string, text = LINES) => text.replace(`${from}\n`, `${to}\n`);

type Moves = readonly { readonly since: string; readonly path_map: Record<string, string> }[];

function migrations(moves: Moves): string {
  return JSON.stringify(moves.map((move) => ({ ...move, description: 'files moved' })));
}

function core(files: Files): Codebase {
  return temporaryCodebase({ 'package.json': versioned('1.0.0'), ...files }, { git: true });
}

/** A release in which files went to other places, as its `migrations.yaml` says. */
function movedRelease(
  codebase: Codebase,
  version: string,
  moves: Moves,
  change: { files?: Files; gone?: readonly string[]; from?: string },
): void {
  addRelease(codebase, `v${version}`, {
    ...change,
    files: {
      'package.json': versioned(version),
      'migrations.yaml': migrations(moves),
      ...change.files,
    },
  });
}

const first: Moves = [{ since: '1.1.0', path_map: { 'src/a.ts': 'src/core/a.ts' } }];

test.concurrent('layers, edits and added files follow files and folders that a release moved', async () => {
  await using codebase = core({ 'src/a.ts': LINES, 'old/b.ts': LINES, 'old/deep/c.ts': LINES });
  addSkill(codebase, 'demo', {
    add: { 'old/demo.ts': 'demo\n' },
    modify: {
      'src/a.ts': [LINES, line('one', 'ONE of demo')],
      'old/b.ts': [LINES, line('one', 'ONE of demo')],
    },
    base: { 'old/deep/c.ts': LINES },
    manifest: { file_ops: [{ type: 'delete', path: 'old/deep/c.ts' }] },
  });
  movedRelease(
    codebase,
    '1.1.0',
    [{ since: '1.1.0', path_map: { 'src/a.ts': 'src/core/a.ts', 'old/': 'new/' } }],
    {
      files: {
        'src/core/a.ts': line('nine', 'NINE of 1.1'),
        'new/b.ts': line('nine', 'NINE of 1.1'),
        'new/deep/c.ts': LINES,
      },
      gone: ['src/a.ts', 'old'],
    },
  );
  await codebase.claw('apply', 'demo');
  codebase.write({ 'src/a.ts': line('three', 'recorded', codebase.read('src/a.ts')) });
  await codebase.claw('customize', 'recorded');
  codebase.write({
    'src/a.ts': line('five', 'mine', codebase.read('src/a.ts')),
    'old/demo.ts': 'demo\nmine\n',
  });
  const before = codebase.tree();
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.json).toMatchObject({ outcome: 'done', error: null });
  const shown = run.json.changes.map(({ path, kind }) => `${kind} ${path}`);
  expect(shown).toEqual([
    'add migrations.yaml',
    'rename new/b.ts',
    'rename new/demo.ts',
    'modify package.json',
    'rename src/core/a.ts',
  ]);
  const expected = line('three', 'recorded', line('five', 'mine', line('nine', 'NINE of 1.1')));
  expect(codebase.read('src/core/a.ts')).toBe(line('one', 'ONE of demo', expected));
  expect(codebase.read('new/demo.ts')).toBe('demo\nmine\n');
  for (const gone of ['src/a.ts', 'old', 'new/deep']) expect(codebase.has(gone)).toBe(false);
  expect((await codebase.claw('status')).json.data).toMatchObject({
    edits: [{ path: 'new/demo.ts' }, { path: 'src/core/a.ts' }],
  });
  const after = codebase.tree();
  expect((await codebase.claw('remove', 'demo')).json.conflicts).toMatchObject([
    { path: 'new/demo.ts', kind: 'modify-delete' },
  ]);
  await codebase.claw('abort');
  codebase.write({ 'new/demo.ts': 'demo\n' });
  expect((await codebase.claw('remove', 'demo')).json.error).toBe(null);
  expect(codebase.read('src/core/a.ts')).toBe(expected);
  expect(codebase.read('new/deep/c.ts')).toBe(LINES);
  await codebase.claw('undo');
  codebase.write({ 'new/demo.ts': 'demo\nmine\n' });
  expect(codebase.tree()).toEqual(after);
  await codebase.claw('undo');
  expect(codebase.tree()).toEqual(before);
});

test.concurrent('moves are remembered over releases, for what was applied before and for what comes after', async () => {
  await using codebase = core({ 'src/a.ts': LINES });
  const second: Moves = [...first, { since: '1.2.0', path_map: { 'src/core': 'lib' } }];
  const third: Moves = [...second, { since: '1.4.0', path_map: { 'lib/a.ts': 'lib/first.ts' } }];
  const text = line('nine', 'NINE of 1.1');
  movedRelease(codebase, '1.1.0', first, { files: { 'src/core/a.ts': text }, gone: ['src'] });
  movedRelease(codebase, '1.2.0', second, {
    from: 'v1.1.0',
    files: { 'lib/a.ts': text },
    gone: ['src'],
  });
  movedRelease(codebase, '1.3.0', second, { from: 'v1.2.0', files: { 'other.ts': 'other\n' } });
  movedRelease(codebase, '1.4.0', third, {
    from: 'v1.3.0',
    files: { 'lib/first.ts': text },
    gone: ['lib/a.ts'],
  });
  const modifies = (name: string, from: string, path: string, base = LINES) => ({
    modify: { [path]: [base, line(from, `${name} was here`, base)] as const },
  });
  addSkill(codebase, 'before', modifies('before', 'one', 'src/a.ts'));
  addSkill(codebase, 'old', { core: '0.1.0', ...modifies('old', 'three', 'src/a.ts') });
  addSkill(codebase, 'between', {
    core: '1.1.0',
    ...modifies('between', 'five', 'src/core/a.ts', text),
  });
  addSkill(codebase, 'now', { core: '1.4.0', ...modifies('now', 'seven', 'lib/first.ts', text) });
  await codebase.claw('apply', 'before');
  for (const tag of ['v1.1.0', 'v1.2.0', 'v1.3.0']) {
    expect((await codebase.claw('update', tag)).json.error).toBe(null);
  }
  codebase.write({ 'lib/a.ts': line('NINE of 1.1', 'mine', codebase.read('lib/a.ts')) });
  expect((await codebase.claw('update', 'v1.4.0')).json.error).toBe(null);
  const run = await codebase.claw('apply', 'old', 'between', 'now');
  expect(run.json.error).toBe(null);
  const names = { before: 'one', old: 'three', between: 'five', now: 'seven' };
  const expected = Object.entries(names).reduce(
    (sum, [name, from]) => line(from, `${name} was here`, sum),
    line('NINE of 1.1', 'mine', text),
  );
  expect(codebase.read('lib/first.ts')).toBe(expected);
  expect(Object.keys(codebase.tree()).filter((path) => /^(src|lib)\/./.test(path))).toEqual([
    'lib/first.ts',
  ]);
  expect((await codebase.claw('remove', 'before', 'old', 'between', 'now')).json.error).toBe(null);
  expect(codebase.read('lib/first.ts')).toBe(line('NINE of 1.1', 'mine', text));
});

test.concurrent('a large jump follows a chain of moves at once, and back', async () => {
  await using codebase = core({ 'src/a.ts': LINES });
  const second: Moves = [...first, { since: '1.2.0', path_map: { 'src/core': 'lib' } }];
  movedRelease(codebase, '1.2.0', second, { files: { 'lib/a.ts': LINES }, gone: ['src'] });
  addSkill(codebase, 'demo', { modify: { 'src/a.ts': [LINES, line('one', 'ONE of demo')] } });
  await codebase.claw('apply', 'demo');
  codebase.write({ 'src/a.ts': line('five', 'mine', codebase.read('src/a.ts')) });
  const before = codebase.tree();
  expect((await codebase.claw('update', 'v1.2.0')).json.error).toBe(null);
  expect(codebase.read('lib/a.ts')).toBe(line('five', 'mine', line('one', 'ONE of demo')));
  expect(codebase.has('src')).toBe(false);
  codebase.write({ 'lib/a.ts': line('seven', 'more', codebase.read('lib/a.ts')) });
  expect((await codebase.claw('update', 'v1.0.0')).json.error).toBe(null);
  const text = line('seven', 'more', line('five', 'mine', line('one', 'ONE of demo')));
  expect(codebase.tree()).toEqual({ ...before, 'src/a.ts': text });
});

test.concurrent('files that change places take layers and edits with them', async () => {
  const other = LINES.toUpperCase();
  await using codebase = core({ 'a.ts': LINES, 'b.ts': other, 'c.ts': 'c\n' });
  const moves: Moves = [
    { since: '1.1.0', path_map: { 'a.ts': 'b.ts', 'b.ts': 'a.ts', 'c.ts': 'd.ts' } },
  ];
  movedRelease(codebase, '1.1.0', moves, {
    files: { 'a.ts': other, 'b.ts': LINES, 'c.ts': 'another c\n', 'd.ts': 'c\n' },
  });
  addSkill(codebase, 'demo', { modify: { 'a.ts': [LINES, line('one', 'ONE of demo')] } });
  await codebase.claw('apply', 'demo');
  codebase.write({
    'a.ts': line('five', 'mine', codebase.read('a.ts')),
    'b.ts': line('FIVE', 'mine too', other),
    'c.ts': 'c\nmine\n',
  });
  const before = codebase.tree();
  expect((await codebase.claw('update', 'v1.1.0')).json).toMatchObject({
    error: null,
    conflicts: [],
  });
  expect(codebase.tree()).toMatchObject({
    'a.ts': line('FIVE', 'mine too', other),
    'b.ts': line('five', 'mine', line('one', 'ONE of demo')),
    'c.ts': 'another c\n',
    'd.ts': 'c\nmine\n',
  });
  expect((await codebase.claw('undo')).json.error).toBe(null);
  expect(codebase.tree()).toEqual(before);
});

test.concurrent('in one release one file takes the place of another, and two become one', async () => {
  await using codebase = core({ 'a.ts': LINES, 'b.ts': 'b\n', 'x.ts': LINES, 'y.ts': LINES });
  const moves: Moves = [
    {
      since: '1.1.0',
      path_map: { 'a.ts': 'b.ts', 'b.ts': 'c.ts', 'x.ts': 'xy.ts', 'y.ts': 'xy.ts' },
    },
  ];
  movedRelease(codebase, '1.1.0', moves, {
    files: { 'b.ts': LINES, 'c.ts': 'b\n', 'xy.ts': LINES },
    gone: ['a.ts', 'x.ts', 'y.ts'],
  });
  await codebase.claw('init');
  codebase.write({
    'a.ts': line('five', 'mine'),
    'b.ts': 'b\nmine\n',
    'x.ts': line('one', 'mine in x'),
    'y.ts': line('nine', 'mine in y'),
  });
  expect((await codebase.claw('update', 'v1.1.0')).json).toMatchObject({
    error: null,
    conflicts: [],
  });
  expect(codebase.read('b.ts')).toBe(line('five', 'mine'));
  expect(codebase.read('c.ts')).toBe('b\nmine\n');
  expect(codebase.read('xy.ts')).toBe(line('one', 'mine in x', line('nine', 'mine in y')));
  for (const gone of ['a.ts', 'x.ts', 'y.ts']) expect(codebase.has(gone)).toBe(false);
});

test.concurrent('undo takes edits that were made since back to where the files were', async () => {
  await using codebase = core({ 'src/a.ts': LINES, 'x.ts': LINES, 'y.ts': LINES.toUpperCase() });
  const moves: Moves = [
    { since: '1.1.0', path_map: { 'src/a.ts': 'src/core/a.ts', 'x.ts': 'y.ts', 'y.ts': 'x.ts' } },
  ];
  movedRelease(codebase, '1.1.0', moves, {
    files: {
      'src/core/a.ts': line('nine', 'NINE of 1.1'),
      'x.ts': LINES.toUpperCase(),
      'y.ts': LINES,
    },
    gone: ['src/a.ts'],
  });
  addSkill(codebase, 'demo', { modify: { 'src/a.ts': [LINES, line('one', 'ONE of demo')] } });
  await codebase.claw('apply', 'demo');
  const before = codebase.tree();
  await codebase.claw('update', 'v1.1.0');
  codebase.write({
    'src/core/a.ts': line('five', 'mine', codebase.read('src/core/a.ts')),
    'y.ts': line('five', 'mine too'),
  });
  expect((await codebase.claw('undo')).json).toMatchObject({ error: null, conflicts: [] });
  expect(codebase.tree()).toEqual({
    ...before,
    'src/a.ts': line('five', 'mine', line('one', 'ONE of demo')),
    'x.ts': line('five', 'mine too'),
  });
});

test.concurrent('a file that a skill had moved already goes where the skill wants it, and back', async () => {
  await using codebase = core({ 'old/a.ts': LINES });
  addSkill(codebase, 'mover', {
    base: { 'old/a.ts': LINES },
    manifest: { file_ops: [{ type: 'rename', from: 'old/a.ts', to: 'old/renamed.ts' }] },
  });
  const moves: Moves = [{ since: '1.1.0', path_map: { 'old/': 'new/' } }];
  movedRelease(codebase, '1.1.0', moves, {
    files: { 'new/a.ts': line('nine', 'NINE of 1.1') },
    gone: ['old'],
  });
  await codebase.claw('apply', 'mover');
  codebase.write({ 'old/renamed.ts': line('five', 'mine') });
  expect((await codebase.claw('update', 'v1.1.0')).json).toMatchObject({
    error: null,
    conflicts: [],
  });
  const text = line('five', 'mine', line('nine', 'NINE of 1.1'));
  expect(codebase.read('new/renamed.ts')).toBe(text);
  expect(codebase.has('old') || codebase.has('new/a.ts')).toBe(false);
  expect((await codebase.claw('remove', 'mover')).json).toMatchObject({
    error: null,
    conflicts: [],
  });
  expect(codebase.read('new/a.ts')).toBe(text);
  expect(codebase.has('new/renamed.ts')).toBe(false);
});

test.concurrent('a move to where the owner has another file is a conflict, and nothing is lost', async () => {
  await using codebase = core({ 'src/a.ts': LINES });
  movedRelease(codebase, '1.1.0', first, { files: { 'src/core/a.ts': LINES }, gone: ['src/a.ts'] });
  await codebase.claw('init');
  codebase.write({ 'src/core/a.ts': 'mine\n' });
  const before = codebase.tree();
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.json.conflicts).toMatchObject([{ path: 'src/core/a.ts', kind: 'add-add' }]);
  expect(codebase.tree()).toEqual(before);
});

test.concurrent('an edit of a file that was moved and is gone since is a conflict', async () => {
  await using codebase = core({ 'src/a.ts': LINES });
  movedRelease(codebase, '1.2.0', first, { gone: ['src/a.ts'] });
  await codebase.claw('init');
  codebase.write({ 'src/a.ts': line('one', 'mine') });
  const run = await codebase.claw('update', 'v1.2.0');
  expect(run.json.conflicts).toMatchObject([{ kind: 'modify-delete' }]);
  await codebase.claw('abort');
  codebase.write({ 'src/a.ts': LINES });
  expect((await codebase.claw('update', 'v1.2.0')).code).toBe(0);
  expect(codebase.has('src')).toBe(false);
});

test.concurrent('no package gets at protected or structured files because a release moved its files there', async () => {
  const config = "protected: ['guarded/**']\n";
  await using codebase = core({
    'src/a.ts': LINES,
    'src/env': 'A=1\n',
    'claw.config.yaml': config,
  });
  const moves: Moves = [
    { since: '1.1.0', path_map: { 'src/a.ts': 'guarded/a.ts', 'src/env': '.env.example' } },
  ];
  movedRelease(codebase, '1.1.0', moves, {
    files: { 'guarded/a.ts': LINES, '.env.example': 'A=1\n' },
    gone: ['src'],
  });
  addSkill(codebase, 'demo', { modify: { 'src/a.ts': [LINES, line('one', 'ONE')] } });
  addSkill(codebase, 'env', { modify: { 'src/env': ['A=1\n', 'A=2\n'] } });
  const refused = async (skill: string, code: string) => {
    expect((await codebase.claw('apply', skill)).json.error).toBe(null);
    const before = [codebase.tree(), codebase.state()];
    const run = await codebase.claw('update', 'v1.1.0');
    expect(run).toMatchObject({ code: 1, json: { outcome: 'refused', error: { code } } });
    expect([codebase.tree(), codebase.state()]).toEqual(before);
    await codebase.claw('remove', skill);
  };
  await refused('demo', 'PATH_PROTECTED');
  await refused('env', 'STRUCTURED_ONLY');
  expect((await codebase.claw('update', 'v1.1.0')).json.error).toBe(null);
  const late = await codebase.claw('apply', 'demo');
  expect(late).toMatchObject({ code: 1, json: { error: { code: 'PATH_PROTECTED' } } });
  expect(codebase.read('guarded/a.ts')).toBe(LINES);
});

test.concurrent('a migrations.yaml that cannot be read refuses the release, with the place', async () => {
  await using codebase = core({ 'src/a.ts': LINES });
  await codebase.claw('init');
  const bad: Record<string, string> = {
    '[{since: 1.1.0, path_map: {src/a.ts: ../../etc/passwd}}]': 'SCHEMA_INVALID',
    '[{since: soon, skill: demo}]': 'SCHEMA_INVALID',
    '[{since: 1.1.0, nonsense: 1}]': 'SCHEMA_INVALID',
    '- skill: demo': 'SCHEMA_INVALID',
    'migrations: [{since: 1.1.0, skill: demo@soon}]': 'SCHEMA_INVALID',
    '[&a {since: 1.1.0, skill: demo}, *a]': 'YAML_INVALID',
  };
  const before = [codebase.tree(), codebase.state()];
  for (const [at, [text, code]] of Object.entries(bad).entries()) {
    const tag = `v1.1.${at}`;
    addRelease(codebase, tag, { files: { 'migrations.yaml': text } });
    const run = await codebase.claw('update', tag);
    expect(run).toMatchObject({ code: 1, json: { error: { code } } });
    expect(run.json.error?.message).toContain('migrations.yaml');
  }
  commitAll(codebase, 'nothing');
  expect([codebase.tree(), codebase.state()]).toEqual(before);
});

test.concurrent('a file of that name that is for other tools is a file like any other', async () => {
  const foreign = (version: number) =>
    `- &a {version: ${version}, up: create.sql}\n- *a\n{{ more }}\n`;
  await using codebase = core({ 'migrations.yaml': foreign(1) });
  addSkill(codebase, 'demo', { add: { 'src/demo.ts': 'demo\n' } });
  addRelease(codebase, 'v1.1.0', { files: { 'migrations.yaml': foreign(2) } });
  expect((await codebase.claw('apply', 'demo')).json.error).toBe(null);
  expect((await codebase.claw('update', 'v1.1.0')).json.error).toBe(null);
  expect(codebase.read('migrations.yaml')).toBe(foreign(2));
});
