import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  keepAsFolder,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';

/** A clone of the core with `.claw/` of the installation laid over it, as somebody carries it over. */
function cloneCore(codebase: Codebase): Codebase {
  const root = mkdtempSync(join(tmpdir(), 'claw-clone-'));
  const clone = openCodebase(root);
  clone.git('clone', '--quiet', codebase.root, '.');
  for (const name of Object.keys(codebase.state()).filter((path) => !path.endsWith('/'))) {
    cpSync(codebase.path(`.claw/${name}`), clone.path(`.claw/${name}`));
  }
  return clone;
}

function installation(): Codebase {
  const codebase = temporaryCodebase({ 'src/a.ts': LINES, 'src/b.ts': 'b\n' }, { git: true });
  addSkill(codebase, 'alpha', {
    add: { 'src/alpha.ts': 'alpha\n' },
    modify: { 'src/a.ts': [LINES, LINES.replace('one', 'A')] },
  });
  addSkill(codebase, 'beta', { modify: { 'src/a.ts': [LINES, LINES.replace('seven', 'B')] } });
  commitAll(codebase, 'skills');
  return codebase;
}

test('a bare clone with the same state replays to the same tree', async () => {
  await using codebase = installation();
  await codebase.claw('apply', 'alpha', 'beta');
  await using clone = cloneCore(codebase);
  expect(clone.tree()).not.toEqual(codebase.tree());
  expect((await clone.claw('replay')).code).toBe(0);
  expect(clone.tree()).toEqual(codebase.tree());
  expect(clone.state()).toEqual(codebase.state());
  expect((await clone.claw('replay')).json.outcome).toBe('nothing');
});

test('a clone of the composed tree has nothing to do, and keeps its edits', async () => {
  await using codebase = installation();
  await codebase.claw('apply', 'alpha', 'beta');
  codebase.write({ 'src/a.ts': codebase.read('src/a.ts').replace('four', 'mine') });
  commitAll(codebase, 'installed');
  await using clone = cloneCore(codebase);
  expect((await clone.claw('replay')).json).toMatchObject({ ok: true, outcome: 'nothing' });
  expect(clone.tree()).toEqual(codebase.tree());
});

test('with only state.yaml the release comes from git and the packages from skills/; where both lack, the release is told', async () => {
  await using codebase = installation();
  await codebase.claw('apply', 'alpha', 'beta');
  await using clone = cloneCore(codebase);
  for (const name of ['base', 'packages', 'composed']) clone.remove(`.claw/${name}`);
  clone.git('tag', '--delete', 'v1.0.0');
  const state = clone.read('.claw/state.yaml');
  const commit = /commit: ([0-9a-f]{40})/.exec(state)?.[1] ?? '';
  clone.write({ '.claw/state.yaml': state.replace(commit, 'a'.repeat(40)), 'src/b.ts': 'mine\n' });
  clone.remove('skills/alpha');
  for (let turn = 0; turn < 2; turn += 1) {
    const run = await clone.claw('replay');
    expect(run.json.error).toMatchObject({ code: 'DIGEST_MISMATCH', path: '.claw/base' });
  }
  clone.write({ '.claw/state.yaml': state });
  const lacking = await clone.claw('replay');
  expect(lacking.json.error).toMatchObject({ code: 'DIGEST_MISMATCH' });
  expect(lacking.json.error?.path).toContain('alpha');
  clone.git('checkout', '--', 'skills', 'src');
  expect((await clone.claw('replay')).code).toBe(0);
  expect(clone.tree()).toEqual(codebase.tree());
});

test('in a mixed tree a file that is neither core nor composed is a conflict', async () => {
  await using codebase = installation();
  addSkill(codebase, 'gamma', { modify: { 'src/b.ts': ['b\n', 'c\n'] } });
  await codebase.claw('apply', 'alpha', 'beta', 'gamma');
  await using clone = cloneCore(codebase);
  // src/alpha.ts is composed, src/b.ts the core's, src/a.ts neither.
  clone.write({ 'src/alpha.ts': 'alpha\n', 'src/a.ts': LINES.replace('four', 'mine') });
  const before = clone.tree();
  const mixed = await clone.claw('replay');
  expect(mixed.code).toBe(3);
  expect(mixed.json.conflicts.map(({ path }) => path)).toEqual(['src/a.ts']);
  expect(clone.tree()).toEqual(before);
  clone.write({ 'src/a.ts': LINES });
  expect((await clone.claw('replay')).code).toBe(0);
  expect(clone.read('src/a.ts')).toBe(codebase.read('src/a.ts'));
  expect(clone.read('src/b.ts')).toBe('c\n');
});

test('where it was published, what the owner took back or deleted since is theirs', async () => {
  await using codebase = installation();
  addSkill(codebase, 'alpha', {
    add: { 'src/alpha.ts': 'alpha\n' },
    modify: { 'src/a.ts': [LINES, LINES.replace('one', 'first').replace('five', 'fifth')] },
  });
  await codebase.claw('apply', 'alpha');
  codebase.write({ 'src/a.ts': codebase.read('src/a.ts').replace('first', 'one') });
  codebase.remove('src/alpha.ts');
  const before = codebase.tree();
  expect((await codebase.claw('replay')).json).toMatchObject({ ok: true, changes: [] });
  expect(codebase.tree()).toEqual(before);
});

test('on a clone, lines that were taken back block, and are resolved by a side', async () => {
  await using codebase = installation();
  addSkill(codebase, 'delta', {
    modify: { 'src/a.ts': [LINES, LINES.replace('one', 'first').replace('five', 'fifth')] },
  });
  await codebase.claw('apply', 'delta');
  codebase.write({ 'src/a.ts': codebase.read('src/a.ts').replace('first', 'one') });
  commitAll(codebase, 'installed, and edited');
  for (const [side, expected] of [
    ['--ours', codebase.read('src/a.ts')],
    ['--theirs', LINES.replace('one', 'first').replace('five', 'fifth')],
  ] as const) {
    await using clone = cloneCore(codebase);
    const replay = await clone.claw('replay');
    expect(replay.code).toBe(3);
    expect(replay.json.conflicts.map(({ path }) => path)).toEqual(['src/a.ts']);
    expect((await clone.claw('resolve', 'src/a.ts', side)).code).toBe(0);
    expect((await clone.claw('continue')).code).toBe(0);
    expect(clone.read('src/a.ts')).toBe(expected);
    expect((await clone.claw('conflicts')).json.conflicts).toEqual([]);
  }
});

test('on a clone, edits beside all that the layers brought are kept without asking', async () => {
  await using codebase = installation();
  await codebase.claw('apply', 'beta');
  codebase.write({ 'src/a.ts': codebase.read('src/a.ts').replace('two', 'mine') });
  commitAll(codebase, 'installed, and edited');
  await using clone = cloneCore(codebase);
  expect((await clone.claw('replay')).json).toMatchObject({ ok: true, changes: [] });
  expect(clone.tree()).toEqual(codebase.tree());
});

test('replay works without the packages’ sources, from the kept bytes', async () => {
  await using codebase = installation();
  await codebase.claw('apply', 'alpha', 'beta');
  await using clone = cloneCore(codebase);
  clone.remove('skills');
  expect((await clone.claw('replay')).code).toBe(0);
  expect(clone.read('src/a.ts')).toBe(codebase.read('src/a.ts'));
});

test('replay takes a package from its source where only the state was carried over', async () => {
  await using codebase = installation();
  await codebase.claw('apply', 'alpha');
  await using clone = cloneCore(codebase);
  clone.remove('.claw/packages');
  expect((await clone.claw('replay')).code).toBe(0);
  expect(clone.state()).toEqual(codebase.state());
  clone.remove('.claw/packages');
  clone.write({ 'skills/alpha/add/src/alpha.ts': 'changed\n' });
  const run = await clone.claw('replay');
  expect(run).toMatchObject({ code: 1, json: { error: { code: 'DIGEST_MISMATCH' } } });
});

test('a package that an earlier engine kept as a folder serves, and becomes one file when it is renewed', async () => {
  await using codebase = installation();
  await codebase.claw('apply', 'alpha', 'beta');
  for (const skill of ['alpha', 'beta']) keepAsFolder(codebase, skill);
  commitAll(codebase, 'installed by an earlier engine');
  codebase.remove('skills');
  codebase.remove('.claw/cache');
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
  expect((await codebase.claw('replay')).json).toMatchObject({ ok: true, outcome: 'nothing' });
  expect((await codebase.claw('remove', 'beta')).code).toBe(0);
  expect(codebase.has('.claw/packages/beta')).toBe(false);
  expect(codebase.has('.claw/packages/alpha/manifest.yaml')).toBe(true);
  codebase.git('checkout', '--quiet', '--', 'skills');
  codebase.write({ 'skills/alpha/SKILL.md': '# Renewed\n' });
  const manifest = codebase.read('skills/alpha/manifest.yaml');
  codebase.write({ 'skills/alpha/manifest.yaml': manifest.replace('1.0.0', '1.0.1') });
  expect((await codebase.claw('upgrade', 'alpha')).code).toBe(0);
  expect(codebase.has('.claw/packages/alpha')).toBe(false);
  expect(codebase.has('.claw/packages/alpha.package')).toBe(true);
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
});

test('with nothing but state.yaml, the core comes from the release’s commit', async () => {
  await using codebase = installation();
  await codebase.claw('apply', 'alpha', 'beta');
  await using clone = cloneCore(codebase);
  for (const folder of ['base', 'composed', 'packages']) clone.remove(`.claw/${folder}`);
  expect((await clone.claw('replay')).code).toBe(0);
  expect(clone.tree()).toEqual(codebase.tree());
  expect(clone.state()).toEqual(codebase.state());
});

test('a state from a newer claw, cut short or mistyped is refused with line and reason', async () => {
  await using codebase = installation();
  await codebase.claw('apply', 'alpha');
  const state = codebase.read('.claw/state.yaml');
  const before = codebase.tree();
  const bad: Record<string, RegExp> = {
    [state.replace('version: 1\n', 'version: 99\n')]: /newer claw/,
    [state.slice(0, state.length / 2)]: /line \d+/,
    [state.replace('name: alpha', 'name: [')]: /line \d+/,
    [state.replace(/digest: sha256:[0-9a-f]+/, 'digest: nonsense')]: /line \d+.*digest/,
    [state.replace('\nfiles:', '\nextra: 1\nfiles:')]: /line \d+: .*extra/,
    [`${state}extra: 1\n`]: /text after its end/,
  };
  for (const [text, reason] of Object.entries(bad)) {
    codebase.write({ '.claw/state.yaml': text });
    for (const verb of [['remove', 'alpha'], ['status'], ['replay']]) {
      const run = await codebase.claw(...verb);
      expect(run).toMatchObject({ code: 1, json: { error: { code: 'STATE_INVALID' } } });
      expect(run.json.error?.message).toMatch(reason);
    }
  }
  expect(codebase.tree()).toEqual(before);
});
