import { cpSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { addRelease, versioned } from '../releases.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const line = (from: string, to: string, text = LINES) => text.replace(`${from}\n`, `${to}\n`);

/** A core of three files, with a skill that adds one and changes one. */
function installation(options: { git?: boolean } = { git: true }): Codebase {
  const files = {
    'package.json': versioned('1.0.0'),
    'src/a.ts': LINES,
    'src/b.ts': LINES,
    'src/c.ts': LINES,
  };
  const codebase = temporaryCodebase(files, options);
  addSkill(codebase, 'demo', {
    add: { 'src/demo.ts': 'demo\n' },
    modify: { 'src/a.ts': [LINES, line('one', 'ONE of demo')] },
  });
  if (options.git) commitAll(codebase, 'skills');
  return codebase;
}

/** The next release as a folder of its own. */
function folderRelease(version: string, change: Record<string, string> = {}): Codebase {
  const files = { 'src/a.ts': line('nine', 'NINE of 1.1'), 'src/b.ts': LINES, 'src/c.ts': LINES };
  return temporaryCodebase({ 'package.json': versioned(version), ...files, ...change });
}

function nextRelease(codebase: Codebase): string {
  return addRelease(codebase, 'v1.1.0', {
    files: {
      'package.json': versioned('1.1.0'),
      'src/a.ts': line('nine', 'NINE of 1.1'),
      'src/new.ts': 'new\n',
    },
    gone: ['src/c.ts'],
  });
}

const updated = line('one', 'ONE of demo', line('nine', 'NINE of 1.1'));

for (const form of ['tag', 'branch', 'commit', 'short commit'] as const) {
  test.concurrent(`update takes a ${form} as git knows it here`, async () => {
    await using codebase = installation();
    const commit = nextRelease(codebase);
    codebase.git('branch', 'upstream/next', commit);
    await codebase.claw('apply', 'demo');
    const ref = {
      tag: 'v1.1.0',
      branch: 'upstream/next',
      commit,
      'short commit': commit.slice(0, 9),
    };
    const run = await codebase.claw('update', ref[form]);
    expect(run.json).toMatchObject({ ok: true, outcome: 'done', error: null });
    expect(run.json.data).toMatchObject({
      from: { version: '1.0.0' },
      to: { version: '1.1.0', commit },
    });
    expect(codebase.read('src/a.ts')).toBe(updated);
    expect(codebase.read('src/new.ts')).toBe('new\n');
    expect(codebase.has('src/c.ts')).toBe(false);
    expect(codebase.read('src/demo.ts')).toBe('demo\n');
    expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
    expect((await codebase.claw('status')).json.data).toMatchObject({
      core: { version: '1.1.0', commit },
      edits: [],
    });
  });
}

test.concurrent('update takes a folder, relative to where it is run, and needs no git at all', async () => {
  await using codebase = installation({ git: false });
  await using release = folderRelease('1.1.0');
  expect((await codebase.claw('init')).code).toBe(0);
  await codebase.claw('apply', 'demo');
  const below = openCodebase(codebase.path('src'));
  const run = await below.claw('update', relative(below.root, release.root));
  expect(run.json).toMatchObject({ ok: true, outcome: 'done', error: null });
  expect(codebase.read('src/a.ts')).toBe(updated);
  expect(codebase.read('.claw/state.yaml')).not.toContain(release.root);
  // Replay needs nothing of the folder.
  release.remove('.');
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
  expect((await codebase.claw('replay')).json.outcome).toBe('nothing');
  await codebase.claw('remove', 'demo');
  expect(codebase.read('src/a.ts')).toBe(line('nine', 'NINE of 1.1'));
});

test.concurrent('update to what is installed has nothing to do', async () => {
  await using codebase = installation();
  await using release = folderRelease('1.1.0');
  nextRelease(codebase);
  await codebase.claw('init');
  await codebase.claw('apply', 'demo');
  const before = [codebase.tree(), codebase.state()];
  expect((await codebase.claw('update', 'v1.0.0')).json).toMatchObject({
    outcome: 'nothing',
    changes: [],
  });
  expect([codebase.tree(), codebase.state()]).toEqual(before);
  await codebase.claw('update', release.root);
  const after = [codebase.tree(), codebase.state()];
  expect((await codebase.claw('update', release.root)).json.outcome).toBe('nothing');
  expect([codebase.tree(), codebase.state()]).toEqual(after);
});

test.concurrent('a first apply’s assumed tag is made the owner’s word, or is nothing to do', async () => {
  await using codebase = installation();
  await codebase.claw('apply', 'demo');
  const run = await codebase.claw('update', 'v1.0.0');
  expect(run.json).toMatchObject({ outcome: 'nothing', changes: [] });
});

test.concurrent('plan update tells what would change, which layers work on it, and touches nothing', async () => {
  await using codebase = installation();
  nextRelease(codebase);
  await codebase.claw('apply', 'demo');
  codebase.write({ 'src/c.ts': line('two', 'mine') });
  const before = [codebase.tree(), codebase.state()];
  const run = await codebase.claw('plan', 'update', 'v1.1.0');
  expect(run.code).toBe(3);
  expect(run.json.conflicts).toMatchObject([{ path: 'src/c.ts', kind: 'modify-delete' }]);
  expect(run.json.data).toMatchObject({
    verb: 'update',
    from: { version: '1.0.0' },
    to: { version: '1.1.0' },
    files: 4,
    affected: { demo: ['src/a.ts'] },
  });
  codebase.write({ 'src/c.ts': LINES });
  const clean = await codebase.claw('plan', 'update', 'v1.1.0');
  expect(clean.code).toBe(0);
  expect(clean.json.changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    'modify package.json',
    'modify src/a.ts',
    'delete src/c.ts',
    'add src/new.ts',
  ]);
  codebase.write({ 'src/c.ts': line('two', 'mine') });
  expect([codebase.tree(), codebase.state()]).toEqual(before);
});

test.concurrent('edits stay: unrecorded, committed and recorded, in files of the core and of skills', async () => {
  await using codebase = installation();
  nextRelease(codebase);
  await codebase.claw('apply', 'demo');
  codebase.write({ 'src/b.ts': line('three', 'recorded') });
  expect((await codebase.claw('customize', 'a third line of my own')).code).toBe(0);
  codebase.write({ 'src/a.ts': line('five', 'committed', codebase.read('src/a.ts')) });
  codebase.write({ 'src/committed.ts': 'mine\n' });
  commitAll(codebase, 'my work');
  codebase.write({ 'src/demo.ts': 'demo\nunrecorded\n', 'src/untracked.ts': 'mine\n' });
  expect((await codebase.claw('update', 'v1.1.0')).json.error).toBe(null);
  expect(codebase.read('src/a.ts')).toBe(line('five', 'committed', updated));
  expect(codebase.read('src/b.ts')).toBe(line('three', 'recorded'));
  expect(codebase.read('src/demo.ts')).toBe('demo\nunrecorded\n');
  const status = (await codebase.claw('status')).json.data;
  expect(status).toMatchObject({
    edits: [
      { path: 'src/a.ts', kind: 'modify' },
      { path: 'src/committed.ts', kind: 'add' },
      { path: 'src/demo.ts', kind: 'modify' },
      { path: 'src/untracked.ts', kind: 'add' },
    ],
  });
  await codebase.claw('remove', 'custom-a-third-line-of-my-own');
  expect(codebase.read('src/b.ts')).toBe(LINES);
});

test.concurrent('a conflict blocks it; what is resolved goes on, and is remembered for the next release', async () => {
  await using codebase = installation();
  addRelease(codebase, 'v1.1.0', {
    files: { 'package.json': versioned('1.1.0'), 'src/a.ts': line('one', 'ONE of 1.1') },
  });
  addRelease(codebase, 'v1.2.0', {
    from: 'v1.1.0',
    files: {
      'package.json': versioned('1.2.0'),
      'src/a.ts': line('one', 'ONE of 1.1', line('nine', 'NINE of 1.2')),
    },
  });
  await codebase.claw('apply', 'demo');
  const before = codebase.tree();
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.code).toBe(3);
  expect(run.json.conflicts).toMatchObject([
    { path: 'src/a.ts', kind: 'content', layers: ['core', 'demo'] },
  ]);
  expect(codebase.tree()).toEqual(before);
  const again = await codebase.claw('update', 'v1.1.0');
  expect(again).toMatchObject({ code: 1, json: { error: { code: 'OPERATION_PENDING' } } });
  codebase.write({ 'resolved.txt': line('one', 'ONE of both') });
  await codebase.claw('resolve', 'src/a.ts', '--with', 'resolved.txt');
  codebase.remove('resolved.txt');
  expect((await codebase.claw('continue')).json).toMatchObject({ outcome: 'done', error: null });
  expect(codebase.read('src/a.ts')).toBe(line('one', 'ONE of both'));
  expect((await codebase.claw('update', 'v1.2.0')).json.error).toBe(null);
  expect(codebase.read('src/a.ts')).toBe(line('one', 'ONE of both', line('nine', 'NINE of 1.2')));
});

test.concurrent('nothing is updated under an operation that waits', async () => {
  await using codebase = installation();
  nextRelease(codebase);
  addSkill(codebase, 'other', { modify: { 'src/a.ts': [LINES, line('one', 'ONE of other')] } });
  await codebase.claw('apply', 'demo');
  expect((await codebase.claw('apply', 'other')).code).toBe(3);
  const before = [codebase.tree(), codebase.state()];
  const refused = await codebase.claw('update', 'v1.1.0');
  expect(refused).toMatchObject({ code: 1, json: { error: { code: 'OPERATION_PENDING' } } });
  expect([codebase.tree(), codebase.state()]).toEqual(before);
  await codebase.claw('abort');
  expect((await codebase.claw('update', 'v1.1.0')).json.error).toBe(null);
});

test.concurrent('a release without a file that a layer changes is blocked, and the layer named', async () => {
  await using codebase = installation();
  addSkill(codebase, 'other', {
    modify: { 'src/c.ts': [LINES, line('two', 'TWO of other')] },
    manifest: { file_ops: [{ type: 'rename', from: 'src/b.ts', to: 'src/moved.ts' }] },
    base: { 'src/b.ts': LINES },
  });
  addRelease(codebase, 'v1.1.0', {
    files: { 'package.json': versioned('1.1.0') },
    gone: ['src/b.ts', 'src/c.ts'],
  });
  await codebase.claw('apply', 'demo', 'other');
  const before = codebase.tree();
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.code).toBe(3);
  expect(run.json.conflicts.map(({ path, kind, layers }) => ({ path, kind, layers }))).toEqual([
    { path: 'src/b.ts', kind: 'modify-delete', layers: ['core', 'other'] },
    { path: 'src/c.ts', kind: 'modify-delete', layers: ['core', 'other'] },
  ]);
  expect(codebase.tree()).toEqual(before);
});

test.concurrent('a file that a release deletes is asked about once for all skills, and never again', async () => {
  await using codebase = installation();
  const files = { alpha: line('one', 'ONE of alpha'), beta: line('nine', 'NINE of beta') };
  for (const [name, text] of Object.entries(files)) {
    addSkill(codebase, name, { modify: { 'src/c.ts': [LINES, text] } });
  }
  addSkill(codebase, 'gamma', {
    modify: { 'src/c.ts': [LINES, line('five', 'FIVE of gamma')] },
  });
  addRelease(codebase, 'v1.1.0', {
    files: { 'package.json': versioned('1.1.0') },
    gone: ['src/c.ts'],
  });
  await codebase.claw('apply', 'alpha', 'beta');
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run).toMatchObject({
    code: 3,
    json: {
      conflicts: [{ path: 'src/c.ts', kind: 'modify-delete', layers: ['core', 'alpha, beta'] }],
    },
  });
  expect(run.json.conflicts).toHaveLength(1);
  expect((await codebase.claw('resolve', 'src/c.ts', '--take', 'release')).code).toBe(0);
  expect(await codebase.claw('continue')).toMatchObject({ code: 0 });
  expect(codebase.has('src/c.ts')).toBe(false);
  expect(await codebase.claw('replay')).toMatchObject({ code: 0, json: { conflicts: [] } });

  // Another one's work on it is not gone unasked.
  const more = await codebase.claw('apply', 'gamma');
  expect(more).toMatchObject({
    code: 3,
    json: { conflicts: [{ path: 'src/c.ts', layers: ['core', 'alpha, beta, gamma'] }] },
  });
  expect((await codebase.claw('resolve', 'src/c.ts', '--theirs')).code).toBe(0);
  expect(await codebase.claw('continue')).toMatchObject({ code: 0 });
  const all = line('one', 'ONE of alpha', line('nine', 'NINE of beta'));
  expect(codebase.read('src/c.ts')).toBe(line('five', 'FIVE of gamma', all));
  // That it stays holds for each of them: for two of the three, for one, and for all again.
  expect(await codebase.claw('remove', 'beta')).toMatchObject({ code: 0 });
  const two = line('five', 'FIVE of gamma', line('one', 'ONE of alpha'));
  expect(codebase.read('src/c.ts')).toBe(two);
  expect(await codebase.claw('remove', 'gamma')).toMatchObject({ code: 0 });
  expect(codebase.read('src/c.ts')).toBe(line('one', 'ONE of alpha'));
  expect(await codebase.claw('apply', 'beta', 'gamma')).toMatchObject({ code: 0 });
  expect(codebase.read('src/c.ts')).toBe(line('five', 'FIVE of gamma', all));
  expect(await codebase.claw('verify')).toMatchObject({ code: 0 });
  for (let undone = 0; undone < 4; undone += 1) {
    expect(await codebase.claw('undo')).toMatchObject({ code: 0 });
  }
  expect(codebase.has('src/c.ts')).toBe(false);
  expect(await codebase.claw('remove', 'alpha')).toMatchObject({
    code: 0,
    json: { conflicts: [] },
  });
  expect(await codebase.claw('verify')).toMatchObject({ code: 0 });
});

test.concurrent('a file of the owner’s where the release brings another one is a conflict', async () => {
  await using codebase = installation();
  nextRelease(codebase);
  await codebase.claw('apply', 'demo');
  codebase.write({ 'src/new.ts': 'mine\n' });
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.code).toBe(3);
  expect(run.json.conflicts).toMatchObject([{ path: 'src/new.ts', kind: 'add-add' }]);
  await codebase.claw('abort');
  codebase.write({ 'src/new.ts': 'new\n' });
  expect((await codebase.claw('update', 'v1.1.0')).code).toBe(0);
});

test.concurrent('without a name the newest release comes, also before the first skill', async () => {
  await using codebase = installation();
  expect((await codebase.claw('update')).json).toMatchObject({ outcome: 'nothing', error: null });
  nextRelease(codebase);
  expect(await codebase.claw('update')).toMatchObject({
    code: 0,
    json: { outcome: 'done', data: { to: { version: '1.1.0' } } },
  });
  const again = await codebase.claw('update');
  expect(again).toMatchObject({ code: 0, json: { outcome: 'nothing' } });
  expect(again.json.warnings.join()).toContain(
    'You have the newest release that git knows here: 1.1.0',
  );
});

test.concurrent('the first update is planned as it is carried out, and a plan writes nothing', async () => {
  await using codebase = installation();
  nextRelease(codebase);
  codebase.write({ 'src/a.ts': line('five', 'mine', codebase.read('src/a.ts')) });
  const planned = await codebase.claw('plan', 'update');
  expect(planned).toMatchObject({ code: 0, json: { outcome: 'done', data: { verb: 'update' } } });
  expect(codebase.has('.claw')).toBe(false);
  const done = await codebase.claw('update', '--expect', String(Object(planned.json.data)['plan']));
  expect(done).toMatchObject({ code: 0, json: { changes: planned.json.changes } });
  expect(codebase.read('src/a.ts')).toContain('mine');
  expect((await codebase.claw('plan', 'update')).json).toMatchObject({ outcome: 'nothing' });
});

test.concurrent('refused: an unknown ref, itself, a core older than a package', async () => {
  await using codebase = installation();
  nextRelease(codebase);
  expect(await codebase.claw('update', 'nowhere')).toMatchObject({
    code: 1,
    json: { error: { code: 'RELEASE_NOT_FOUND' } },
  });
  expect(codebase.has('.claw')).toBe(false);
  await codebase.claw('apply', 'demo');
  await codebase.claw('update', 'v1.1.0');
  addSkill(codebase, 'newer', { core: '1.1.0', add: { 'src/newer.ts': 'newer\n' } });
  await codebase.claw('apply', 'newer');
  const before = [codebase.tree(), codebase.state()];
  const refusals = {
    'no-such-ref': 'RELEASE_NOT_FOUND',
    './src/a.ts': 'RELEASE_NOT_FOUND',
    '.': 'USAGE',
    'v1.0.0': 'CORE_TOO_OLD',
  };
  for (const [ref, code] of Object.entries(refusals)) {
    const run = await codebase.claw('update', ref);
    expect(run.json).toMatchObject({ ok: false, error: { code } });
    expect(run.code).toBe(code === 'USAGE' ? 2 : 1);
  }
  const back = await codebase.claw('plan', 'update', 'v1.0.0');
  expect(back.json.error?.message).toContain('claw remove newer');
  expect([codebase.tree(), codebase.state()]).toEqual(before);
  await codebase.claw('remove', 'newer');
  expect((await codebase.claw('update', 'v1.0.0')).json.error).toBe(null);
  expect(codebase.read('src/c.ts')).toBe(LINES);
  expect(codebase.read('src/a.ts')).toBe(line('one', 'ONE of demo'));
});

test.concurrent('an update is undone as a whole; what was edited and recorded since stays', async () => {
  await using codebase = installation();
  nextRelease(codebase);
  await codebase.claw('apply', 'demo');
  const before = [codebase.tree(), codebase.state()];
  await codebase.claw('update', 'v1.1.0');
  codebase.write({ 'src/b.ts': line('five', 'recorded') });
  expect((await codebase.claw('customize', 'a line of my own')).json.error).toBe(null);
  codebase.write({ 'src/a.ts': line('five', 'mine', codebase.read('src/a.ts')) });
  // First the recording, whose edit stays an edit, then the update.
  for (const undone of ['customize', 'update']) {
    const run = await codebase.claw('undo');
    expect(run.json.error).toBe(null);
    expect(run.json.data).toMatchObject({ undone: expect.stringContaining(undone) });
  }
  expect(codebase.read('src/a.ts')).toBe(line('five', 'mine', line('one', 'ONE of demo')));
  expect(codebase.read('src/b.ts')).toBe(line('five', 'recorded'));
  codebase.write({ 'src/a.ts': line('one', 'ONE of demo'), 'src/b.ts': LINES });
  expect([codebase.tree(), codebase.state()]).toEqual(before);
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
  expect((await codebase.claw('status')).json.data).toMatchObject({ core: { version: '1.0.0' } });
});

test.concurrent('modes, binary files and line ends of a release arrive as they are', async () => {
  const binary = Buffer.from([0, 1, 2, 255, 254]);
  await using codebase = installation();
  addRelease(codebase, 'v1.1.0', {
    files: {
      'package.json': versioned('1.1.0'),
      'src/b.ts': { text: LINES, mode: 0o755 },
      'src/c.ts': LINES.replaceAll('\n', '\r\n'),
      'logo.png': binary,
    },
  });
  await codebase.claw('apply', 'demo');
  codebase.write({ 'src/c.ts': line('two', 'mine') });
  expect((await codebase.claw('update', 'v1.1.0')).json.error).toBe(null);
  expect(codebase.tree()).toMatchObject({
    'src/b.ts': `${LINES} +x`,
    'src/c.ts': line('two', 'mine').replaceAll('\n', '\r\n'),
    'logo.png': binary.toString('latin1'),
  });
});

test.concurrent('a symbolic link of a release is not laid, and not passed over in silence', async () => {
  await using codebase = installation();
  codebase.git('checkout', '--quiet', '--detach', 'v1.0.0');
  symlinkSync('a.ts', codebase.path('src/link.ts'));
  commitAll(codebase, 'a link');
  codebase.git('tag', 'v1.1.0');
  codebase.git('checkout', '--quiet', 'main');
  await codebase.claw('init');
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.json).toMatchObject({ error: null, changes: [] });
  expect(run.json.warnings.join()).toMatch(/git checkout [0-9a-f]+ -- src\/link\.ts/);
  expect(codebase.has('src/link.ts')).toBe(false);
});

test.concurrent('a clone of an updated project replays to the same tree', async () => {
  await using codebase = installation();
  nextRelease(codebase);
  await codebase.claw('apply', 'demo');
  await codebase.claw('update', 'v1.1.0');
  commitAll(codebase, 'updated');
  await using clone = openCodebase(realpathSync(mkdtempSync(join(tmpdir(), 'claw-clone-'))));
  cpSync(codebase.root, clone.root, { recursive: true });
  clone.git('checkout', '--quiet', 'v1.1.0');
  for (const path of Object.keys(codebase.state()).filter((path) => !path.endsWith('/'))) {
    clone.write({ [`.claw/${path}`]: codebase.read(`.claw/${path}`) });
  }
  expect((await clone.claw('replay')).json.error).toBe(null);
  expect(clone.read('src/a.ts')).toBe(updated);
  expect(clone.state()).toEqual(codebase.state());
});

test.concurrent('a release that brings a file whose name a skill has in another case is refused', async () => {
  await using codebase = installation();
  codebase.git('checkout', '--quiet', '--detach', 'v1.0.0');
  codebase.write({ 'src/New.ts': 'core\n' });
  commitAll(codebase, 'a new file');
  codebase.git('tag', 'v1.1.0');
  codebase.git('checkout', '--quiet', 'main');
  addSkill(codebase, 'adder', { add: { 'src/new.ts': 'skill\n' } });
  expect((await codebase.claw('apply', 'adder')).code).toBe(0);
  const before = codebase.tree();
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.json.error).toMatchObject({
    code: 'PATH_COLLISION',
    message: expect.stringContaining('src/New.ts of the new release and src/new.ts of adder'),
  });
  expect(codebase.tree()).toEqual(before);
});
