import fs from 'node:fs';
import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n';
const A = LINES.replace('two', 'two of a');
const MINE = LINES.replace('two', 'mine');

async function decided(codebase: Codebase, path: string, ...choice: string[]): Promise<void> {
  const run = await codebase.claw('resolve', path, ...choice);
  expect(run.json.error).toBe(null);
  const done = await codebase.claw('continue');
  expect(done.json.error).toBe(null);
  expect(done.code).toBe(0);
}

test.each([
  ['--ours', 'of a\nsame\n'],
  ['--theirs', 'of b\nsame\n'],
])('two skills that add one file are resolved by %s, and that is recorded', async (side, text) => {
  await using codebase = temporaryCodebase({ 'x.txt': 'x\n' }, { git: true });
  addSkill(codebase, 'a', { add: { 'new.txt': 'of a\nsame\n' } });
  addSkill(codebase, 'b', { add: { 'new.txt': 'of b\nsame\n' } });
  expect(await codebase.claw('apply', 'a', 'b')).toMatchObject({
    code: 3,
    json: { conflicts: [{ path: 'new.txt', kind: 'add-add', layers: ['a', 'b'] }] },
  });
  await decided(codebase, 'new.txt', side);
  expect(codebase.read('new.txt')).toBe(text);
  expect((await codebase.claw('resolutions')).json.data).toMatchObject([{ kind: 'add-add' }]);
  expect((await codebase.claw('remove', 'b')).code).toBe(0);
  expect(codebase.read('new.txt')).toBe('of a\nsame\n');
});

test.each([
  ['--ours', true],
  ['--theirs', false],
])('a deletion against a skill’s change: %s', async (side, isThere) => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  addSkill(codebase, 'a', { modify: { 'notes.txt': [LINES, A] } });
  addSkill(codebase, 'b', {
    base: { 'notes.txt': LINES },
    manifest: { file_ops: [{ type: 'delete', path: 'notes.txt' }] },
  });
  expect(await codebase.claw('apply', 'a', 'b')).toMatchObject({
    code: 3,
    json: { conflicts: [{ kind: 'modify-delete', layers: ['a', 'b'], hunks: [] }] },
  });
  await decided(codebase, 'notes.txt', side);
  expect(codebase.has('notes.txt')).toBe(isThere);
  expect((await codebase.claw('replay')).json.outcome).toBe('nothing');
  expect((await codebase.claw('remove', 'b')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(A);
});

test('a file that the owner deleted and a skill changes is resolved either way, or with a text', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES, 'x.txt': 'x\n' }, { git: true });
  addSkill(codebase, 'a', { modify: { 'notes.txt': [LINES, A] } });
  codebase.remove('notes.txt');
  const blocked = await codebase.claw('apply', 'a');
  expect(blocked).toMatchObject({
    code: 3,
    json: { conflicts: [{ kind: 'modify-delete', layers: ['your edits', 'a'] }] },
  });
  await decided(codebase, 'notes.txt', '--ours');
  expect(codebase.has('notes.txt')).toBe(false);
  expect((await codebase.claw('list')).json.data).toMatchObject([{ name: 'a' }]);
  expect((await codebase.claw('undo')).code).toBe(0);
  expect((await codebase.claw('apply', 'a')).code).toBe(3);
  await decided(codebase, 'notes.txt', '--theirs');
  expect(codebase.read('notes.txt')).toBe(A);
  expect((await codebase.claw('undo')).code).toBe(0);
  expect((await codebase.claw('apply', 'a')).code).toBe(3);
  codebase.write({ 'given.txt': 'words of mine\n' });
  await decided(codebase, 'notes.txt', '--with', 'given.txt');
  expect(codebase.read('notes.txt')).toBe('words of mine\n');
});

test('removing a skill whose file the owner edited asks whether it may go', async () => {
  await using codebase = temporaryCodebase({ 'x.txt': 'x\n' }, { git: true });
  addSkill(codebase, 'a', { add: { 'new.txt': LINES } });
  await codebase.claw('apply', 'a');
  codebase.write({ 'new.txt': MINE });
  expect(await codebase.claw('remove', 'a')).toMatchObject({
    code: 3,
    json: { conflicts: [{ path: 'new.txt', kind: 'modify-delete' }] },
  });
  await decided(codebase, 'new.txt', '--ours');
  expect(codebase.read('new.txt')).toBe(MINE);
  expect((await codebase.claw('list')).json.data).toEqual([]);
});

test('removing a skill whose lines the owner edited names the skill, not the core', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  addSkill(codebase, 'a', { modify: { 'notes.txt': [LINES, LINES.replace('two', 'two of a')] } });
  await codebase.claw('apply', 'a');
  codebase.write({ 'notes.txt': LINES.replace('two', 'mine') });
  expect((await codebase.claw('remove', 'a')).json.conflicts).toMatchObject([
    {
      layers: ['your edits', 'core without a'],
      reason: 'Without a these lines change back, but you have changed them.',
    },
  ]);
  codebase.remove('notes.txt');
  expect((await codebase.claw('remove', 'a')).json.conflicts).toMatchObject([
    { reason: 'Without a this file changes back, but you have deleted it.' },
  ]);
  await decided(codebase, 'notes.txt', '--ours');
  expect(codebase.has('notes.txt')).toBe(false);
});

test('a binary file that both sides changed is resolved by a side or by a file', async () => {
  const bytes = (last: number) => Buffer.from([0, 1, 2, 255, last]);
  await using codebase = temporaryCodebase({ 'a.bin': bytes(0) }, { git: true });
  addSkill(codebase, 'a', { modify: { 'a.bin': [bytes(0), bytes(1)] } });
  addSkill(codebase, 'b', { modify: { 'a.bin': [bytes(0), bytes(2)] } });
  expect(await codebase.claw('apply', 'a', 'b')).toMatchObject({
    code: 3,
    json: { conflicts: [{ kind: 'binary' }] },
  });
  expect(await codebase.claw('resolve', 'a.bin')).toMatchObject({ code: 2 });
  await decided(codebase, 'a.bin', '--theirs');
  expect(codebase.tree()['a.bin']).toBe(bytes(2).toString('latin1'));
  const [one] = (await codebase.claw('resolutions')).json.data as { key: string }[];
  expect(codebase.read(`.claw/resolutions/${one?.key}.yaml`)).toContain('base64');
  await codebase.claw('remove', 'b');
  expect((await codebase.claw('apply', 'b')).code).toBe(0);
  expect(codebase.tree()['a.bin']).toBe(bytes(2).toString('latin1'));
  await codebase.claw('resolutions', 'forget', one?.key ?? '');
  await codebase.claw('remove', 'b');
  expect((await codebase.claw('apply', 'b')).code).toBe(3);
  codebase.write({ 'given.bin': bytes(3) });
  await decided(codebase, 'a.bin', '--with', 'given.bin');
  expect(codebase.tree()['a.bin']).toBe(bytes(3).toString('latin1'));
});

test('a conflict with the owner’s own edits is resolved, and never recorded', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  addSkill(codebase, 'a', { modify: { 'notes.txt': [LINES, A] } });
  codebase.write({ 'notes.txt': MINE.replace('ten', 'ten of mine') });
  expect((await codebase.claw('apply', 'a')).json.conflicts).toMatchObject([
    { layers: ['your edits', 'a'] },
  ]);
  await decided(codebase, 'notes.txt', '--theirs');
  expect(codebase.read('notes.txt')).toBe(A.replace('ten', 'ten of mine'));
  expect((await codebase.claw('resolutions')).json.data).toEqual([]);
});

test('a conflict with a customisation re-anchors it: nobody is asked again, and nothing is recorded', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES, 'b.txt': 'b\n' }, { git: true });
  addSkill(codebase, 'a', { modify: { 'notes.txt': [LINES, A] } });
  addSkill(codebase, 'other', { modify: { 'b.txt': ['b\n', 'B\n'] } });
  codebase.write({ 'notes.txt': MINE.replace('ten', 'ten of mine') });
  expect((await codebase.claw('customize', 'my words')).code).toBe(0);
  const blocked = await codebase.claw('apply', 'a');
  expect(blocked.json.conflicts).toMatchObject([{ layers: ['a', 'custom-my-words'] }]);
  codebase.write({
    '.claw/pending/notes.txt': LINES.replace('two', 'two of both').replace('ten', 'ten of mine'),
  });
  const done = await codebase.claw('continue');
  expect(done.code).toBe(0);
  const expected = LINES.replace('two', 'two of both').replace('ten', 'ten of mine');
  expect(codebase.read('notes.txt')).toBe(expected);
  expect((await codebase.claw('resolutions')).json.data).toEqual([]);
  expect(codebase.read('.claw/custom/custom-my-words/base/notes.txt')).toBe(A);
  expect(codebase.read('.claw/custom/custom-my-words/modify/notes.txt')).toBe(expected);
  expect((await codebase.claw('apply', 'other')).code).toBe(0);
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
  // Without the skill, the owner's words meet the bare core again.
  const removed = await codebase.claw('remove', 'a');
  expect(removed.code).toBe(3);
  await decided(codebase, 'notes.txt', '--take', 'mine');
  expect(codebase.read('notes.txt')).toBe(expected);
});

test('a customisation that a decision leaves nothing of is dropped', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  addSkill(codebase, 'a', { modify: { 'notes.txt': [LINES, A] } });
  codebase.write({ 'notes.txt': MINE });
  await codebase.claw('customize', 'my words');
  expect((await codebase.claw('apply', 'a')).code).toBe(3);
  await decided(codebase, 'notes.txt', '--take', 'a');
  expect(codebase.read('notes.txt')).toBe(A);
  expect((await codebase.claw('list')).json.data).toMatchObject([{ name: 'a' }]);
  expect(codebase.has('.claw/custom')).toBe(false);
});

test('undo that meets later edits is resolved like any other verb', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  addSkill(codebase, 'a', { modify: { 'notes.txt': [LINES, A] } });
  await codebase.claw('apply', 'a');
  codebase.write({ 'notes.txt': A.replace('two of a', 'two of a, and mine') });
  expect((await codebase.claw('undo')).json.conflicts).toMatchObject([
    { path: 'notes.txt', layers: ['your edits', 'undo'] },
  ]);
  await codebase.claw('resolve', 'notes.txt', '--ours');
  // Once more would plan it anew, and forget what was decided.
  expect(await codebase.claw('undo')).toMatchObject({
    code: 1,
    json: { error: { code: 'OPERATION_PENDING' } },
  });
  expect(await codebase.claw('continue')).toMatchObject({
    code: 0,
    json: { data: { verb: 'undo' } },
  });
  expect(codebase.read('notes.txt')).toBe(A.replace('two of a', 'two of a, and mine'));
  expect((await codebase.claw('list')).json.data).toEqual([]);
  expect((await codebase.claw('resolutions')).json.data).toEqual([]);
});

test('an undo that would delete or bring back what was changed or deleted since says so', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  addSkill(codebase, 'a', { add: { 'new.txt': 'new\n' }, modify: { 'notes.txt': [LINES, A] } });
  await codebase.claw('apply', 'a');
  codebase.write({ 'new.txt': 'new, and mine\n' });
  codebase.remove('notes.txt');
  expect((await codebase.claw('undo')).json.conflicts).toMatchObject([
    { path: 'new.txt', reason: 'The undo would delete this file, but you have changed it since.' },
    {
      path: 'notes.txt',
      reason: 'The undo would bring this file back, but you have deleted it since.',
    },
  ]);
});

test('a conflict of the core with an old package is resolved and holds for the next core', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  const core = LINES.replace('two', 'two of the core');
  codebase.write({ 'notes.txt': core });
  codebase.git('commit', '-qam', 'newer');
  codebase.git('tag', 'v1.1.0');
  addSkill(codebase, 'a', { modify: { 'notes.txt': [LINES, A] } });
  expect((await codebase.claw('apply', 'a')).json.conflicts).toMatchObject([
    { layers: ['core', 'a'] },
  ]);
  codebase.write({ '.claw/pending/notes.txt': LINES.replace('two', 'two of both') });
  expect((await codebase.claw('continue')).code).toBe(0);
  const release = core.replace('nine', 'nine of the core');
  await using newer = temporaryCodebase({
    'notes.txt': release,
    'package.json': '{ "version": "1.2.0" }\n',
  });
  expect(await codebase.claw('update', newer.root)).toMatchObject({ code: 0 });
  expect(codebase.read('notes.txt')).toBe(
    LINES.replace('two', 'two of both').replace('nine', 'nine of the core'),
  );
});

test.each([
  ['--ours', 'of a\n'],
  ['--theirs', LINES],
])('a rename onto another skill’s file is resolved by %s', async (side, text) => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  addSkill(codebase, 'a', { add: { 'new.txt': 'of a\n' } });
  addSkill(codebase, 'b', {
    base: { 'notes.txt': LINES },
    manifest: { file_ops: [{ type: 'rename', from: 'notes.txt', to: 'new.txt' }] },
  });
  expect((await codebase.claw('apply', 'a', 'b')).json.conflicts).toMatchObject([
    { path: 'new.txt', kind: 'add-add', layers: ['a', 'b'] },
  ]);
  await decided(codebase, 'new.txt', side);
  expect(codebase.read('new.txt')).toBe(text);
  expect(codebase.has('notes.txt')).toBe(false);
  expect((await codebase.claw('replay')).json.outcome).toBe('nothing');
  expect((await codebase.claw('remove', 'b')).code).toBe(0);
  expect([codebase.read('new.txt'), codebase.read('notes.txt')]).toEqual(['of a\n', LINES]);
});

test('a rename onto a file of the owner’s is resolved by a side', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  addSkill(codebase, 'b', {
    base: { 'notes.txt': LINES },
    manifest: { file_ops: [{ type: 'rename', from: 'notes.txt', to: 'new.txt' }] },
  });
  codebase.write({ 'new.txt': 'mine\n' });
  expect((await codebase.claw('apply', 'b')).json.conflicts).toMatchObject([
    { path: 'new.txt', kind: 'add-add', layers: ['your edits', 'b'] },
  ]);
  await decided(codebase, 'new.txt', '--ours');
  expect(codebase.read('new.txt')).toBe('mine\n');
  expect(codebase.has('notes.txt')).toBe(false);
});

test('what no text can resolve says so, instead of asking for ever', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  for (const skill of ['a', 'b']) {
    addSkill(codebase, skill, {
      base: { 'notes.txt': LINES },
      manifest: { file_ops: [{ type: 'rename', from: 'notes.txt', to: `${skill}.txt` }] },
    });
  }
  const blocked = await codebase.claw('apply', 'a', 'b');
  const [conflict] = blocked.json.conflicts;
  const refused = await codebase.claw('resolve', conflict?.path ?? '', '--ours');
  expect(refused).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
  expect(refused.json.error?.message).toMatch(
    /a renames notes.txt to a.txt, b to b.txt.*claw abort/,
  );
  await codebase.claw('abort');
  addSkill(codebase, 'c', { add: { 'new.txt': 'new\n' } });
  // Ignored, or the package would be refused before it is planned.
  codebase.write({ '.gitignore': 'new.txt/\n', 'new.txt/mine.txt': 'mine\n' });
  expect((await codebase.claw('apply', 'c')).json.error).toBe(null);
  const place = await codebase.claw('resolve', 'new.txt', '--theirs');
  expect(place.json.error?.message).toMatch(
    /a folder new\.txt.*Move that away, then claw continue/,
  );
  codebase.remove('new.txt');
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('new.txt')).toBe('new\n');
});

test('a conflict with the owner names who brought the lines, not who touched the file last', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  addSkill(codebase, 'a', { modify: { 'notes.txt': [LINES, LINES.replace('two', 'two of a')] } });
  addSkill(codebase, 'b', { modify: { 'notes.txt': [LINES, LINES.replace('nine', 'nine of b')] } });
  codebase.write({ 'notes.txt': LINES.replace('two', 'mine') });
  expect((await codebase.claw('apply', 'a', 'b')).json.conflicts).toMatchObject([
    { layers: ['your edits', 'a'], reason: 'You and a changed the same lines.' },
  ]);
  await codebase.claw('abort');
  codebase.write({ 'notes.txt': LINES });
  expect((await codebase.claw('apply', 'b')).code).toBe(0);
  codebase.write({ 'notes.txt': codebase.read('notes.txt').replace('two', 'mine') });
  const core = LINES.replace('two', 'two of the core');
  await using newer = temporaryCodebase({
    'notes.txt': core,
    'package.json': '{ "version": "1.1.0" }\n',
  });
  expect((await codebase.claw('update', newer.root)).json.conflicts).toMatchObject([
    { layers: ['your edits', 'core'], reason: 'You and core changed the same lines.' },
  ]);
  await decided(codebase, 'notes.txt', '--theirs');
  expect(codebase.read('notes.txt')).toBe(core.replace('nine', 'nine of b'));
  expect((await codebase.claw('status')).json.data).toMatchObject({
    core: { version: '1.1.0' },
    edits: [],
  });
});

test('a key that looks like a way out of the folder leads nowhere else', async () => {
  const key = 'a/../../../../escaped';
  const pkg = (value: string) =>
    `{ "version": "1.0.0", "config": { ${JSON.stringify(key)}: "${value}" } }\n`;
  await using codebase = temporaryCodebase({ 'package.json': pkg('core') }, { git: true });
  addSkill(codebase, 'a', { add: { 'a.txt': 'a\n' } });
  expect((await codebase.claw('apply', 'a')).code).toBe(0);
  codebase.write({ 'package.json': pkg('mine') });
  await using newer = temporaryCodebase({ 'package.json': pkg('newer') });
  const before = codebase.tree();
  const blocked = await codebase.claw('update', newer.root);
  const path = `package.json#config.${key}`;
  expect(blocked.json.conflicts).toMatchObject([{ path, kind: 'structured' }]);
  expect(codebase.tree()).toEqual(before);
  expect(fs.readdirSync(codebase.path('.claw/pending')).sort()).toContain(
    'package.json#config.a%2f..%2f..%2f..%2f..%2fescaped.ours',
  );
  await decided(codebase, path, '--theirs');
  expect(codebase.read('package.json')).toBe(pkg('newer'));
});

test('a file whose name holds a # is not a key: its customisation re-anchors', async () => {
  await using codebase = temporaryCodebase({ 'c#.txt': LINES, 'b.txt': 'b\n' }, { git: true });
  addSkill(codebase, 'a', { modify: { 'c#.txt': [LINES, A] } });
  addSkill(codebase, 'other', { modify: { 'b.txt': ['b\n', 'B\n'] } });
  codebase.write({ 'c#.txt': MINE });
  expect((await codebase.claw('customize', 'my words')).code).toBe(0);
  expect((await codebase.claw('apply', 'a')).code).toBe(3);
  await decided(codebase, 'c#.txt', '--take', 'mine');
  expect((await codebase.claw('apply', 'other')).code).toBe(0);
  expect(codebase.read('c#.txt')).toBe(MINE);
});
