import builtinFs, * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { digestBytes } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { commitSteps, type StagedChange } from './commit.ts';
import type { Step } from './journal.ts';
import { listTransactions } from './records.ts';
import { fingerprint } from './recover.js';
import { temporaryFolder } from './testing/folder.ts';
import { everyKind, layOut, layOutBefore, snapshot } from './testing/scenario.ts';

function change(steps: readonly Step[]): StagedChange {
  return { verb: 'apply', summary: 'a test', steps, stateBefore: null, stateAfter: null };
}

function write(root: string, path: string, text: string): Step {
  const before = fingerprint(join(root, path));
  return { kind: 'write', path, bytes: Buffer.from(text), isExecutable: false, before };
}

test('a commit modifies, adds, deletes, changes modes and swaps folders', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOutBefore(root);
  commitSteps(root, everyKind(root));
  const read = (path: string) => fs.readFileSync(join(root, path), 'utf8');
  const after = snapshot(root);
  expect(read('src/a.ts')).toBe('two\n');
  expect(read('data')).toBe('now a file\n');
  expect(read('thing/inside.txt')).toBe('now a folder\n');
  expect(read('node_modules/pkg/index.js')).toBe('new package\n');
  expect(read('.claw/base/src/a.ts')).toBe('the release\n');
  expect(read('.claw/state.yaml')).toBe('state: after\n');
  expect(after).not.toHaveProperty('src/gone');
  expect(after).not.toHaveProperty('src/keep/x.ts');
  expect(fs.readdirSync(join(root, '.claw/tx'))).toEqual(['view-1']);
});

test('a file keeps the rights its owner gave it, but for the one to execute', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOutBefore(root);
  commitSteps(root, everyKind(root));
  const mode = (path: string) => (fs.statSync(join(root, path)).mode & 0o777).toString(8);
  expect(mode('src/private.txt')).toBe('600');
  expect(mode('src/tool.sh')).toBe('640');
  expect(mode('src/mode.sh')).toBe('755');
});

test('a target that is not as planned stops the commit before anything is touched', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOutBefore(root);
  const planned = everyKind(root);
  fs.appendFileSync(join(root, 'src/keep/x.ts'), 'an edit\n');
  const before = snapshot(root);
  expect(() => commitSteps(root, planned)).toThrow(
    expect.objectContaining({ code: 'TREE_CHANGED', path: 'src/keep/x.ts' }),
  );
  expect(snapshot(root)).toEqual(before);
  expect(fs.readdirSync(join(root, '.claw/tx'))).toEqual(['view-1']);
  expect(fs.readdirSync(join(root, '.claw/backup'))).toEqual([]);
});

test('an added file that appeared meanwhile is not replaced', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOut(root, { 'a.ts': 'a\n', '.claw/state.yaml': 's\n' });
  const steps = [write(root, 'a.ts', 'changed\n'), write(root, 'b.ts', 'ours\n')];
  fs.writeFileSync(join(root, 'b.ts'), 'theirs\n');
  expect(() => commitSteps(root, change(steps))).toThrow(
    expect.objectContaining({ code: 'TREE_CHANGED' }),
  );
  expect(fs.readFileSync(join(root, 'a.ts'), 'utf8')).toBe('a\n');
  expect(fs.readFileSync(join(root, 'b.ts'), 'utf8')).toBe('theirs\n');
});

test('a file that another program puts into a folder of .claw/ while it is made is not replaced', (context) => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOut(root, { 'a.ts': 'a\n', '.claw/state.yaml': 's\n' });
  const path = '.claw/packages/demo/manifest.yaml';
  const { mkdirSync } = builtinFs;
  context.onTestFinished(() => {
    builtinFs.mkdirSync = mkdirSync;
    syncBuiltinESMExports();
  });
  builtinFs.mkdirSync = ((made: string, options: fs.MakeDirectoryOptions) => {
    const result = mkdirSync(made, options);
    if (join(root, dirname(path)) === fs.realpathSync(made))
      fs.writeFileSync(join(root, path), 'theirs\n');
    return result;
  }) as typeof mkdirSync;
  syncBuiltinESMExports();
  const steps = [write(root, 'a.ts', 'changed\n'), write(root, path, 'ours\n')];
  expect(() => commitSteps(root, change(steps))).toThrow(ClawError);
  expect(fs.readFileSync(join(root, path), 'utf8')).toBe('theirs\n');
  expect(fs.readFileSync(join(root, 'a.ts'), 'utf8')).toBe('a\n');
});

test('nothing is written through a symbolic link', () => {
  using folder = temporaryFolder();
  const root = join(folder.path, 'project');
  layOut(root, { '.claw/state.yaml': 's\n', 'real.ts': 'real\n' });
  layOut(folder.path, { 'outside/a.ts': 'outside\n' });
  fs.symlinkSync(join(folder.path, 'outside'), join(root, 'linked'));
  fs.symlinkSync('real.ts', join(root, 'alias.ts'));
  for (const path of ['linked/a.ts', 'linked/new.ts', 'alias.ts']) {
    expect(() => commitSteps(root, change([write(root, path, 'ours\n')]))).toThrow(
      expect.objectContaining({ code: 'LINK_REFUSED', path }),
    );
  }
  expect(fs.readFileSync(join(folder.path, 'outside/a.ts'), 'utf8')).toBe('outside\n');
  expect(fs.readdirSync(join(folder.path, 'outside'))).toEqual(['a.ts']);
});

test('paths out of the project, and two steps for one path, are refused', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOut(root, { '.claw/state.yaml': 's\n' });
  const step = (path: string): Step => ({
    kind: 'write',
    path,
    bytes: Buffer.from('x'),
    isExecutable: false,
    before: null,
  });
  for (const path of ['../a', '/a', 'a/../../b', 'a//b']) {
    expect(() => commitSteps(root, change([step(path)]))).toThrow(
      expect.objectContaining({ code: 'PATH_UNSAFE' }),
    );
  }
  expect(() => commitSteps(root, change([step('a'), step('a')]))).toThrow(
    expect.objectContaining({ code: 'PATH_COLLISION' }),
  );
  const swap: Step = { kind: 'swap', path: 'node_modules', prepared: '.claw/../elsewhere' };
  expect(() => commitSteps(root, change([swap]))).toThrow(
    expect.objectContaining({ code: 'PATH_UNSAFE' }),
  );
});

test('state.yaml is the last thing that is published, recovery itself the last before it', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOutBefore(root);
  const { id } = commitSteps(root, everyKind(root));
  const record = fs.readFileSync(join(root, '.claw/backup', id, 'record.json'), 'utf8');
  const { steps } = JSON.parse(record.split('\n')[0] ?? '') as { steps: { path: string }[] };
  expect(steps.slice(-3).map((step) => step.path)).toEqual([
    'bin/claw.js',
    'packages/claw/src/transaction/recover.js',
    '.claw/state.yaml',
  ]);
});

test('only the last ten transactions, and the newest one’s swapped folder, are kept', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOut(root, { '.claw/state.yaml': 's\n', 'node_modules/a.js': '0\n', 'a.ts': '0\n' });
  const ids: string[] = [];
  for (let n = 1; n <= 12; n += 1) {
    layOut(root, { '.claw/tx/view-1/node_modules/a.js': `${n}\n` });
    const swap: Step = {
      kind: 'swap',
      path: 'node_modules',
      prepared: '.claw/tx/view-1/node_modules',
    };
    ids.push(commitSteps(root, change([write(root, 'a.ts', `${n}\n`), swap])).id);
  }
  expect(listTransactions(root).map(({ id }) => id)).toEqual(ids.slice(-10).reverse());
  const withFolder = ids.filter((id) => fs.existsSync(join(root, '.claw/backup', id, 'swap/1')));
  expect(withFolder).toEqual(ids.slice(-1));
});

test('undo keeps a copy of a published file, never the file itself, which an editor may write into', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOut(root, { 'a.ts': 'a\n', '.claw/state.yaml': 's\n' });
  const composed = '.claw/composed/a.ts';
  const steps = [write(root, 'a.ts', 'b\n'), write(root, composed, 'b\n')];
  const { id } = commitSteps(root, change([...steps, write(root, 'alone.ts', 'c\n')]));
  const inodeOf = (path: string) => fs.statSync(join(root, path)).ino;
  const kept = [0, 1, 2].map((n) => `.claw/backup/${id}/after/${n}`);
  expect(kept.map((path) => fs.readFileSync(join(root, path), 'utf8'))).toEqual([
    'b\n',
    'b\n',
    'c\n',
  ]);
  // The engine's own copy of the same content saves writing another one.
  expect(kept.slice(0, 2).map(inodeOf)).toEqual([inodeOf(composed), inodeOf(composed)]);
  for (const path of ['a.ts', 'alone.ts']) expect(kept.map(inodeOf)).not.toContain(inodeOf(path));
});

test('writing what is there already is no step', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOut(root, { '.claw/state.yaml': 's\n', 'a.ts': 'a\n' });
  const inode = fs.statSync(join(root, 'a.ts')).ino;
  commitSteps(root, change([write(root, 'a.ts', 'a\n'), write(root, 'b.ts', 'b\n')]));
  expect(fs.statSync(join(root, 'a.ts')).ino).toBe(inode);
  expect(digestBytes(fs.readFileSync(join(root, 'b.ts')))).toBe(digestBytes('b\n'));
});
