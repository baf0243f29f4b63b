import { execFileSync } from 'node:child_process';
import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as engine from '../../../packages/claw/src/index.ts';
import {
  addSkill,
  type Codebase,
  commitAll,
  openCodebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { contextOf } from '../in-process.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';

function addDemo(codebase: Codebase): void {
  addSkill(codebase, 'demo', {
    add: { 'new/n.txt': 'new\n' },
    modify: { 'src/a.ts': [LINES, LINES.replace('one', 'ONE')] },
  });
}

/** Applies, sees no edits, removes, undoes both: the tree is the same after each round. */
async function expectRoundTrip(codebase: Codebase, edits: readonly object[] = []): Promise<void> {
  addDemo(codebase);
  const before = codebase.tree();
  const context = contextOf(codebase);
  expect(await engine.apply(context, ['demo'])).toMatchObject({ outcome: 'done', error: null });
  expect(codebase.read('src/a.ts')).toContain('ONE');
  expect((await engine.verify(context)).error).toBe(null);
  expect((await engine.status(context)).data).toMatchObject({ edits });
  expect((await engine.remove(context, ['demo'])).outcome).toBe('done');
  expect(codebase.tree()).toEqual(before);
  for (const _ of ['remove', 'apply']) expect((await engine.undo(context)).outcome).toBe('done');
  expect(codebase.tree()).toEqual(before);
  expect(codebase.has('.claw/state.yaml')).toBe(false);
}

test('file names that need quoting are files like any other', async () => {
  const files = {
    'src/a.ts': LINES,
    'sp ace/ü.txt': 'x',
    'u/u\u0308.txt': 'decomposed',
    'q/"quote\'.txt': 'q',
    'nl/a\nb.txt': 'new line',
    '-dash.txt': 'd',
    empty: '',
  };
  await using git = temporaryCodebase(files, { git: true });
  await expectRoundTrip(git);
  await using plain = temporaryCodebase(files);
  await expectRoundTrip(plain);
});

test('the core is what a checkout writes, whatever git does to line ends', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES, 'b.txt': 'b\n' }, { git: true });
  codebase.git('config', 'core.autocrlf', 'true');
  for (const path of ['src/a.ts', 'b.txt']) codebase.remove(path);
  codebase.git('checkout', '--', '.');
  expect(codebase.read('b.txt')).toBe('b\r\n');
  await expectRoundTrip(codebase);
});

test('a repository without commits, a detached head and a shallow clone have a core too', async () => {
  await using fresh = temporaryCodebase({ 'src/a.ts': LINES });
  fresh.git('init', '--quiet');
  await expectRoundTrip(fresh);
  await using detached = temporaryCodebase({ 'src/a.ts': LINES }, { git: true });
  detached.git('checkout', '--quiet', '--detach');
  commitAll(detached, 'on no branch');
  await expectRoundTrip(detached);
  await using shallow = openCodebase(mkdtempSync(join(tmpdir(), 'claw-shallow-')));
  const source = `file://${detached.root}`;
  execFileSync('git', ['clone', '--quiet', '--depth', '1', source, shallow.root]);
  await expectRoundTrip(shallow);
});

test('links and submodules are not part of the core, and stay', async () => {
  await using other = temporaryCodebase({ 'x.txt': 'x\n' }, { git: true });
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES, 'b.txt': 'b\n' }, { git: true });
  symlinkSync('b.txt', codebase.path('link'));
  symlinkSync('nowhere', codebase.path('dangling'));
  symlinkSync('src', codebase.path('folder'));
  const allow = ['-c', 'protocol.file.allow=always'];
  codebase.git(...allow, 'submodule', '--quiet', 'add', other.root, 'vendor/sub');
  commitAll(codebase, 'links');
  codebase.git('tag', 'v1.1.0');
  await expectRoundTrip(codebase);
});

test('what the owner deleted, or made a link, stays so', async () => {
  const files = { 'src/a.ts': LINES, 'b.txt': 'b\n', 'c.txt': 'c\n' };
  await using codebase = temporaryCodebase(files, { git: true });
  codebase.remove('b.txt');
  codebase.remove('c.txt');
  symlinkSync('src/a.ts', codebase.path('c.txt'));
  await expectRoundTrip(codebase, [
    { path: 'b.txt', kind: 'delete' },
    { path: 'c.txt', kind: 'delete' },
  ]);
});

test('a file that became a folder, or a folder a file, is a conflict and never lost', async () => {
  await using codebase = temporaryCodebase({ 'src/a.ts': LINES, 'b.txt': 'b\n' }, { git: true });
  addDemo(codebase);
  expect((await codebase.claw('apply', 'demo')).code).toBe(0);
  codebase.remove('src');
  codebase.write({ src: 'mine\n' });
  expect((await codebase.claw('status')).json.data).toMatchObject({
    edits: [
      { path: 'src', kind: 'add' },
      { path: 'src/a.ts', kind: 'delete' },
    ],
  });
  for (const verb of [['remove', 'demo'], ['undo']]) {
    const run = await codebase.claw(...verb);
    const conflicts = [{ path: 'src/a.ts', kind: 'modify-delete' }];
    expect(run).toMatchObject({ code: 3, json: { conflicts } });
  }
  expect(codebase.read('src')).toBe('mine\n');
});

test('nothing is put back where the owner has something else by now', async () => {
  const files = { 'src/a.ts': LINES, 'lib.txt': 'lib\n' };
  await using codebase = temporaryCodebase(files, { git: true });
  addSkill(codebase, 'cleaner', {
    base: files,
    manifest: { file_ops: Object.keys(files).map((path) => ({ type: 'delete', path })) },
  });
  expect((await codebase.claw('apply', 'cleaner')).code).toBe(0);
  codebase.write({ 'lib.txt/mine': 'mine\n', src: 'mine\n' });
  const before = codebase.tree();
  for (const verb of [['remove', 'cleaner'], ['undo']]) {
    const run = await codebase.claw(...verb);
    expect(run.code).toBe(3);
    expect(run.json.conflicts).toMatchObject([
      { path: 'lib.txt', kind: 'add-add' },
      { path: 'src/a.ts', kind: 'add-add' },
    ]);
    expect(codebase.tree()).toEqual(before);
  }
});

test('a package.json that does not parse is nobody’s business but who changes it', async () => {
  await using codebase = temporaryCodebase({ 'package.json': '{ "name": \n' }, { git: true });
  addSkill(codebase, 'plain', { core: '0.0.1', add: { 'new.txt': 'new\n' } });
  const structured = { npm_dependencies: { semver: '^7.0.0' } };
  addSkill(codebase, 'npm', { core: '0.0.1', manifest: { structured } });
  expect((await codebase.claw('apply', 'plain')).code).toBe(0);
  const run = await codebase.claw('apply', 'npm');
  expect(run).toMatchObject({ code: 3, json: { conflicts: [{ path: 'package.json' }] } });
});

test('a file that is named like the engine’s own notes is laid out like any other', async () => {
  await using codebase = temporaryCodebase({ 'operation.yaml': LINES }, { git: true });
  addSkill(codebase, 'demo', {
    modify: { 'operation.yaml': [LINES, LINES.replace('one', 'ONE')] },
  });
  codebase.write({ 'operation.yaml': LINES.replace('one', 'mine') });
  expect((await codebase.claw('apply', 'demo')).code).toBe(3);
  expect(codebase.read('.claw/pending/operation.yaml')).toContain('<<<<<<< your edits');
  expect((await codebase.claw('status')).json.data).toMatchObject({ pending: { verb: 'apply' } });
});

test('private folders are those that the codebase names', async () => {
  const files = { 'groups/a.ts': 'one\n', 'memories/a.txt': 'mine\n' };
  const config = { 'claw.config.yaml': 'private: [memories]\n' };
  await using codebase = temporaryCodebase({ ...files, ...config }, { git: true });
  addSkill(codebase, 'both', {
    modify: { 'groups/a.ts': ['one\n', 'one of both\n'] },
    add: { 'memories/b.txt': 'told\n' },
  });
  const refused = await codebase.claw('apply', 'both');
  expect(refused).toMatchObject({ code: 1, json: { error: { code: 'CONSENT_NEEDED' } } });
  expect(refused.json.error?.path).toBe('memories/b.txt');
  expect((await codebase.claw('apply', 'both', '--allow', 'memories/b.txt')).code).toBe(0);
  codebase.write({ 'groups/a.ts': 'ONE of both\n', 'memories/a.txt': 'MINE\n' });
  const { json } = await codebase.claw('status');
  expect(json.data).toMatchObject({ edits: [{ path: 'groups/a.ts', kind: 'modify' }] });
});
