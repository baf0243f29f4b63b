import { mkdtempSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import * as engine from '../../../packages/claw/src/index.ts';
import {
  addSkill,
  type Codebase,
  commitAll,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { contextOf } from '../in-process.ts';
import { addRelease, versioned } from '../releases.ts';

vi.setConfig({ testTimeout: 120_000 });

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const line = (from: string, to: string, text = LINES) => text.replace(`${from}\n`, `${to}\n`);

const FIRST = line('one', 'ONE');
const SECOND = line('seven', 'SEVEN', FIRST);
/** The release's later version of the feature that it contains. */
const EVOLVED = line('SEVEN', 'SEVEN and more', SECOND);

/**
 * A core, and the skill `feature` on it, packed of two commits of a branch of that name.
 *
 * @param more files that the second commit changes as well
 */
async function withFeature(more: Readonly<Record<string, string>> = {}): Promise<Codebase> {
  const codebase = temporaryCodebase(
    { 'package.json': versioned('1.0.0'), 'a.txt': LINES, 'y.txt': LINES, 'z.txt': LINES },
    { git: true },
  );
  codebase.git('checkout', '--quiet', '-b', 'feature');
  codebase.write({ 'a.txt': FIRST });
  commitAll(codebase, 'one');
  codebase.write({ 'a.txt': SECOND, ...more });
  commitAll(codebase, 'two');
  codebase.git('checkout', '--quiet', 'main');
  const packed = await codebase.claw('pack', 'feature', '--range', 'v1.0.0..feature');
  expect(packed.json.error).toBe(null);
  expect((await codebase.claw('apply', 'feature')).code).toBe(0);
  return codebase;
}

/** A release that begins with commits which were picked, each a commit of its own. */
function pickedRelease(codebase: Codebase, commits: readonly string[]): void {
  addRelease(codebase, 'other-work', { files: { 'z.txt': line('nine', 'NINE') } });
  const folder = `${codebase.root}.picked`;
  codebase.git('worktree', 'add', '--quiet', '--detach', folder, 'other-work');
  for (const commit of commits) codebase.git('-C', folder, 'cherry-pick', commit);
  codebase.git('tag', 'picked', codebase.git('-C', folder, 'rev-parse', 'HEAD').trim());
  codebase.git('worktree', 'remove', '--force', folder);
  addRelease(codebase, 'v2.0.0', {
    from: 'picked',
    files: { 'package.json': versioned('2.0.0'), 'a.txt': EVOLVED },
  });
}

async function layersOf(codebase: Codebase): Promise<readonly string[]> {
  const { json } = await codebase.claw('status');
  return (json.data as { layers: readonly { name: string }[] }).layers.map(({ name }) => name);
}

test('a package of commits records them, each with its patch id', async () => {
  await using codebase = await withFeature();
  const manifest = codebase.read('skills/feature/manifest.yaml');
  const ids = codebase.git('rev-list', '--reverse', 'v1.0.0..feature').trim().split('\n');
  expect(ids).toHaveLength(2);
  for (const id of ids) expect(manifest).toMatch(new RegExp(`"?${id}"?: "?[0-9a-f]{40}"?\\n`));
  expect(manifest).toMatch(/\n {2}of: sha256:[0-9a-f]{64}\n {2}patch: "?[0-9a-f]{40}"?\n/);
  // Back and forth between two branches is not a list of commits.
  codebase.git('branch', 'aside', 'feature~1');
  const release = addRelease(codebase, 'aside-2', { from: 'aside', files: { 'z.txt': 'z\n' } });
  await codebase.claw('pack', 'across', '--range', `feature..${release}`);
  expect(codebase.read('skills/across/manifest.yaml')).not.toContain('origin');
});

test('a skill whose commits the release contains gives way where that has gone on, and goes', async () => {
  await using codebase = await withFeature();
  addRelease(codebase, 'v2.0.0', {
    from: 'feature',
    // It has taken a line back as well, which the skill alone would bring again.
    files: { 'package.json': versioned('2.0.0'), 'a.txt': line('ONE', 'one', EVOLVED) },
  });
  const kept = await codebase.claw('update', 'v2.0.0', '--keep', 'feature');
  expect(kept).toMatchObject({ code: 3, json: { conflicts: [{ path: 'a.txt' }] } });
  expect(kept.json.warnings.join('\n')).toContain(
    'commits of feature, which you keep: you are asked',
  );
  await codebase.claw('abort');
  const run = await codebase.claw('update', 'v2.0.0');
  expect(run.json).toMatchObject({ outcome: 'done', error: null, conflicts: [] });
  expect(run.json.data).toMatchObject({
    retired: ['feature'],
    contained: [{ name: 'feature', commits: 2, hasEffect: false, fate: 'retired' }],
  });
  expect(run.json.warnings.join('\n')).toContain('contains all 2 commits that feature was made of');
  expect(run.json.warnings.join('\n')).toContain('Its tests and SKILL.md leave with it');
  expect(codebase.read('a.txt')).toBe(line('ONE', 'one', EVOLVED));
  expect(await layersOf(codebase)).toEqual([]);
  expect((await codebase.claw('undo')).code).toBe(0);
  expect(await layersOf(codebase)).toEqual(['feature']);
  expect(codebase.read('a.txt')).toBe(SECOND);
});

test('where one that gives way still does something, it stays with that, on a clone too', async () => {
  await using codebase = await withFeature({ 'y.txt': FIRST });
  addRelease(codebase, 'v2.0.0', {
    from: 'feature',
    files: { 'package.json': versioned('2.0.0'), 'a.txt': EVOLVED, 'y.txt': LINES },
  });
  const run = await codebase.claw('update', 'v2.0.0', '--yes');
  expect(run.json).toMatchObject({ outcome: 'done', conflicts: [], data: { retired: [] } });
  const told = run.json.warnings.join('\n');
  expect(told).toContain('--retire-contained takes it out');
  expect(told).toContain('there it is as the release has it, in a.txt. --keep feature asks');
  expect(codebase.read('a.txt')).toBe(EVOLVED);
  expect((await codebase.claw('verify')).code).toBe(0);
  // What is decided by the release's history is recorded, so that a replay needs no history.
  commitAll(codebase, 'updated');
  await using clone = openCodebase(mkdtempSync(`${codebase.root}-clone-`));
  codebase.git('clone', '--quiet', '--depth', '1', `file://${codebase.root}`, clone.root);
  clone.write({ 'y.txt': LINES });
  expect((await clone.claw('replay')).json).toMatchObject({ outcome: 'done', conflicts: [] });
  expect(clone.read('a.txt')).toBe(EVOLVED);
  expect(clone.read('y.txt')).toBe(FIRST);
  const gaveWay = expect.stringContaining('there it is as the release has it, in a.txt.');
  for (const one of [codebase, clone]) {
    expect((await one.claw('why', 'a.txt')).json.warnings).toContainEqual(gaveWay);
    expect((await one.claw('why', 'y.txt')).json.warnings).not.toContainEqual(gaveWay);
  }
  const out = await codebase.claw('remove', 'feature');
  expect(out.json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('a.txt')).toBe(EVOLVED);
  expect(codebase.read('y.txt')).toBe(LINES);
});

/** A core with a skill that adds a file and one that renames it, of commits that the release has and goes on from. */
async function withMovedFile(): Promise<Codebase> {
  const codebase = temporaryCodebase(
    { 'package.json': versioned('1.0.0'), 'claw.config.yaml': "test: 'true'\n" },
    { git: true },
  );
  codebase.git('checkout', '--quiet', '-b', 'feature');
  codebase.write({ 'new.txt': FIRST });
  commitAll(codebase, 'adds it');
  codebase.git('mv', 'new.txt', 'moved.txt');
  codebase.git('commit', '--quiet', '-m', 'renames it');
  codebase.git('checkout', '--quiet', 'main');
  for (const [name, range] of [
    ['c1-adds', 'v1.0.0..feature~1'],
    ['c3-renames', 'feature~1..feature'],
  ] as const) {
    await codebase.claw('pack', name, '--range', range);
    expect((await codebase.claw('apply', name)).json.error).toBe(null);
  }
  addRelease(codebase, 'v2.0.0', { from: 'feature', files: { 'moved.txt': 'all other words\n' } });
  return codebase;
}

test('a file that a skill adds and another one renames is where and as the release has it', async () => {
  await using codebase = await withMovedFile();
  const run = await codebase.claw('update', 'v2.0.0', '--yes');
  expect(run.json).toMatchObject({ outcome: 'done', conflicts: [] });
  expect(codebase.read('moved.txt')).toBe('all other words\n');
  expect(codebase.has('new.txt')).toBe(false);
  commitAll(codebase, 'updated');
  await using clone = openCodebase(mkdtempSync(`${codebase.root}-clone-`));
  codebase.git('clone', '--quiet', '--depth', '1', `file://${codebase.root}`, clone.root);
  expect((await clone.claw('verify')).code).toBe(0);
});

test('what a skill of one’s own changed in such a file is not left out with it', async () => {
  await using codebase = await withMovedFile();
  addSkill(codebase, 'c2-own', {
    modify: { 'new.txt': [FIRST, line('nine', 'mine', FIRST)] },
    manifest: { depends: ['c1-adds'] },
  });
  expect((await codebase.claw('apply', 'c2-own')).json).toMatchObject({ outcome: 'done' });
  const run = await codebase.claw('update', 'v2.0.0', '--yes');
  expect(run).toMatchObject({ code: 3, json: { conflicts: [{ path: 'moved.txt' }] } });
});

test('a skill of which the release has reverted a commit gives way nowhere', async () => {
  await using codebase = await withFeature();
  const folder = `${codebase.root}.back`;
  codebase.git('worktree', 'add', '--quiet', '-b', 'back', folder, 'feature');
  codebase.git('-C', folder, 'revert', '--no-edit', 'HEAD');
  codebase.git('worktree', 'remove', '--force', folder);
  addRelease(codebase, 'v2.0.0', {
    from: 'back',
    files: { 'a.txt': line('seven', 'seven again', FIRST) },
  });
  const run = await codebase.claw('update', 'v2.0.0');
  expect(run).toMatchObject({ code: 3, json: { conflicts: [{ path: 'a.txt' }] } });
});

test('a skill that nobody packed of commits counts as contained where one of them changes the very same', async () => {
  await using codebase = temporaryCodebase(
    { 'package.json': versioned('1.0.0'), 'a.txt': LINES },
    { git: true },
  );
  addSkill(codebase, 'fix', {
    add: { 'lib/b.txt': 'b\n' },
    modify: { 'a.txt': [LINES, line('one', 'ONE')] },
  });
  addSkill(codebase, 'other', { modify: { 'a.txt': [LINES, line('nine', 'NINE')] } });
  await codebase.claw('apply', 'fix', 'other');
  addRelease(codebase, 'merged', { files: { 'a.txt': FIRST, 'lib/b.txt': 'b\n' } });
  addRelease(codebase, 'v2.0.0', {
    from: 'merged',
    files: {
      'package.json': versioned('2.0.0'),
      'a.txt': line('ONE', 'ONE and more', line('nine', 'nine or so', FIRST)),
      'lib/b.txt': 'b, later\n',
    },
  });
  const plan = await codebase.claw('plan', 'update', 'v2.0.0');
  expect(plan.json.data).toMatchObject({ retired: ['fix'] });
  expect(plan.json.conflicts).toMatchObject([{ path: 'a.txt', layers: ['core', 'other'] }]);
});

test('equal patches under other commits count, and so does one squashed of all', async () => {
  await using picked = await withFeature();
  pickedRelease(picked, ['feature~1', 'feature']);
  const run = await picked.claw('update', 'v2.0.0', '--retire-contained');
  expect(run.json).toMatchObject({ outcome: 'done', data: { retired: ['feature'] } });
  expect(picked.read('a.txt')).toBe(EVOLVED);
  await using squashed = await withFeature();
  addRelease(squashed, 'squash', { files: { 'a.txt': SECOND } });
  addRelease(squashed, 'v2.0.0', { from: 'squash', files: { 'a.txt': EVOLVED } });
  const other = await squashed.claw('update', 'v2.0.0', '--retire-contained');
  expect(other.json).toMatchObject({ outcome: 'done', data: { retired: ['feature'] } });
});

test('half of the commits is not all of them', async () => {
  await using codebase = await withFeature();
  pickedRelease(codebase, ['feature~1']);
  const run = await codebase.claw('update', 'v2.0.0', '--retire-contained');
  expect(run).toMatchObject({ code: 3, json: { conflicts: [{ path: 'a.txt' }] } });
});

test('a package that was edited since is more than its commits', async () => {
  await using codebase = await withFeature();
  await codebase.claw('remove', 'feature');
  codebase.write({ 'skills/feature/modify/a.txt': line('three', 'mine', SECOND) });
  expect((await codebase.claw('apply', 'feature')).code).toBe(0);
  addRelease(codebase, 'v2.0.0', { from: 'feature', files: { 'a.txt': EVOLVED } });
  const plan = await codebase.claw('plan', 'update', 'v2.0.0', '--retire-contained');
  expect(plan.json.data).toMatchObject({ retired: [], contained: [] });
});

test('a release that took the commits back is asked about, and never answered for', async () => {
  await using codebase = await withFeature();
  addRelease(codebase, 'v2.0.0', {
    from: 'feature',
    files: { 'package.json': versioned('2.0.0'), 'a.txt': LINES },
  });
  const run = await codebase.claw('update', 'v2.0.0', '--yes');
  expect(run.json).toMatchObject({ outcome: 'done' });
  expect(codebase.read('a.txt')).toBe(SECOND);
  expect(await layersOf(codebase)).toEqual(['feature']);
});

test('what the owner answers on the way holds, also for the continue after a conflict', async () => {
  await using codebase = await withFeature({ 'y.txt': FIRST });
  addSkill(codebase, 'rival', { modify: { 'z.txt': [LINES, line('five', 'rival')] } });
  await codebase.claw('apply', 'rival');
  addRelease(codebase, 'v2.0.0', {
    from: 'feature',
    files: { 'a.txt': EVOLVED, 'y.txt': LINES, 'z.txt': line('five', 'release') },
  });
  const questions: string[] = [];
  const ask = async (question: string) => questions.push(question) > 0;
  const context = { ...contextOf(codebase), ask };
  const blocked = await engine.update(context, 'v2.0.0');
  expect(questions).toEqual([expect.stringContaining('Take feature out with this update?')]);
  expect(blocked.conflicts.map(({ path }) => path)).toEqual(['z.txt']);
  await codebase.claw('resolve', 'z.txt', '--take', 'release');
  expect((await codebase.claw('continue')).json).toMatchObject({ outcome: 'done' });
  expect(await layersOf(codebase)).toEqual(['rival']);
  expect(codebase.read('a.txt')).toBe(EVOLVED);
  expect(codebase.read('y.txt')).toBe(LINES);
});

test('a skill that the release makes needless goes by itself, and not a byte with it', async () => {
  await using codebase = temporaryCodebase(
    { 'package.json': versioned('1.0.0'), 'a.txt': LINES },
    { git: true },
  );
  addSkill(codebase, 'fix', { modify: { 'a.txt': [LINES, line('one', 'ONE')] } });
  await codebase.claw('apply', 'fix');
  codebase.write({ 'a.txt': line('nine', 'mine', FIRST) });
  addRelease(codebase, 'v2.0.0', {
    files: { 'package.json': versioned('2.0.0'), 'a.txt': line('five', 'FIVE', FIRST) },
  });
  const kept = await codebase.claw('update', 'v2.0.0', '--keep', 'fix');
  expect(kept.json).toMatchObject({ outcome: 'done', data: { retired: [] } });
  const status = await codebase.claw('status');
  expect(status.json.data).toMatchObject({ layers: [{ name: 'fix', changesNothing: true }] });
  expect((await codebase.claw('verify')).code).toBe(0);
  await codebase.claw('undo');
  const run = await codebase.claw('update', 'v2.0.0', '--yes');
  expect(run.json).toMatchObject({ outcome: 'done', data: { retired: ['fix'] } });
  expect(run.json.warnings.join('\n')).toMatch(/does all that fix did.*No byte.*--keep fix/);
  expect(codebase.read('a.txt')).toBe(line('nine', 'mine', line('five', 'FIVE', FIRST)));
  expect(await layersOf(codebase)).toEqual([]);
});

test('what another skill needs stays, and so does an edit that the owner recorded', async () => {
  await using codebase = temporaryCodebase(
    { 'package.json': versioned('1.0.0'), 'a.txt': LINES, 'z.txt': LINES },
    { git: true },
  );
  addSkill(codebase, 'fix', { modify: { 'a.txt': [LINES, line('one', 'ONE')] } });
  addSkill(codebase, 'user', { add: { 'b.txt': 'b\n' }, manifest: { depends: ['fix'] } });
  await codebase.claw('apply', 'fix', 'user');
  codebase.write({ 'z.txt': line('one', 'mine') });
  await codebase.claw('customize', 'mine');
  addRelease(codebase, 'v2.0.0', {
    files: { 'package.json': versioned('2.0.0'), 'a.txt': FIRST, 'z.txt': line('one', 'mine') },
  });
  const run = await codebase.claw('update', 'v2.0.0', '--yes');
  expect(run.json).toMatchObject({ outcome: 'done', data: { retired: [] } });
  expect(run.json.warnings.join('\n')).toContain('fix stays');
  expect(await layersOf(codebase)).toEqual(['fix', 'user', 'custom-mine']);
  await codebase.claw('undo');
  const all = await codebase.claw('update', 'v2.0.0', '--retire-contained');
  expect(all.json).toMatchObject({ outcome: 'done', data: { retired: ['custom-mine'] } });
  expect(codebase.read('z.txt')).toBe(line('one', 'mine'));
});

test('two skills that make up for each other do not both go', async () => {
  await using codebase = temporaryCodebase(
    { 'package.json': versioned('1.0.0'), 'a.txt': LINES },
    { git: true },
  );
  for (const name of ['left', 'right']) {
    addSkill(codebase, name, { modify: { 'a.txt': [LINES, line('one', 'ONE')] } });
  }
  await codebase.claw('apply', 'left', 'right');
  addRelease(codebase, 'v2.0.0', { files: { 'a.txt': line('nine', 'NINE') } });
  const run = await codebase.claw('update', 'v2.0.0', '--yes');
  expect(run.json).toMatchObject({ outcome: 'done', data: { retired: [], contained: [] } });
  expect(codebase.read('a.txt')).toBe(line('nine', 'NINE', FIRST));
});

test('if a release contains a skill in part, the contained changes are named', async () => {
  await using codebase = temporaryCodebase(
    { 'package.json': versioned('1.0.0'), 'a.txt': LINES, 'z.txt': LINES },
    { git: true },
  );
  const mine = line('nine', 'nine\nten\neleven', line('five', 'FIVE', FIRST));
  addSkill(codebase, 'fix', {
    modify: { 'a.txt': [LINES, mine], 'z.txt': [LINES, line('three', 'mine')] },
  });
  await codebase.claw('apply', 'fix');
  const taken = line('nine', 'nine\nten\neleven\ntwelve', line('three', 'THREE', FIRST));
  addRelease(codebase, 'v2.0.0', {
    files: {
      'package.json': versioned('2.0.0'),
      'a.txt': taken,
      'z.txt': line('nine', 'NINE'),
    },
  });
  const run = await codebase.claw('update', 'v2.0.0', '--yes');
  expect(run.json).toMatchObject({
    outcome: 'done',
    data: {
      contained: [],
      containedParts: [
        {
          layer: 'fix',
          path: 'a.txt',
          changes: 3,
          lines: [
            [1, 1],
            [10, 12],
          ],
        },
      ],
    },
  });
  expect(run.json.warnings).toContain(
    'The release contains changes of fix, which are taken once: 2 of 3 in a.txt (lines 1, 10–12 there).',
  );
  expect(codebase.read('a.txt')).toBe(line('five', 'FIVE', taken));
  // Those lines are the core's now: `why` says that the skill changes them too.
  expect((await codebase.claw('why', 'a.txt')).json.warnings).toEqual([
    'The release contains changes of fix, which are taken once: 2 of 3 in a.txt (lines 1, 10–12 there).',
  ]);
  expect((await codebase.claw('why', 'z.txt')).json.warnings).toEqual([]);
});
