import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { addRelease, versioned } from '../releases.ts';

// What the ancestor of this engine lost, in the situations in which it lost it: docs/faults.md.

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const FIXED = LINES.replace('five', 'five, fixed');

/** Runs a command, which must succeed and leave nothing waiting. */
async function done(codebase: Codebase, ...args: string[]): Promise<void> {
  const { code, json } = await codebase.claw(...args);
  const { error, conflicts } = json;
  expect({ args, code, error, conflicts }).toEqual({ args, code: 0, error: null, conflicts: [] });
}

/** A core that got a fix after the skill `old` had been written against its first release. */
function coreWithFix(parts: Parameters<typeof addSkill>[2]): Codebase {
  const files = { 'src/index.ts': LINES, 'src/config.ts': LINES };
  const codebase = temporaryCodebase(files, { git: true });
  codebase.write({ 'src/index.ts': FIXED, 'src/config.ts': FIXED });
  commitAll(codebase, 'a fix');
  codebase.git('tag', 'v1.1.0');
  addSkill(codebase, 'old', parts);
  return codebase;
}

test('a package written against an older core brings its lines and takes no fix away', async () => {
  const changed = LINES.replace('two', 'two of the skill');
  await using codebase = coreWithFix({
    add: { 'src/new.ts': 'new\n' },
    modify: { 'src/index.ts': [LINES, changed], 'src/config.ts': [LINES, changed] },
  });
  const before = codebase.tree();
  await done(codebase, 'apply', 'old');
  const both = FIXED.replace('two', 'two of the skill');
  const brought = { 'src/index.ts': both, 'src/config.ts': both, 'src/new.ts': 'new\n' };
  expect(codebase.tree()).toEqual({ ...before, ...brought });
  await done(codebase, 'remove', 'old');
  expect(codebase.tree()).toEqual(before);
});

test('a package without the version it was written against has it found in the history', async () => {
  await using codebase = coreWithFix({ manifest: { modifies: ['src/index.ts'] } });
  codebase.write({ 'skills/old/modify/src/index.ts': LINES.replace('two', 'two of the skill') });
  const before = codebase.tree();
  await done(codebase, 'apply', 'old');
  expect(codebase.read('src/index.ts')).toBe(FIXED.replace('two', 'two of the skill'));
  await done(codebase, 'remove', 'old');
  expect(codebase.tree()).toEqual(before);
});

test('a package whose ancestor nobody has is asked about, and no fix is taken for its to revert', async () => {
  await using codebase = temporaryCodebase({ 'src/index.ts': FIXED });
  addSkill(codebase, 'old', { core: '0.0.1', manifest: { modifies: ['src/index.ts'] } });
  codebase.write({ 'skills/old/modify/src/index.ts': LINES.replace('two', 'two of the skill') });
  const before = codebase.tree();
  const run = await codebase.claw('apply', 'old');
  expect(run.code).toBe(3);
  const hunks = run.json.conflicts.flatMap((conflict) => conflict.hunks);
  expect(JSON.stringify(hunks)).toContain('five, fixed');
  expect(codebase.tree()).toEqual(before);
});

test('an uninstall keeps what the owner has edited, beside the skill’s lines and elsewhere', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES, 'b.txt': LINES }, { git: true });
  addSkill(codebase, 'demo', { modify: { 'a.txt': [LINES, LINES.replace('one', 'ONE')] } });
  addSkill(codebase, 'other', { modify: { 'a.txt': [LINES, LINES.replace('five', 'FIVE')] } });
  const before = codebase.tree();
  await done(codebase, 'apply', 'demo', 'other');
  codebase.write({
    'a.txt': codebase.read('a.txt').replace('nine', 'nine of mine'),
    'b.txt': LINES.replace('two', 'two of mine'),
    'mine.txt': 'mine\n',
  });
  await done(codebase, 'remove', 'demo');
  const kept = { 'b.txt': LINES.replace('two', 'two of mine'), 'mine.txt': 'mine\n' };
  const edited = LINES.replace('nine', 'nine of mine');
  expect(codebase.tree()).toEqual({
    ...before,
    ...kept,
    'a.txt': edited.replace('five', 'FIVE'),
  });
  await done(codebase, 'remove', 'other');
  expect(codebase.tree()).toEqual({ ...before, ...kept, 'a.txt': edited });
});

test('an uninstall keeps what the owner has recorded as a customisation', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES, 'gone.txt': 'x\n' }, { git: true });
  addSkill(codebase, 'demo', { modify: { 'a.txt': [LINES, LINES.replace('one', 'ONE')] } });
  const before = codebase.tree();
  await done(codebase, 'apply', 'demo');
  codebase.write({
    'a.txt': codebase.read('a.txt').replace('nine', 'nine of mine'),
    'mine.txt': 'mine\n',
  });
  codebase.remove('gone.txt');
  await done(codebase, 'customize', 'a ninth line of my own');
  await done(codebase, 'remove', 'demo');
  const { 'gone.txt': _, ...rest } = before;
  const mine = { 'a.txt': LINES.replace('nine', 'nine of mine'), 'mine.txt': 'mine\n' };
  expect(codebase.tree()).toEqual({ ...rest, ...mine });
  expect((await codebase.claw('status')).json.data).toMatchObject({ edits: [] });
});

test('an uninstall after an update leaves the newer core, not the one the skill came to', async () => {
  const core = { 'a.txt': LINES, 'b.txt': LINES, 'package.json': versioned('1.0.0') };
  await using codebase = temporaryCodebase(core, { git: true });
  for (const [name, line] of [
    ['demo', 'one'],
    ['other', 'nine'],
  ] as const) {
    addSkill(codebase, name, { modify: { 'a.txt': [LINES, LINES.replace(line, name)] } });
  }
  await done(codebase, 'init');
  await done(codebase, 'apply', 'demo', 'other');
  const files = { 'a.txt': FIXED, 'b.txt': FIXED, 'package.json': versioned('2.0.0') };
  addRelease(codebase, 'v2.0.0', { files });
  await done(codebase, 'update', 'v2.0.0');
  expect(codebase.read('a.txt')).toBe(FIXED.replace('one', 'demo').replace('nine', 'other'));
  await done(codebase, 'remove', 'demo');
  expect(codebase.tree()).toMatchObject({ ...files, 'a.txt': FIXED.replace('nine', 'other') });
  await done(codebase, 'remove', 'other');
  expect(codebase.tree()).toMatchObject(files);
});

test('an upgrade of the very lines that the skill changed before is no conflict', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  const demo = (version: string, text: string) =>
    addSkill(codebase, 'demo', {
      version,
      add: { 'demo.txt': `${text}\n` },
      modify: { 'a.txt': [LINES, LINES.replace('two', text)] },
    });
  demo('1.0.0', 'two of the first version');
  await done(codebase, 'apply', 'demo');
  codebase.write({ 'a.txt': codebase.read('a.txt').replace('nine', 'nine of mine') });
  demo('1.1.0', 'two of the second version');
  await done(codebase, 'upgrade', 'demo');
  const edited = LINES.replace('nine', 'nine of mine');
  expect(codebase.read('a.txt')).toBe(edited.replace('two', 'two of the second version'));
  expect(codebase.read('demo.txt')).toBe('two of the second version\n');
  await done(codebase, 'remove', 'demo');
  expect(codebase.read('a.txt')).toBe(edited);
});

test('an upgrade takes away the files and lines that the new version no longer has', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES, 'b.txt': LINES }, { git: true });
  addSkill(codebase, 'demo', {
    add: { 'old/deep/orphan.txt': 'old\n', 'kept.txt': 'kept\n' },
    modify: {
      'a.txt': [LINES, LINES.replace('two', 'TWO')],
      'b.txt': [LINES, LINES.replace('two', 'TWO')],
    },
    manifest: { structured: { env_additions: ['OLD_KEY', 'KEPT_KEY'] } },
  });
  const before = codebase.tree();
  await done(codebase, 'apply', 'demo');
  addSkill(codebase, 'demo', {
    version: '2.0.0',
    add: { 'kept.txt': 'kept\n' },
    modify: { 'a.txt': [LINES, LINES.replace('two', 'TWO')] },
    manifest: { structured: { env_additions: ['KEPT_KEY'] } },
  });
  await done(codebase, 'upgrade');
  const tree = codebase.tree();
  expect(tree).not.toHaveProperty('old/');
  expect(tree).toMatchObject({
    'a.txt': LINES.replace('two', 'TWO'),
    'b.txt': LINES,
    'kept.txt': 'kept\n',
    '.env.example': 'KEPT_KEY=\n',
  });
  await done(codebase, 'remove', 'demo');
  const packaged = Object.entries(before).filter(([path]) => !path.startsWith('skills/'));
  expect(codebase.tree()).toMatchObject(Object.fromEntries(packaged));
  expect(codebase.has('kept.txt')).toBe(false);
});

test('a skill that renames a file stands in the way of no other one’s removal, nor of its own', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES, 'b.txt': LINES }, { git: true });
  addSkill(codebase, 'a-mover', {
    base: { 'src/a.ts': LINES },
    manifest: { file_ops: [{ type: 'rename', from: 'src/a.ts', to: 'lib/a.ts' }] },
  });
  addSkill(codebase, 'editor', { modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] } });
  addSkill(codebase, 'other', { modify: { 'b.txt': [LINES, LINES.replace('one', 'ONE')] } });
  const before = codebase.tree();
  await done(codebase, 'apply', 'editor', 'other', 'a-mover');
  expect(codebase.read('lib/a.ts')).toBe(LINES.replace('one', 'ONE'));
  await done(codebase, 'remove', 'other');
  await done(codebase, 'remove', 'editor');
  expect(codebase.read('lib/a.ts')).toBe(LINES);
  codebase.write({ 'lib/a.ts': FIXED });
  await done(codebase, 'remove', 'a-mover');
  expect(codebase.tree()).toEqual({ ...before, 'src/a.ts': FIXED });
});

test('a resolution is found again by every later verb, and on another machine', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  addSkill(codebase, 'demo', { modify: { 'a.txt': [LINES, LINES.replace('two', 'two, demo')] } });
  addSkill(codebase, 'other', { modify: { 'a.txt': [LINES, LINES.replace('two', 'two, other')] } });
  commitAll(codebase, 'skills');
  await done(codebase, 'apply', 'demo');
  expect((await codebase.claw('apply', 'other')).code).toBe(3);
  const resolved = LINES.replace('two', 'two, both');
  codebase.write({ '.claw/pending/a.txt': resolved });
  await done(codebase, 'continue');
  const after = codebase.tree();
  expect(after['a.txt']).toBe(resolved);
  // The documented flow: everything out and in again, in the other order; then a bare clone.
  await done(codebase, 'remove', 'demo');
  expect(codebase.read('a.txt')).toBe(LINES.replace('two', 'two, other'));
  await done(codebase, 'apply', 'demo');
  expect(codebase.tree()).toEqual(after);
  codebase.git('add', '.claw');
  codebase.git('commit', '--quiet', '-m', 'the installation, without what it composed');
  codebase.git('checkout', '--quiet', 'HEAD', '--', 'a.txt');
  expect(codebase.read('a.txt')).toBe(LINES);
  await done(codebase, 'replay');
  expect(codebase.tree()).toEqual(after);
});
