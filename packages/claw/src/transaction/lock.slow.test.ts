import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { withLock } from './lock.ts';
import { recover } from './recover.js';
import { temporaryFolder } from './testing/folder.ts';

const CHILD = join(import.meta.dirname, 'testing/lock-child.ts');

function startHolder(root: string, log: string, heldMs: number) {
  return spawn(process.execPath, [CHILD, root, log, String(heldMs)], { stdio: 'inherit' });
}

async function untilHeld(log: string): Promise<void> {
  while (!fs.existsSync(log) || fs.statSync(log).size === 0) await sleep(10);
}

// Each of them makes `.claw/` and takes it away again, since nothing is published: what one attempt finds
// gone another command has just removed. Before, about one round of two had a command that failed by that.
test('commands that start at once run one after the other, and none fails', async () => {
  for (let round = 0; round < 5; round += 1) {
    using folder = temporaryFolder();
    const root = join(folder.path, 'project');
    fs.mkdirSync(root);
    const log = join(folder.path, 'log');
    const children = Array.from({ length: 8 }, () => startHolder(root, log, 3));
    const exits = await Promise.all(children.map((child) => once(child, 'exit')));
    expect(exits.map(([code]) => code)).toEqual(Array.from({ length: 8 }, () => 0));
    const lines = fs.readFileSync(log, 'utf8').trim().split('\n');
    expect(lines).toHaveLength(16);
    for (let n = 0; n < lines.length; n += 2) {
      expect(lines[n + 1]).toBe(lines[n]?.replace('enter', 'leave'));
    }
  }
});

test('a second command names the one that runs, after waiting for it', async () => {
  using folder = temporaryFolder();
  const root = folder.path;
  const log = join(root, 'log');
  const holder = startHolder(root, log, 600_000);
  try {
    await untilHeld(log);
    const start = performance.now();
    await expect(withLock(root, { verb: 'remove', timeoutMs: 300 }, () => {})).rejects.toThrow(
      expect.objectContaining({ code: 'LOCK_HELD', data: { pid: holder.pid, verb: 'apply' } }),
    );
    expect(performance.now() - start).toBeGreaterThan(290);
    fs.mkdirSync(join(root, '.claw/tx/000001-apply'), { recursive: true });
    expect(recover(root, null, { timeoutMs: 50 })).toMatchObject({
      outcome: 'locked',
      holder: { pid: holder.pid, verb: 'apply' },
    });
  } finally {
    holder.kill('SIGKILL');
    await once(holder, 'exit');
  }
});

test('the lock is free the moment its holder is killed', async () => {
  using folder = temporaryFolder();
  const root = folder.path;
  const log = join(root, 'log');
  const holder = startHolder(root, log, 600_000);
  await untilHeld(log);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const answer = await withLock(root, { verb: 'remove', timeoutMs: 0 }, () => 'mine');
  expect(answer).toBe('mine');
});

test('a command that waits gets the lock as soon as it is free', async () => {
  using folder = temporaryFolder();
  const root = folder.path;
  const log = join(root, 'log');
  const holder = startHolder(root, log, 200);
  await untilHeld(log);
  await withLock(root, { verb: 'remove', timeoutMs: 60_000 }, () => {
    expect(fs.readFileSync(log, 'utf8')).toContain('leave');
  });
  if (holder.exitCode === null) await once(holder, 'exit');
});

test('a codebase that claw left unused keeps no trace of it', async () => {
  using folder = temporaryFolder();
  const work = () => {
    throw new Error('refused');
  };
  await expect(withLock(folder.path, { verb: 'apply' }, work)).rejects.toThrow('refused');
  expect(fs.readdirSync(folder.path)).toEqual([]);
});

test('git never sees what is only for this machine', async () => {
  using folder = temporaryFolder();
  const root = folder.path;
  const ignored = join(root, '.claw/.gitignore');
  await withLock(root, { verb: 'init' }, () => {
    fs.writeFileSync(join(root, '.claw/state.yaml'), 's\n');
  });
  expect(fs.readFileSync(ignored, 'utf8').split('\n')).toContain('/backup/');
  fs.writeFileSync(ignored, 'mine\n');
  await withLock(root, { verb: 'apply' }, () => {});
  expect(fs.readFileSync(ignored, 'utf8')).toBe('mine\n');
});

test('a folder that cannot be written is reported as such', async () => {
  using folder = temporaryFolder();
  fs.writeFileSync(join(folder.path, '.claw'), 'a file where the folder should be');
  await expect(withLock(folder.path, { verb: 'apply' }, () => {})).rejects.toThrow(
    expect.objectContaining({ code: 'IO_FAILED' }),
  );
});

test('results that a command computed for the next one are kept only if something is installed', async () => {
  using folder = temporaryFolder();
  const root = folder.path;
  const compute = () => fs.writeFileSync(join(root, '.claw/cache/merges.json'), '{}');
  await withLock(root, { verb: 'apply' }, compute);
  expect(fs.readdirSync(root)).toEqual([]);
  // As a clone has it.
  fs.mkdirSync(join(root, '.claw'));
  for (const name of ['.gitattributes', '.gitignore', 'state.yaml']) {
    fs.writeFileSync(join(root, '.claw', name), 's\n');
  }
  await withLock(root, { verb: 'replay' }, compute);
  const names = fs.readdirSync(join(root, '.claw')).sort();
  expect(names).toEqual(['.gitattributes', '.gitignore', 'cache', 'state.yaml']);
  expect(fs.readdirSync(join(root, '.claw/cache')).sort()).toEqual(['.gitignore', 'merges.json']);
});
