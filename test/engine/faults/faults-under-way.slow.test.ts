import { spawn } from 'node:child_process';
import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { census, inject } from '../../../packages/claw/src/transaction/testing/strace.ts';
import {
  addSkill,
  CLAW,
  type Codebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';

// The same list, where commands failed, were killed or met each other: docs/faults.md.

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const FAILS = `require('node:test').test('x', () => { throw new Error('no'); });`;
// Longer than another command needs to start and to wait for its turn, also on a slow machine.
const SLOW = `require('node:test').test('x', () => new Promise((r) => setTimeout(r, 2_000)));`;

test('what a skill that fails would have deleted, moved and changed is all there', async () => {
  const files = { 'src/gone.ts': LINES, 'src/moved.ts': LINES, 'a.txt': LINES };
  await using codebase = temporaryCodebase(files, { git: true });
  addSkill(codebase, 'demo', {
    add: { 'new/b.txt': 'b\n' },
    base: { 'src/gone.ts': LINES, 'src/moved.ts': LINES },
    modify: { 'a.txt': [LINES, LINES.replace('two', 'TWO')] },
    manifest: {
      file_ops: [
        { type: 'delete', path: 'src/gone.ts' },
        { type: 'move', from: 'src/moved.ts', to: 'lib/moved.ts' },
      ],
    },
    tests: { 'demo.test.js': FAILS },
  });
  const before = codebase.tree();
  const run = await codebase.claw('apply', 'demo');
  expect(run).toMatchObject({ code: 4, json: { error: { code: 'TESTS_FAILED' } } });
  expect(codebase.tree()).toEqual(before);
  expect(codebase.has('.claw')).toBe(false);
});

const CORE = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`src/f${n}.ts`, LINES]));

/** Six changed files, two new ones, one deleted and one moved. */
function withManyChanges(): Codebase {
  const files = { ...CORE, 'gone.txt': LINES, 'moved.txt': LINES };
  const codebase = temporaryCodebase(files, { git: true });
  addSkill(codebase, 'demo', {
    add: { 'new/a.txt': 'a\n', 'new/b.txt': 'b\n' },
    base: { 'gone.txt': LINES, 'moved.txt': LINES },
    modify: Object.fromEntries(
      Object.keys(CORE).map((path) => [path, [LINES, LINES.replace('two', 'TWO')] as const]),
    ),
    manifest: {
      file_ops: [
        { type: 'delete', path: 'gone.txt' },
        { type: 'move', from: 'moved.txt', to: 'lib/moved.txt' },
      ],
    },
  });
  return codebase;
}

test('SIGKILL before any rename, link or removal of an apply leaves before or after, never a mixture', async () => {
  await using codebase = withManyChanges();
  await codebase.claw('init');
  const before = codebase.tree();
  const program = [process.execPath, CLAW, 'apply', 'demo', '--json', '--cwd', codebase.root];
  const log = join(codebase.root, '.git/trace');
  const counts = await census(program, log);
  const after = codebase.tree();
  expect(after).not.toEqual(before);
  await codebase.claw('remove', 'demo');
  const ends = new Set<string>();
  for (const call of ['rename', 'link', 'unlink']) {
    const count = counts[call] ?? 0;
    expect(count, call).toBeGreaterThan(2);
    // Early and midway: the crash matrix tries every call that there is.
    for (const nth of new Set([1, 3, Math.ceil(count / 2)])) {
      const run = await inject(program, log, { call, nth, effect: 'SIGKILL' });
      expect(run.isHit, `${call} ${nth}`).toBe(true);
      expect(await codebase.claw('status'), `${call} ${nth}`).toMatchObject({ code: 0 });
      const tree = codebase.tree();
      const isAfter = JSON.stringify(tree) === JSON.stringify(after);
      if (!isAfter) expect(tree, `${call} ${nth}`).toEqual(before);
      ends.add(isAfter ? 'after' : 'before');
      expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
      if (isAfter) expect((await codebase.claw('remove', 'demo')).code).toBe(0);
    }
  }
  expect([...ends].sort()).toEqual(['after', 'before']);
});

test('the lock of a command that runs is not taken away, however old it looks', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  addSkill(codebase, 'slow', { add: { 'slow.txt': 's\n' }, tests: { 'slow.test.js': SLOW } });
  addSkill(codebase, 'other', { add: { 'other.txt': 'o\n' } });
  const child = spawn(process.execPath, [CLAW, 'apply', 'slow', '--json', '--cwd', codebase.root], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  await new Promise((resolve) => child.stderr.once('data', resolve));
  while (!codebase.has('.claw/cache/holder.json')) await sleep(20);
  // It stands still, so that it holds its lock for as long as this looks at it.
  child.kill('SIGSTOP');
  try {
    // Everything that a stale lock is known by: an old date, a holder that is gone, or none at all.
    utimesSync(codebase.path('.claw/lock.db'), 1, 1);
    const holder = codebase.path('.claw/cache/holder.json');
    writeFileSync(holder, JSON.stringify({ pid: 2 ** 22 + 1, verb: 'apply', started: '1' }));
    const locked = { code: 5, json: { outcome: 'locked', error: { code: 'LOCK_HELD' } } };
    expect(await codebase.claw('apply', 'other')).toMatchObject(locked);
    rmSync(holder);
    expect(child.exitCode).toBe(null);
  } finally {
    child.kill('SIGCONT');
  }
  expect(await ended).toBe(0);
  expect(codebase.has('slow.txt')).toBe(true);
  expect(codebase.has('other.txt')).toBe(false);
  expect((await codebase.claw('apply', 'other')).code).toBe(0);
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
});

test('six applies at one time are six that are done or named as locked, and none is lost', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  const names = ['a1', 'b2', 'c3', 'd4', 'e5', 'f6'];
  for (const [n, name] of names.entries()) {
    const [line = ''] = LINES.split('\n').slice(n);
    addSkill(codebase, name, {
      add: { [`${name}.txt`]: `${name}\n` },
      modify: { 'a.txt': [LINES, LINES.replace(`${line}\n`, `${line}\n${name}\n`)] },
    });
  }
  const runs = await Promise.all(names.map((name) => codebase.claw('apply', name)));
  for (const { code, json } of runs) {
    if (code !== 0) expect(json).toMatchObject({ outcome: 'locked', error: { code: 'LOCK_HELD' } });
  }
  const isDone = (_: string, index: number) => runs[index]?.code === 0;
  const applied = names.filter(isDone);
  expect(applied.length).toBeGreaterThan(0);
  expect((await codebase.claw('list')).json.data).toMatchObject(applied.map((name) => ({ name })));
  let expected = LINES;
  for (const [n, name] of names.entries()) {
    const [line = ''] = LINES.split('\n').slice(n);
    if (applied.includes(name)) expected = expected.replace(`${line}\n`, `${line}\n${name}\n`);
    expect(codebase.has(`${name}.txt`)).toBe(applied.includes(name));
  }
  expect(codebase.read('a.txt')).toBe(expected);
  expect((await codebase.claw('verify')).json.data).toMatchObject({ clean: true });
});
