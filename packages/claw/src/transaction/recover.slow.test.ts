import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasPending, recover } from './recover.js';
import { temporaryFolder } from './testing/folder.ts';
import { layOutBefore, snapshot } from './testing/scenario.ts';
import { inject } from './testing/strace.ts';

const COMMIT = join(import.meta.dirname, 'testing/commit-child.ts');
const hasStrace = spawnSync('strace', ['--version']).status === 0;
const JOURNAL = '.claw/tx/000001-apply/journal.json';

/** Returns a project whose commit was killed in the middle: some targets are new, some still old. */
async function killedHalfway(folder: string): Promise<string> {
  const root = join(folder, 'project');
  fs.mkdirSync(root);
  layOutBefore(root);
  // The fourth rename comes after the journal's and after those of src/a.ts and src/private.txt.
  const kill = { call: 'rename', nth: 4, effect: 'SIGKILL' } as const;
  const run = await inject([process.execPath, COMMIT, root], join(folder, 'log'), kill);
  expect(run.isHit).toBe(true);
  const read = (path: string) => fs.readFileSync(join(root, path), 'utf8');
  expect([read('src/a.ts'), read('src/mode.sh')]).toEqual(['two\n', 'echo\n']);
  expect(read('.claw/state.yaml')).toBe('state: before\n');
  return root;
}

test('without anything unfinished there is nothing to do', () => {
  using folder = temporaryFolder();
  layOutBefore(folder.path);
  expect(hasPending(folder.path)).toBe(false);
  expect(recover(folder.path).outcome).toBe('nothing');
});

test('files that a kill during staging left behind are removed', () => {
  using folder = temporaryFolder();
  const root = folder.path;
  layOutBefore(root);
  const before = snapshot(root);
  fs.mkdirSync(join(root, '.claw/tx/000001-apply/new'), { recursive: true });
  fs.mkdirSync(join(root, '.claw/backup/000001-apply/after'), { recursive: true });
  fs.writeFileSync(join(root, '.claw/tx/000001-apply/journal.json.new'), '{"torn":');
  expect(recover(root).outcome).toBe('nothing');
  expect(snapshot(root)).toEqual(before);
  expect(fs.readdirSync(join(root, '.claw/tx'))).toEqual(['view-1']);
  expect(fs.readdirSync(join(root, '.claw/backup'))).toEqual([]);
});

test.skipIf(!hasStrace)('an owner’s edit after a kill is kept, the rest is published', async () => {
  using folder = temporaryFolder();
  const root = await killedHalfway(folder.path);
  fs.writeFileSync(join(root, 'src/keep/y.ts'), 'no target of the transaction\n');
  fs.writeFileSync(join(root, 'src/mode.sh'), 'mine\n');
  const recovery = recover(root);
  expect(recovery).toMatchObject({
    outcome: 'needs-decision',
    reason: 'edited',
    verb: 'apply',
    kept: ['src/mode.sh'],
  });
  const read = (path: string) => fs.readFileSync(join(root, path), 'utf8');
  expect(read('src/mode.sh')).toBe('mine\n');
  expect(read('src/tool.sh')).toBe('no tool any more\n');
  expect(read('.claw/state.yaml')).toBe('state: after\n');
  const versions = '.claw/tx/000001-apply/conflicts/src/mode.sh';
  expect(['old', 'new', 'mine'].map((name) => read(`${versions}.${name}`))).toEqual([
    'echo\n',
    'echo\n',
    'mine\n',
  ]);
  expect(recover(root).outcome).toBe('needs-decision');
  expect(read('src/mode.sh')).toBe('mine\n');
});

test.skipIf(!hasStrace)('keep-mine ends the transaction around the edit', async () => {
  using folder = temporaryFolder();
  const root = await killedHalfway(folder.path);
  fs.writeFileSync(join(root, 'src/mode.sh'), 'mine\n');
  expect(recover(root, 'keep-mine')).toMatchObject({ outcome: 'rolled-forward' });
  expect(fs.readFileSync(join(root, 'src/mode.sh'), 'utf8')).toBe('mine\n');
  expect(fs.readFileSync(join(root, '.claw/state.yaml'), 'utf8')).toBe('state: after\n');
  expect(hasPending(root)).toBe(false);
});

test.skipIf(!hasStrace)('roll-forward publishes over the edit and keeps a copy of it', async () => {
  using folder = temporaryFolder();
  const root = await killedHalfway(folder.path);
  fs.writeFileSync(join(root, 'src/mode.sh'), 'mine\n');
  expect(recover(root).outcome).toBe('needs-decision');
  expect(recover(root, 'roll-forward')).toMatchObject({ outcome: 'rolled-forward' });
  expect(fs.readFileSync(join(root, 'src/mode.sh'), 'utf8')).toBe('echo\n');
  const copy = join(root, '.claw/backup/000001-apply/conflicts/src/mode.sh.mine');
  expect(fs.readFileSync(copy, 'utf8')).toBe('mine\n');
});

test.skipIf(!hasStrace)('roll-back restores everything that was replaced', async () => {
  using folder = temporaryFolder();
  const root = await killedHalfway(folder.path);
  fs.writeFileSync(join(root, 'src/a.ts'), 'mine over new\n');
  fs.writeFileSync(join(root, 'src/mode.sh'), 'mine over old\n');
  expect(recover(root).outcome).toBe('needs-decision');
  expect(recover(root, 'roll-back')).toMatchObject({ outcome: 'rolled-back' });
  const read = (path: string) => fs.readFileSync(join(root, path), 'utf8');
  expect(read('src/a.ts')).toBe('one\n');
  expect(read('src/mode.sh')).toBe('mine over old\n');
  expect(read('data/inner.txt')).toBe('a folder that becomes a file\n');
  expect(read('.claw/backup/000001-apply/conflicts/src/a.ts.mine')).toBe('mine over new\n');
  expect(hasPending(root)).toBe(false);
});

test.skipIf(!hasStrace)('with the state of another branch nothing is touched', async () => {
  using folder = temporaryFolder();
  const root = await killedHalfway(folder.path);
  fs.writeFileSync(join(root, '.claw/state.yaml'), 'state: of another branch\n');
  const mixed = snapshot(root);
  expect(recover(root)).toMatchObject({ outcome: 'needs-decision', reason: 'state-changed' });
  expect(snapshot(root)).toEqual(mixed);
  expect(recover(root, 'keep-mine').outcome).toBe('rolled-back');
  expect(snapshot(root)).toEqual(mixed);
  expect(recover(root).outcome).toBe('nothing');
});

test.skipIf(!hasStrace)('a journal that cannot be read asks for a decision', async () => {
  using folder = temporaryFolder();
  const root = await killedHalfway(folder.path);
  const text = fs.readFileSync(join(root, JOURNAL), 'utf8');
  fs.writeFileSync(join(root, JOURNAL), text.replace('src/a.ts', 'src/b.ts'));
  const mixed = snapshot(root);
  for (const decision of [null, 'roll-forward', 'roll-back'] as const) {
    expect(recover(root, decision)).toMatchObject({
      outcome: 'needs-decision',
      reason: 'journal-damaged',
    });
  }
  expect(snapshot(root)).toEqual(mixed);
});

test.skipIf(!hasStrace)('packages that somebody installed in between go aside', async () => {
  using folder = temporaryFolder();
  const root = join(folder.path, 'project');
  fs.mkdirSync(root);
  layOutBefore(root);
  // Between the two renames of the swap: node_modules is missing.
  const log = join(folder.path, 'log');
  for (let nth = 1; fs.existsSync(join(root, 'node_modules')); nth += 1) {
    fs.rmSync(root, { recursive: true });
    fs.mkdirSync(root);
    layOutBefore(root);
    const kill = { call: 'rename', nth, effect: 'SIGKILL' } as const;
    expect((await inject([process.execPath, COMMIT, root], log, kill)).isHit).toBe(true);
  }
  fs.mkdirSync(join(root, 'node_modules'));
  expect(recover(root).outcome).toBe('rolled-forward');
  const index = join(root, 'node_modules/pkg/index.js');
  expect(fs.readFileSync(index, 'utf8')).toBe('new package\n');
});
