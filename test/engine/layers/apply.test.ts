import { expect, test } from 'vitest';
import {
  addSkill,
  commitAll,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';

test('a skill is woven in and taken out again, byte for byte', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  addSkill(codebase, 'demo', {
    add: { 'src/deep/new.ts': 'new\n' },
    modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] },
  });
  const before = codebase.tree();
  const applied = await codebase.claw('apply', 'demo');
  expect(applied).toMatchObject({ code: 0, json: { ok: true, outcome: 'done', error: null } });
  expect(applied.json.changes).toEqual([
    { path: 'src/a.ts', kind: 'modify', cause: 'demo' },
    { path: 'src/deep/new.ts', kind: 'add', cause: 'demo' },
  ]);
  expect(codebase.read('src/a.ts')).toBe(LINES.replace('one', 'ONE'));
  expect((await codebase.claw('remove', 'demo')).code).toBe(0);
  expect(codebase.tree()).toEqual(before);
});

test.each([
  ['src/Note.ts', 'src/note.ts'],
  ['src/note', 'src/note/index.ts'],
])('skills that add %s and %s are refused together as they are one by one', async (one, other) => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  addSkill(codebase, 'first', { add: { [one]: 'first\n' } });
  addSkill(codebase, 'second', { add: { [other]: 'second\n' } });
  const before = codebase.tree();
  const together = await codebase.claw('apply', 'first', 'second');
  expect(together).toMatchObject({ code: 1, json: { error: { code: 'PATH_COLLISION' } } });
  expect(together.json.error?.message).toContain(`${other} of second and ${one} of first`);
  expect(codebase.tree()).toEqual(before);
  expect((await codebase.claw('apply', 'first')).code).toBe(0);
  const after = await codebase.claw('apply', 'second');
  expect(after).toMatchObject({ code: together.code, json: { error: { code: 'PATH_COLLISION' } } });
});

test('a newer core line survives a skill that was written against an older core', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  codebase.write({ 'src/a.ts': LINES.replace('seven', 'seven, mended') });
  commitAll(codebase, 'a fix');
  codebase.git('tag', 'v1.1.0');
  addSkill(codebase, 'demo', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] } });
  expect((await codebase.claw('apply', 'demo')).code).toBe(0);
  expect(codebase.read('src/a.ts')).toBe('ONE\ntwo\nthree\nfour\nfive\nsix\nseven, mended\n');
});

test('unrecorded edits survive apply, remove and undo', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  addSkill(codebase, 'demo', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] } });
  const edited = LINES.replace('seven', 'mine');
  codebase.write({ 'src/a.ts': edited, 'notes.txt': 'mine\n' });
  await codebase.claw('apply', 'demo');
  expect(codebase.read('src/a.ts')).toBe(edited.replace('one', 'ONE'));
  codebase.write({ 'src/a.ts': codebase.read('src/a.ts').replace('four', 'mine too') });
  await codebase.claw('remove', 'demo');
  expect(codebase.read('src/a.ts')).toBe(edited.replace('four', 'mine too'));
  await codebase.claw('undo');
  expect(codebase.read('src/a.ts')).toBe(edited.replace('four', 'mine too').replace('one', 'ONE'));
  expect(codebase.read('notes.txt')).toBe('mine\n');
});

test('an undo can be planned: it names what would be taken back, and touches nothing', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  expect((await codebase.claw('plan', 'undo')).json.error).toMatchObject({
    code: 'NOTHING_TO_UNDO',
  });
  addSkill(codebase, 'demo', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] } });
  await codebase.claw('apply', 'demo');
  const before = codebase.tree();
  const planned = await codebase.claw('plan', 'undo');
  expect(planned).toMatchObject({ code: 0, json: { verb: 'plan', outcome: 'done' } });
  expect(planned.json.data).toMatchObject({ verb: 'undo', undone: 'apply demo' });
  expect(planned.json.changes).toEqual([
    { path: 'src/a.ts', kind: 'modify', cause: 'undo apply demo' },
  ]);
  expect(codebase.tree()).toEqual(before);
  // Here is what an edit in the skill's own line makes of it.
  codebase.write({ 'src/a.ts': LINES.replace('one', 'mine') });
  expect(await codebase.claw('plan', 'undo')).toMatchObject({
    code: 3,
    json: { outcome: 'blocked' },
  });
});

test('the order of applying does not matter', async () => {
  const files = { 'src/a.ts': LINES };
  await using one = temporaryCodebase(files, { git: true });
  await using other = temporaryCodebase(files, { git: true });
  for (const codebase of [one, other]) {
    addSkill(codebase, 'alpha', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'A')] } });
    addSkill(codebase, 'beta', { modify: { 'src/a.ts': [LINES, LINES.replace('seven', 'B')] } });
  }
  await one.claw('apply', 'alpha');
  await one.claw('apply', 'beta');
  await other.claw('apply', 'beta');
  await other.claw('apply', 'alpha');
  expect(one.tree()).toEqual(other.tree());
  await using both = temporaryCodebase(files, { git: true });
  both.write(
    Object.fromEntries(
      Object.entries(one.tree()).filter(
        ([path]) => path.startsWith('skills/') && !path.endsWith('/'),
      ),
    ),
  );
  await both.claw('apply', 'beta', 'alpha');
  expect(both.tree()).toEqual(one.tree());
});

test('a conflict blocks, leaves the tree, and shows the marked text', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  addSkill(codebase, 'alpha', { modify: { 'src/a.ts': [LINES, LINES.replace('four', 'A')] } });
  addSkill(codebase, 'beta', { modify: { 'src/a.ts': [LINES, LINES.replace('four', 'B')] } });
  await codebase.claw('apply', 'alpha');
  const before = codebase.tree();
  const blocked = await codebase.claw('apply', 'beta');
  expect(blocked.code).toBe(3);
  expect(blocked.json).toMatchObject({ ok: false, outcome: 'blocked' });
  expect(blocked.json.conflicts).toMatchObject([
    {
      path: 'src/a.ts',
      kind: 'content',
      layers: ['alpha', 'beta'],
      hunks: [{ base: 'four\n', ours: 'A\n', theirs: 'B\n' }],
    },
  ]);
  expect(codebase.tree()).toEqual(before);
  const marked = codebase.read('.claw/pending/src/a.ts');
  expect(marked).toContain('<<<<<<< alpha\nA\n||||||| base\nfour\n=======\nB\n>>>>>>> beta\n');
  expect((await codebase.claw('abort')).json.outcome).toBe('done');
  expect(codebase.has('.claw/pending')).toBe(false);
  expect(await codebase.claw('abort')).toMatchObject({ code: 0, json: { outcome: 'nothing' } });
});

test('an edit of the owner on the lines of a skill is a conflict on removal, never a loss', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  addSkill(codebase, 'demo', {
    add: { 'src/new.ts': 'new\n' },
    modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] },
  });
  await codebase.claw('apply', 'demo');
  codebase.write({ 'src/new.ts': 'new\nand mine\n' });
  const removed = await codebase.claw('remove', 'demo');
  expect(removed.code).toBe(3);
  expect(removed.json.conflicts).toMatchObject([{ path: 'src/new.ts', kind: 'modify-delete' }]);
  expect(codebase.read('src/new.ts')).toBe('new\nand mine\n');
});

test('a file of the owner is never overwritten by an added one', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  codebase.write({ 'src/new.ts': 'mine\n' });
  addSkill(codebase, 'demo', { add: { 'src/new.ts': 'theirs\n' } });
  const run = await codebase.claw('apply', 'demo');
  expect(run).toMatchObject({
    code: 3,
    json: { conflicts: [{ path: 'src/new.ts', kind: 'add-add' }] },
  });
  codebase.write({ 'src/new.ts': 'theirs\n' });
  expect((await codebase.claw('apply', 'demo')).code).toBe(0);
});

test('plan says what would happen and touches nothing', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  addSkill(codebase, 'demo', { add: { 'src/new.ts': 'new\n' } });
  const before = codebase.tree();
  const plan = await codebase.claw('plan', 'apply', 'demo');
  expect(plan).toMatchObject({ code: 0, json: { changes: [{ path: 'src/new.ts', kind: 'add' }] } });
  expect(codebase.tree()).toEqual(before);
  expect(codebase.has('.claw')).toBe(false);
});

test('a folder without git, without package.json, without TypeScript is a codebase too', async () => {
  await using codebase = temporaryCodebase({ 'main.py': 'print("a")\n', 'deep/b.txt': 'b\n' });
  addSkill(codebase, 'demo', {
    core: '0.1.0',
    modify: { 'main.py': ['print("a")\n', 'print("a")\nprint("b")\n'] },
  });
  const before = codebase.tree();
  const run = await codebase.claw('apply', 'demo');
  expect(run.code).toBe(0);
  expect(run.json.warnings.join()).toContain('no git history');
  expect(codebase.read('main.py')).toContain('print("b")');
  expect((await codebase.claw('remove', 'demo')).code).toBe(0);
  expect(codebase.tree()).toEqual(before);
});

test('a skill is found by folder as well as by name, and the state holds no absolute path', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  await using elsewhere = temporaryCodebase({});
  addSkill(elsewhere, 'demo', { add: { 'b.txt': 'b\n' } });
  const run = await codebase.claw('apply', elsewhere.path('skills/demo'));
  expect(run.code).toBe(0);
  expect(codebase.read('.claw/state.yaml')).not.toContain(elsewhere.root);
  elsewhere.remove('skills');
  expect((await codebase.claw('remove', 'demo')).code).toBe(0);
});

test('other bytes under an installed version are a digest mismatch', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  addSkill(codebase, 'demo', { add: { 'b.txt': 'b\n' } });
  await codebase.claw('apply', 'demo');
  addSkill(codebase, 'demo', { add: { 'b.txt': 'changed\n' } });
  const run = await codebase.claw('apply', 'demo');
  expect(run).toMatchObject({ code: 1, json: { error: { code: 'DIGEST_MISMATCH' } } });
});

test('an older core is refused, and a skill that another needs stays', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  addSkill(codebase, 'future', { core: '2.0.0', add: { 'f.txt': 'f\n' } });
  addSkill(codebase, 'ground', { add: { 'g.txt': 'g\n' } });
  addSkill(codebase, 'house', { add: { 'h.txt': 'h\n' }, manifest: { depends: ['ground@^1.0'] } });
  const future = await codebase.claw('apply', 'future');
  expect(future).toMatchObject({ code: 1, json: { error: { code: 'CORE_TOO_OLD' } } });
  expect((await codebase.claw('apply', 'house')).json.error?.code).toBe('SKILL_NEEDED');
  expect((await codebase.claw('apply', 'house', 'ground')).code).toBe(0);
  const removal = await codebase.claw('remove', 'ground');
  expect(removal).toMatchObject({ code: 1, json: { error: { code: 'SKILL_NEEDED' } } });
  expect((await codebase.claw('remove', 'ground', 'house')).code).toBe(0);
});

test('conflicts are honoured from both sides', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  addSkill(codebase, 'cat', { add: { 'c.txt': 'c\n' } });
  addSkill(codebase, 'dog', { add: { 'd.txt': 'd\n' }, manifest: { conflicts: ['cat'] } });
  await codebase.claw('apply', 'dog');
  expect((await codebase.claw('apply', 'cat')).json.error?.code).toBe('SKILL_CONFLICT');
});

test('a missing skill is answered with the nearest names', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  addSkill(codebase, 'telegram', { add: { 'b.txt': 'b\n' } });
  const run = await codebase.claw('apply', 'telegarm');
  expect(run).toMatchObject({ code: 1, json: { error: { code: 'SKILL_NOT_FOUND' } } });
  expect(run.json.error?.message).toContain('telegram');
  expect(codebase.has('.claw')).toBe(false);
});

test('init takes the core once, and writes nothing outside .claw', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'a\n' }, { git: true });
  const before = codebase.tree();
  expect((await codebase.claw('init', '--core-version', '3.0.0')).code).toBe(0);
  expect(codebase.tree()).toEqual(before);
  expect(codebase.read('.claw/base/a.txt')).toBe('a\n');
  expect((await codebase.claw('status')).json.data).toMatchObject({ core: { version: '3.0.0' } });
  const again = await codebase.claw('init');
  expect(again).toMatchObject({ code: 1, json: { error: { code: 'ALREADY_INITIALISED' } } });
});

test('the state survives a package whose source is gone, and verify names the owner of a line', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  addSkill(codebase, 'demo', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] } });
  await codebase.claw('apply', 'demo');
  codebase.remove('skills');
  codebase.write({ 'src/a.ts': codebase.read('src/a.ts').replace('five', 'mine') });
  const run = await codebase.claw('verify');
  expect(run).toMatchObject({
    code: 0,
    json: { data: { clean: false, edits: [{ path: 'src/a.ts', lines: [[5, 5]] }] } },
  });
  expect((await codebase.claw('remove', 'demo')).code).toBe(0);
  expect(openCodebase(codebase.root).read('src/a.ts')).toBe(LINES.replace('five', 'mine'));
});
