import { cpSync, renameSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n';
const A = LINES.replace('two', 'TWO of a');
const B = LINES.replace('two', 'two of b');

/** Two skills that want the same line; the first one is applied. */
async function twoSkills(): Promise<Codebase> {
  const codebase = temporaryCodebase({ 'notes.txt': LINES, 'other.txt': LINES }, { git: true });
  addSkill(codebase, 'a', { modify: { 'notes.txt': [LINES, A] } });
  addSkill(codebase, 'b', { modify: { 'notes.txt': [LINES, B] } });
  expect((await codebase.claw('apply', 'a')).code).toBe(0);
  expect(await codebase.claw('apply', 'b')).toMatchObject({ code: 3 });
  return codebase;
}

test.each([
  ['--ours', A],
  ['--theirs', B],
])('%s of a conflict between two skills stands after continue', async (side, expected) => {
  await using codebase = await twoSkills();
  const resolved = await codebase.claw('resolve', 'notes.txt', side);
  expect(resolved).toMatchObject({ code: 0, json: { data: { open: [], origin: 'owner' } } });
  expect(codebase.read('notes.txt')).toBe(A);
  const done = await codebase.claw('continue');
  expect(done).toMatchObject({ code: 0, json: { verb: 'continue', data: { verb: 'apply' } } });
  expect(codebase.read('notes.txt')).toBe(expected);
  expect(codebase.has('.claw/pending')).toBe(false);
  expect(names(await codebase.claw('list'))).toEqual(['a', 'b']);
});

test('a finished file resolves a conflict, whichever folder it comes from', async () => {
  await using codebase = await twoSkills();
  codebase.write({ 'tmp/mine.txt': LINES.replace('two', 'two of both') });
  expect(await codebase.claw('resolve', 'notes.txt', '--with', 'gone.txt')).toMatchObject({
    code: 1,
    json: { error: { code: 'FILE_MISSING' } },
  });
  expect((await codebase.claw('resolve', 'notes.txt', '--with', 'tmp/mine.txt')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(LINES.replace('two', 'two of both'));
});

test('the text finished under .claw/pending resolves a conflict, with `resolve` or without', async () => {
  await using codebase = await twoSkills();
  codebase.write({ '.claw/pending/notes.txt': LINES.replace('two', 'by hand') });
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(LINES.replace('two', 'by hand'));
  expect((await codebase.claw('resolutions')).json.data).toMatchObject([
    { path: 'notes.txt', layers: ['a', 'b'], origin: 'owner', own: true, used: true },
  ]);
});

test('a text that still holds markers is refused, whole or in part', async () => {
  await using codebase = await twoSkills();
  const refused = { code: 1, json: { error: { code: 'MARKERS_PRESENT', path: 'notes.txt' } } };
  expect(await codebase.claw('resolve', 'notes.txt')).toMatchObject(refused);
  const marked = codebase.read('.claw/pending/notes.txt');
  codebase.write({ '.claw/pending/notes.txt': marked.replace(/^>{7}.*\n/m, '') });
  expect(await codebase.claw('resolve', 'notes.txt')).toMatchObject(refused);
  expect(await codebase.claw('continue')).toMatchObject({ code: 3 });
  expect(codebase.read('.claw/pending/notes.txt')).toBe(marked.replace(/^>{7}.*\n/m, ''));
  expect(codebase.read('notes.txt')).toBe(A);
});

test('what is changed outside the hunks becomes an edit of the owner’s in the same transaction', async () => {
  await using codebase = await twoSkills();
  const text = LINES.replace('two', 'two of both').replace('nine', 'NINE of mine');
  codebase.write({ '.claw/pending/notes.txt': text });
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(text);
  expect((await codebase.claw('status')).json.data).toMatchObject({
    edits: [{ path: 'notes.txt', kind: 'modify' }],
  });
  expect(codebase.read('.claw/composed/notes.txt')).toBe(LINES.replace('two', 'two of both'));
  expect((await codebase.claw('undo')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(A);
});

test('an edit made while resolving that meets the owner’s own is a conflict, and can be resolved like any other', async () => {
  await using codebase = await twoSkills();
  codebase.write({ 'notes.txt': A.replace('nine', 'nine on disk') });
  codebase.write({ '.claw/pending/notes.txt': A.replace('nine', 'nine while resolving') });
  const met = await codebase.claw('continue');
  expect(met).toMatchObject({
    code: 3,
    json: { conflicts: [{ path: 'notes.txt', layers: ['your edits', 'your resolution'] }] },
  });
  expect((await codebase.claw('resolve', 'notes.txt', '--theirs')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(A.replace('nine', 'nine while resolving'));
});

test('several conflicts in several files are decided one by one; until then continue stays blocked', async () => {
  await using codebase = temporaryCodebase(
    { 'one.txt': LINES, 'two.txt': LINES, 'three.txt': LINES },
    { git: true },
  );
  const wants = (skill: string) => {
    const twice = LINES.replace('two', `two of ${skill}`).replace('nine', `nine of ${skill}`);
    const both = [LINES, twice] as const;
    addSkill(codebase, skill, { modify: { 'one.txt': both, 'two.txt': both, 'three.txt': both } });
    return twice;
  };
  const a = wants('a');
  const b = wants('b');
  expect((await codebase.claw('apply', 'a')).code).toBe(0);
  const blocked = await codebase.claw('apply', 'b');
  expect(blocked.json.conflicts.map(({ hunks }) => hunks.length)).toEqual([2, 2, 2]);
  expect((await codebase.claw('resolve', 'one.txt', '--theirs')).json.data).toMatchObject({
    open: ['two.txt', 'three.txt'],
  });
  const half = codebase
    .read('.claw/pending/two.txt')
    .replace(/<{7}[\s\S]*?\|{7}[\s\S]*?>{7}.*\n/, 'x\n');
  codebase.write({ '.claw/pending/two.txt': half });
  const first = await codebase.claw('continue');
  expect(first.code).toBe(3);
  expect(first.json.conflicts.map(({ path }) => path)).toEqual(['two.txt', 'three.txt']);
  expect(codebase.read('.claw/pending/two.txt')).toBe(half);
  const mixed = LINES.replace('two', 'x').replace('nine', 'nine of a');
  codebase.write({ '.claw/pending/two.txt': mixed });
  expect((await codebase.claw('resolve', 'three.txt', '--ours')).code).toBe(0);
  // What was decided before is still there, and can be decided otherwise.
  expect((await codebase.claw('conflicts')).json.data).toMatchObject({ open: ['two.txt'] });
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('one.txt')).toBe(b);
  expect(codebase.read('two.txt')).toBe(mixed);
  expect(codebase.read('three.txt')).toBe(a);
});

test('what was decided can be decided otherwise until it is carried out', async () => {
  await using codebase = temporaryCodebase({ 'one.txt': LINES, 'two.txt': LINES }, { git: true });
  addSkill(codebase, 'a', { modify: { 'one.txt': [LINES, A], 'two.txt': [LINES, A] } });
  addSkill(codebase, 'b', { modify: { 'one.txt': [LINES, B], 'two.txt': [LINES, B] } });
  await codebase.claw('apply', 'a');
  await codebase.claw('apply', 'b');
  await codebase.claw('resolve', 'one.txt', '--ours');
  expect((await codebase.claw('continue')).json.conflicts.map(({ path }) => path)).toEqual([
    'two.txt',
  ]);
  expect((await codebase.claw('resolve', 'one.txt', '--theirs')).code).toBe(0);
  expect((await codebase.claw('resolve', 'two.txt', '--ours')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect([codebase.read('one.txt'), codebase.read('two.txt')]).toEqual([B, A]);
});

test('a second conflict in the same file comes to light once the first is resolved', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  for (const skill of ['a', 'b', 'c']) {
    const text = LINES.replace('two', `two of ${skill}`);
    addSkill(codebase, skill, { modify: { 'notes.txt': [LINES, text] } });
  }
  const blocked = await codebase.claw('apply', 'a', 'b', 'c');
  expect(blocked.json.conflicts).toMatchObject([{ layers: ['a', 'b'] }]);
  await codebase.claw('resolve', 'notes.txt', '--theirs');
  const second = await codebase.claw('continue');
  expect(second).toMatchObject({ code: 3, json: { conflicts: [{ layers: ['b', 'c'] }] } });
  await codebase.claw('resolve', 'notes.txt', '--theirs');
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(LINES.replace('two', 'two of c'));
  expect((await codebase.claw('resolutions')).json.data).toHaveLength(2);
});

test('abort forgets decisions and leaves the tree as it was', async () => {
  await using codebase = await twoSkills();
  const before = codebase.tree();
  await codebase.claw('resolve', 'notes.txt', '--theirs');
  expect((await codebase.claw('abort')).json.outcome).toBe('done');
  expect((await codebase.claw('continue')).json.outcome).toBe('nothing');
  expect(codebase.tree()).toEqual(before);
  expect(await codebase.claw('resolve', 'notes.txt', '--ours')).toMatchObject({
    code: 2,
    json: { error: { code: 'USAGE' } },
  });
});

test('other verbs wait while something is decided, and replace what nobody decided anything in', async () => {
  await using codebase = await twoSkills();
  addSkill(codebase, 'c', { add: { 'c.txt': 'c\n' } });
  expect(await codebase.claw('apply', 'b')).toMatchObject({ code: 3 });
  await codebase.claw('resolve', 'notes.txt', '--theirs');
  for (const verb of [
    ['apply', 'c'],
    ['remove', 'a'],
    ['replay'],
    ['customize', 'x'],
    ['rebase'],
  ]) {
    expect(await codebase.claw(...verb)).toMatchObject({
      code: 1,
      json: { error: { code: 'OPERATION_PENDING' } },
    });
  }
  expect((await codebase.claw('plan', 'apply', 'c')).code).toBe(0);
  expect((await codebase.claw('continue')).code).toBe(0);
  expect((await codebase.claw('apply', 'c')).code).toBe(0);
});

test('a command that changes nothing keeps what waits, and one that takes its place says so', async () => {
  await using codebase = await twoSkills();
  addSkill(codebase, 'c', { add: { 'c.txt': 'c\n' } });
  expect(await codebase.claw('apply', 'b')).toMatchObject({ code: 3 });
  const waits = async () => (await codebase.claw('conflicts')).json.data;
  const before = await waits();
  const idle = [['apply', 'a'], ['upgrade'], ['replay'], ['plan', 'apply', 'c'], ['status']];
  for (const verb of [...idle, ['remove', 'unknown'], ['apply', 'unknown']]) {
    const { json } = await codebase.claw(...verb);
    expect(json.changes.length === 0 || verb[0] === 'plan', verb.join(' ')).toBe(true);
    expect(await waits(), verb.join(' ')).toEqual(before);
  }
  const replaced = await codebase.claw('apply', 'c');
  expect(replaced).toMatchObject({ code: 0 });
  expect(replaced.json.warnings.join()).toContain(
    '"apply b" waited for decisions and is forgotten',
  );
  expect(await waits()).toMatchObject({ operation: null });
});

test('an undo that meets conflicts never takes the place of decisions', async () => {
  await using codebase = await twoSkills();
  await codebase.claw('resolve', 'notes.txt', '--theirs');
  codebase.write({ 'notes.txt': A.replace('TWO', 'TWO and mine') });
  const before = (await codebase.claw('conflicts')).json.data;
  expect(await codebase.claw('undo')).toMatchObject({
    code: 1,
    json: { error: { code: 'OPERATION_PENDING' } },
  });
  expect((await codebase.claw('conflicts')).json.data).toEqual(before);
});

test('where nothing waits, continue, resolve and abort say the same', async () => {
  await using codebase = await twoSkills();
  await codebase.claw('abort');
  for (const verb of ['continue', 'resolve', 'abort']) {
    const run = await codebase.claw(verb);
    expect(run, verb).toMatchObject({ code: 0, json: { verb, outcome: 'nothing' } });
  }
});

test('a state that changed under a waiting operation is refused, and nothing decided is lost', async () => {
  await using codebase = await twoSkills();
  await codebase.claw('resolve', 'notes.txt', '--theirs');
  const state = codebase.read('.claw/state.yaml');
  codebase.write({ '.claw/state.yaml': `${state}# merged\n` });
  const changed = { code: 1, json: { error: { code: 'STATE_CHANGED' } } };
  expect(await codebase.claw('continue')).toMatchObject(changed);
  expect(await codebase.claw('resolve', 'notes.txt', '--ours')).toMatchObject(changed);
  codebase.write({ '.claw/state.yaml': state });
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(B);
});

test('undo keeps what was decided in an operation that waits', async () => {
  await using codebase = await twoSkills();
  await codebase.claw('resolve', 'notes.txt', '--theirs');
  expect((await codebase.claw('undo')).code).toBe(0);
  expect((await codebase.claw('conflicts')).json.data).toMatchObject({ open: [] });
  expect(await codebase.claw('continue')).toMatchObject({
    code: 1,
    json: { error: { code: 'STATE_CHANGED' } },
  });
});

test('a file that is edited after the decision asks again where it matters', async () => {
  await using codebase = temporaryCodebase({ 'notes.txt': LINES }, { git: true });
  addSkill(codebase, 'a', { modify: { 'notes.txt': [LINES, A] } });
  codebase.write({ 'notes.txt': LINES.replace('two', 'mine') });
  expect((await codebase.claw('apply', 'a')).code).toBe(3);
  await codebase.claw('resolve', 'notes.txt', '--theirs');
  codebase.write({ 'notes.txt': LINES.replace('two', 'mine, but better') });
  expect((await codebase.claw('continue')).code).toBe(3);
  codebase.write({ 'notes.txt': LINES.replace('two', 'mine').replace('ten', 'more of mine') });
  expect((await codebase.claw('resolve', 'notes.txt', '--theirs')).code).toBe(0);
  const again = await codebase.claw('continue');
  expect(again.code).toBe(3);
  await codebase.claw('resolve', 'notes.txt', '--theirs');
  expect((await codebase.claw('continue')).code).toBe(0);
  expect(codebase.read('notes.txt')).toBe(A.replace('ten', 'more of mine'));
});

function names({ json }: { json: { data: unknown } }): readonly string[] {
  return (json.data as { name: string }[]).map(({ name }) => name);
}

test('a kill while an operation is laid out anew loses neither it nor what was decided', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'one\ntwo\nthree\n' }, { git: true });
  for (const name of ['alpha', 'beta']) {
    addSkill(codebase, name, {
      modify: { 'a.txt': ['one\ntwo\nthree\n', `one\n${name}\nthree\n`] },
    });
  }
  await codebase.claw('apply', 'alpha');
  expect((await codebase.claw('apply', 'beta')).code).toBe(3);
  expect((await codebase.claw('resolve', 'a.txt', '--theirs')).code).toBe(0);
  // What a process leaves that dies between its two renames.
  renameSync(codebase.path('.claw/pending'), codebase.path('.claw/cache/pending-1.former'));
  expect(await codebase.claw('continue')).toMatchObject({ code: 0, json: { outcome: 'done' } });
  expect(codebase.read('a.txt')).toBe('one\nbeta\nthree\n');
});

test('what a kill left of an older layout does not wait again once the newer one is forgotten', async () => {
  await using codebase = await twoSkills();
  await codebase.claw('apply', 'b');
  cpSync(codebase.path('.claw/pending'), codebase.path('.claw/cache/pending-1.former'), {
    recursive: true,
  });
  expect((await codebase.claw('resolve', 'notes.txt', '--theirs')).code).toBe(0);
  expect((await codebase.claw('abort')).json.outcome).toBe('done');
  expect((await codebase.claw('abort')).json.outcome).toBe('nothing');
  expect(await codebase.claw('continue')).toMatchObject({ json: { outcome: 'nothing' } });
});
