import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import {
  addSkill,
  type Codebase,
  commitAll,
  type Files,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { addRelease, versioned } from '../releases.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const line = (from: string, to: string, text = LINES) => text.replace(`${from}\n`, `${to}\n`);

const demo = {
  add: { 'src/demo.ts': 'demo\n' },
  modify: { 'src/a.ts': [LINES, line('one', 'demo')] as const },
};

type Pair = AsyncDisposable & { readonly upstream: Codebase; readonly codebase: Codebase };

/** Somebody else's repository without a tag, and a clone with committed work of the owner's. */
function clonedWork(): Pair {
  const upstream = temporaryCodebase({
    'package.json': versioned('1.0.0'),
    'src/a.ts': LINES,
    'src/b.ts': LINES,
    'src/gone.ts': 'gone\n',
  });
  upstream.git('init', '--quiet', '--initial-branch=main');
  commitAll(upstream, 'upstream');
  const codebase = openCodebase(realpathSync(mkdtempSync(join(tmpdir(), 'claw-codebase-'))));
  codebase.git('clone', '--quiet', upstream.root, '.');
  codebase.write({
    'src/a.ts': line('five', 'committed'),
    'src/b.ts': line('one', 'committed'),
    'src/mine.ts': 'mine\n',
  });
  addSkill(codebase, 'demo', demo);
  commitAll(codebase, 'my work');
  upstream.write({ 'package.json': versioned('1.1.0'), 'src/a.ts': line('nine', 'NINE of 1.1') });
  upstream.remove('src/gone.ts');
  commitAll(upstream, 'the next release');
  codebase.git('fetch', '--quiet');
  return {
    upstream,
    codebase,
    async [Symbol.asyncDispose]() {
      await codebase[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

async function expectWorkKept(codebase: Codebase): Promise<void> {
  const own = line('five', 'committed', line('nine', 'NINE of 1.1'));
  expect(codebase.read('src/a.ts')).toBe(line('one', 'demo', own));
  expect(codebase.read('src/b.ts')).toBe(line('one', 'committed'));
  expect(codebase.has('src/gone.ts')).toBe(false);
  const status = (await codebase.claw('status')).json.data;
  expect(status).toMatchObject({
    core: { version: '1.1.0' },
    edits: [
      { path: 'src/a.ts', kind: 'modify' },
      { path: 'src/b.ts', kind: 'modify' },
      { path: 'src/mine.ts', kind: 'add' },
    ],
  });
  await codebase.claw('remove', 'demo');
  expect(codebase.read('src/a.ts')).toBe(own);
}

test.concurrent('where HEAD had to be taken for the core, git’s merge base tells the owner’s work from it', async () => {
  await using pair = clonedWork();
  const { codebase } = pair;
  const applied = await codebase.claw('apply', 'demo');
  expect(applied.json.warnings.join()).toContain('(HEAD) counts as the release');
  codebase.write({ 'src/b.ts': codebase.read('src/b.ts') });
  const run = await codebase.claw('update', 'origin/main');
  expect(run.json).toMatchObject({ error: null, outcome: 'done', conflicts: [] });
  expect(run.json.warnings.join()).toMatch(/part at [0-9a-f]{9}.*counts as your edits/);
  await expectWorkKept(codebase);
});

test.concurrent('an update can be made known to git, which then has nothing left to merge', async () => {
  await using pair = clonedWork();
  const { codebase } = pair;
  await codebase.claw('init');
  const release = codebase.git('rev-parse', 'origin/main').trim();
  const run = await codebase.claw('update', 'origin/main');
  expect(run.json).toMatchObject({ error: null, data: { gitMerge: release } });
  commitAll(codebase, 'the update');
  const before = codebase.tree();
  codebase.git('merge', '--quiet', '--no-edit', '--strategy', 'ours', release);
  expect(codebase.git('merge', 'origin/main')).toContain('up to date');
  expect(codebase.tree()).toEqual(before);
  const again = await codebase.claw('update', 'origin/main');
  expect(again.json).toMatchObject({ error: null, changes: [], data: { gitMerge: null } });
});

test.concurrent('without a merge base the owner has to say what the old release was', async () => {
  await using pair = clonedWork();
  const { codebase, upstream } = pair;
  await codebase.claw('apply', 'demo');
  const before = [codebase.tree(), codebase.state()];
  const refused = await codebase.claw('update', upstream.root);
  expect(refused).toMatchObject({ code: 1, json: { error: { code: 'RELEASE_NOT_FOUND' } } });
  expect(refused.json.error?.message).toContain('--release');
  expect([codebase.tree(), codebase.state()]).toEqual(before);
  // A conflict on the way does not forget what was said.
  codebase.write({ 'src/a.ts': line('nine', 'mine', codebase.read('src/a.ts')) });
  const blocked = await codebase.claw('update', upstream.root, '--release', 'origin/main~1');
  expect(blocked.json.conflicts).toMatchObject([{ path: 'src/a.ts' }]);
  expect((await codebase.claw('resolve', 'src/a.ts', '--theirs')).json.error).toBe(null);
  expect((await codebase.claw('continue')).json.error).toBe(null);
  await expectWorkKept(codebase);
});

test.concurrent('the core that a clone began from is made known, and nothing else changes', async () => {
  await using pair = clonedWork();
  const { codebase } = pair;
  await codebase.claw('apply', 'demo');
  const before = codebase.tree();
  const run = await codebase.claw('update', 'origin/main~1');
  expect(run.json).toMatchObject({ error: null, outcome: 'done', changes: [] });
  expect(codebase.tree()).toEqual(before);
  expect((await codebase.claw('status')).json.data).toMatchObject({
    core: { version: '1.0.0' },
    edits: [{ path: 'src/a.ts' }, { path: 'src/b.ts' }, { path: 'src/mine.ts' }],
  });
  expect((await codebase.claw('update', 'origin/main')).json.error).toBe(null);
  await expectWorkKept(codebase);
});

function released(files: Files = {}): Codebase {
  const codebase = temporaryCodebase(
    { 'package.json': versioned('1.0.0'), 'src/a.ts': LINES, 'src/b.ts': LINES, ...files },
    { git: true },
  );
  addSkill(codebase, 'demo', demo);
  commitAll(codebase, 'skills');
  return codebase;
}

function merge(codebase: Codebase, ref: string): boolean {
  try {
    codebase.git('merge', '--quiet', '--no-edit', ref);
    return true;
  } catch {
    return false;
  }
}

test.concurrent('a core that was merged by hand is made known by an update to it', async () => {
  await using codebase = released();
  const next = {
    'package.json': versioned('1.1.0'),
    'src/a.ts': line('nine', 'NINE of 1.1'),
    'src/new.ts': 'new\n',
  };
  addRelease(codebase, 'v1.1.0', { files: next });
  await codebase.claw('apply', 'demo');
  codebase.write({ 'src/b.ts': line('five', 'mine') });
  commitAll(codebase, 'installed');
  expect(merge(codebase, 'v1.1.0')).toBe(true);
  const before = codebase.tree();
  // The merge itself has skills woven in: as a core it would make them part of it for good.
  const refused = await codebase.claw('update', 'HEAD');
  expect(refused).toMatchObject({ code: 1, json: { error: { code: 'RELEASE_NOT_FOUND' } } });
  expect(refused.json.error?.message).toContain('is not a release but an installation');
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.json).toMatchObject({ error: null, outcome: 'done', changes: [] });
  expect(codebase.tree()).toEqual(before);
  expect((await codebase.claw('status')).json.data).toMatchObject({
    core: { version: '1.1.0' },
    edits: [{ path: 'src/b.ts' }],
  });
  await codebase.claw('remove', 'demo');
  expect(codebase.read('src/a.ts')).toBe(next['src/a.ts']);
});

test.concurrent('what the owner decided while merging by hand is an edit of theirs', async () => {
  await using codebase = released();
  addRelease(codebase, 'v1.1.0', {
    files: { 'package.json': versioned('1.1.0'), 'src/b.ts': line('five', 'FIVE of 1.1') },
  });
  await codebase.claw('apply', 'demo');
  codebase.write({ 'src/b.ts': line('five', 'mine') });
  commitAll(codebase, 'installed');
  expect(merge(codebase, 'v1.1.0')).toBe(false);
  codebase.write({ 'src/b.ts': line('five', 'FIVE of 1.1 and mine') });
  commitAll(codebase, 'merged by hand');
  const before = codebase.tree();
  const run = await codebase.claw('update', 'v1.1.0');
  // Both changed the line since 1.0.0, so claw asks once; what is on disk is the answer.
  expect(run.json.conflicts).toMatchObject([{ path: 'src/b.ts' }]);
  await codebase.claw('resolve', 'src/b.ts', '--ours');
  expect((await codebase.claw('continue')).json.error).toBe(null);
  expect(codebase.tree()).toEqual(before);
  expect((await codebase.claw('status')).json.data).toMatchObject({
    core: { version: '1.1.0' },
    edits: [{ path: 'src/b.ts' }],
  });
});

test.concurrent('what waits, and what could be undone, belongs to the branch it was made on', async () => {
  await using codebase = released();
  addSkill(codebase, 'other', { add: { 'src/other.ts': 'other\n' } });
  addRelease(codebase, 'v1.1.0', { files: { 'src/a.ts': line('one', 'ONE of 1.1') } });
  await codebase.claw('apply', 'demo');
  commitAll(codebase, 'installed');
  codebase.git('checkout', '--quiet', '-b', 'experiment');
  await codebase.claw('apply', 'other');
  commitAll(codebase, 'other');
  expect((await codebase.claw('update', 'v1.1.0')).code).toBe(3);
  await codebase.claw('resolve', 'src/a.ts', '--take', 'release');
  codebase.git('checkout', '--quiet', 'main');
  const before = [codebase.tree(), codebase.state()];
  for (const verb of ['continue', 'undo']) {
    const run = await codebase.claw(verb);
    expect(run).toMatchObject({ code: 1, json: { error: { code: 'STATE_CHANGED' } } });
  }
  expect([codebase.tree(), codebase.state()]).toEqual(before);
  codebase.git('checkout', '--quiet', 'experiment');
  expect((await codebase.claw('continue')).json.error).toBe(null);
  expect(codebase.read('src/a.ts')).toBe(line('one', 'ONE of 1.1'));
  expect(codebase.read('src/other.ts')).toBe('other\n');
});

/** Two branches of one installation, each of them after its own command. */
async function branches(codebase: Codebase, ours: string[], theirs: string[]): Promise<void> {
  await codebase.claw('init');
  commitAll(codebase, 'core');
  codebase.git('checkout', '--quiet', '-b', 'theirs');
  expect((await codebase.claw(...theirs)).json.error).toBe(null);
  commitAll(codebase, 'theirs');
  codebase.git('checkout', '--quiet', 'main');
  expect((await codebase.claw(...ours)).json.error).toBe(null);
  commitAll(codebase, 'ours');
}

/** As somebody would by hand: the layers that should be installed from whichever side, the rest as it was. */
function resolveByHand(codebase: Codebase, names: readonly string[]): void {
  const path = '.claw/state.yaml';
  const text = codebase.read(path);
  const side = (pattern: string) =>
    parse(text.replace(/^<{7}.*\n([\s\S]*?)^={7}\n([\s\S]*?)^>{7}.*\n/gm, pattern)) as State;
  const [ours, theirs] = [side('$1'), side('$2')];
  const known = [...ours.layers, ...theirs.layers];
  const layers = names.map((name) => known.find((layer) => layer.name === name));
  codebase.write({ [path]: `${stringify({ ...ours, layers })}...\n` });
}

type State = { readonly layers: readonly { readonly name: string }[] };

async function expectBoth(codebase: Codebase): Promise<void> {
  const status = (await codebase.claw('status')).json.data;
  expect(status).toMatchObject({ layers: [{ name: 'alpha' }, { name: 'beta' }], edits: [] });
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
  const merged = [codebase.tree(), codebase.state()] as const;
  // The same as if one installation had applied both.
  await codebase.claw('remove', 'alpha', 'beta');
  expect((await codebase.claw('apply', 'alpha', 'beta')).json.error).toBe(null);
  expect(codebase.tree()).toEqual(merged[0]);
  const said = (state: (typeof merged)[1]) =>
    parse(state['state.yaml']?.replace(/installed: .*/g, '') ?? '');
  expect(said(codebase.state())).toEqual(said(merged[1]));
}

function pairOfSkills(codebase: Codebase): void {
  addSkill(codebase, 'alpha', {
    add: { 'src/alpha.ts': 'alpha\n' },
    modify: { 'src/a.ts': [LINES, line('one', 'A')] },
  });
  addSkill(codebase, 'beta', {
    add: { 'src/beta.ts': 'beta\n' },
    modify: { 'src/a.ts': [LINES, line('nine', 'B')] },
  });
  commitAll(codebase, 'pair');
}

test.concurrent('a state.yaml with git’s markers is refused with a way out; resolved, replay makes it whole', async () => {
  await using codebase = released();
  pairOfSkills(codebase);
  await branches(codebase, ['apply', 'alpha'], ['apply', 'beta']);
  expect(merge(codebase, 'theirs')).toBe(false);
  const refused = await codebase.claw('replay');
  expect(refused).toMatchObject({ code: 1, json: { error: { code: 'STATE_INVALID' } } });
  expect(refused.json.error?.message).toMatch(/line \d+.*list of layers.*claw replay/);
  resolveByHand(codebase, ['alpha', 'beta']);
  // Nothing is built on digests of one side and files of both.
  const early = await codebase.claw('remove', 'alpha');
  expect(early).toMatchObject({ code: 1, json: { error: { code: 'DIGEST_MISMATCH' } } });
  expect(early.json.error?.message).toContain('claw replay');
  const run = await codebase.claw('replay');
  expect(run.json.error).toBe(null);
  expect(codebase.read('src/a.ts')).toBe(line('one', 'A', line('nine', 'B')));
  await expectBoth(codebase);
});

test.concurrent('a state.yaml that git merged without asking is made whole by replay', async () => {
  await using codebase = released();
  pairOfSkills(codebase);
  addSkill(codebase, 'm1', { add: { 'src/m1.ts': 'm\n', 'lib/x1.ts': 'x\n', 'lib/x2.ts': 'x\n' } });
  await codebase.claw('apply', 'm1');
  await codebase.claw('init');
  await branches(codebase, ['apply', 'alpha'], ['remove', 'm1']);
  if (!merge(codebase, 'theirs')) resolveByHand(codebase, ['alpha']);
  expect((await codebase.claw('replay')).json.error).toBe(null);
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
  expect((await codebase.claw('list')).json.data).toMatchObject([{ name: 'alpha' }]);
  expect(codebase.has('lib') || codebase.has('src/m1.ts')).toBe(false);
});

test.concurrent('two branches that added the same skill are one installation', async () => {
  await using codebase = released();
  pairOfSkills(codebase);
  await branches(codebase, ['apply', 'alpha', 'beta'], ['apply', 'alpha']);
  if (!merge(codebase, 'theirs')) resolveByHand(codebase, ['alpha', 'beta']);
  const run = await codebase.claw('replay');
  expect(run.json.error).toBe(null);
  await expectBoth(codebase);
});

test.concurrent('an update on one branch and a skill on the other meet', async () => {
  await using codebase = released();
  pairOfSkills(codebase);
  addRelease(codebase, 'v1.1.0', {
    files: { 'package.json': versioned('1.1.0'), 'src/a.ts': line('five', 'FIVE of 1.1') },
  });
  await branches(codebase, ['apply', 'alpha', 'beta'], ['update', 'v1.1.0']);
  if (!merge(codebase, 'theirs')) resolveByHand(codebase, ['alpha', 'beta']);
  expect((await codebase.claw('replay')).json.error).toBe(null);
  expect(codebase.read('src/a.ts')).toBe(
    line('one', 'A', line('five', 'FIVE of 1.1', line('nine', 'B'))),
  );
  expect((await codebase.claw('status')).json.data).toMatchObject({ core: { version: '1.1.0' } });
  await expectBoth(codebase);
});

test.concurrent('what was on disk without git is the old release where the owner says so, in the words shown', async () => {
  await using codebase = temporaryCodebase({
    'package.json': versioned('1.0.0'),
    'src/a.ts': LINES,
    '.gitignore': 'kept under another name in .claw/base\n',
  });
  await using upstream = temporaryCodebase({
    'package.json': versioned('1.1.0'),
    'src/a.ts': line('nine', 'NINE of 1.1'),
    '.gitignore': 'kept under another name in .claw/base\n',
  });
  addSkill(codebase, 'demo', demo);
  await codebase.claw('apply', 'demo');
  const refused = await codebase.claw('update', upstream.root);
  expect(refused).toMatchObject({ code: 1, json: { error: { code: 'RELEASE_NOT_FOUND' } } });
  expect(refused.json.error?.message).toContain('took what was on disk for the release');
  const [, shown = ''] =
    /claw (update .* --release \.claw\/base)\n/.exec(refused.json.error?.message ?? '') ?? [];
  const run = await codebase.claw(...shown.split(' '));
  expect(run.json).toMatchObject({
    outcome: 'done',
    warnings: ["skills/demo stays as it is here: it is not the release's."],
    data: { from: { version: '1.0.0' }, files: 2 },
  });
  expect(codebase.read('src/a.ts')).toBe(line('one', 'demo', line('nine', 'NINE of 1.1')));
  expect((await codebase.claw('status')).json.data).toMatchObject({
    core: { version: '1.1.0', assumed: false },
    edits: [],
  });
  expect(codebase.has('skills/demo/manifest.yaml')).toBe(true);
  // It is known from here on.
  upstream.write({ 'package.json': versioned('1.2.0') });
  expect((await codebase.claw('update', upstream.root)).json).toMatchObject({ outcome: 'done' });
});

test.concurrent('an own version tag in the owner’s origin is not a release to go back from', async () => {
  await using pair = clonedWork();
  const { codebase } = pair;
  codebase.git('tag', 'v5.0.0');
  codebase.git('update-ref', 'refs/remotes/origin/mine', 'HEAD');
  const before = codebase.tree();
  expect((await codebase.claw('init')).code).toBe(0);
  const back = codebase.git('rev-list', '--max-parents=0', 'HEAD').trim();
  const refused = await codebase.claw('--yes', 'update', back);
  expect(refused.json.error).toMatchObject({ code: 'RELEASE_NOT_FOUND' });
  expect(refused.json.error?.message).toContain('--release .claw/base');
  expect(codebase.tree()).toEqual(before);
  // Where it is contained in what is called upstream, it is upstream's.
  codebase.git('remote', 'rename', 'origin', 'upstream');
  expect((await codebase.claw('--yes', 'update', back)).code).toBe(0);
  expect(codebase.has('src/mine.ts')).toBe(false);
});
