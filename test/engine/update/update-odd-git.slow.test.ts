import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Codebase, commitAll, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';
import { versioned } from '../releases.ts';

/** A name in Latin-1, as old archives have them. */
const LATIN = (letter: number) => Buffer.concat([Buffer.from('caf'), Buffer.from([letter])]);

function write(codebase: Codebase, name: Buffer, text: string): void {
  writeFileSync(Buffer.concat([Buffer.from(`${codebase.root}/`), name]), text);
}

function released(): Codebase {
  return temporaryCodebase(
    { 'package.json': versioned('1.0.0'), 'a.txt': 'one\n', 'own/b.txt': 'b\n' },
    { git: true },
  );
}

test('files whose names are not UTF-8 are left to git, and told', async () => {
  await using codebase = released();
  write(codebase, LATIN(0xe9), 'x\n');
  write(codebase, LATIN(0xe8), 'y\n');
  commitAll(codebase, 'names');
  codebase.git('tag', 'v1.1.0');
  write(codebase, LATIN(0xe9), 'x of 1.2\n');
  codebase.write({ 'a.txt': 'two\n' });
  commitAll(codebase, 'later');
  codebase.git('tag', 'v1.2.0');
  codebase.git('checkout', '--quiet', 'v1.1.0');
  await codebase.claw('init');
  const { code, json } = await codebase.claw('update', 'v1.2.0');
  expect([code, json.conflicts, json.changes.map(({ path }) => path)]).toEqual([0, [], ['a.txt']]);
  expect(json.warnings.join('\n')).toContain('by git: caf\\xe9.');
  expect(codebase.git('status', '--porcelain', '--untracked-files=all', '--', '*caf*')).toBe('');
});

test('a name that a tag and a branch share is refused with both full names', async () => {
  await using codebase = released();
  codebase.git('checkout', '--quiet', '-b', 'next');
  codebase.write({ 'a.txt': 'branch\n' });
  commitAll(codebase, 'branch');
  codebase.git('tag', '--no-sign', '-a', '-m', 'same', 'same', 'HEAD');
  codebase.git('branch', 'same');
  codebase.git('checkout', '--quiet', 'main');
  codebase.write({ 'a.txt': 'tag\n' });
  commitAll(codebase, 'tag');
  codebase.git('tag', 'next');
  codebase.git('checkout', '--quiet', 'v1.0.0');
  for (const args of [
    ['init', '--release', 'next'],
    ['adopt', 'next'],
    ['update', 'next'],
  ]) {
    if (args[0] === 'update') await codebase.claw('init');
    const { error } = (await codebase.claw(...args)).json;
    expect(error?.message, args[0]).toMatch(/refs\/heads\/next .* refs\/tags\/next/);
  }
  expect(codebase.read('a.txt')).toBe('one\n');
  // Two names of one commit are no question.
  expect((await codebase.claw('update', 'same')).json).toMatchObject({ outcome: 'done' });
  expect((await codebase.claw('undo')).code).toBe(0);
  expect((await codebase.claw('update', 'refs/heads/next')).json).toMatchObject({
    outcome: 'done',
  });
  expect(codebase.read('a.txt')).toBe('branch\n');
});

test('variables and settings of git that name other paths change nothing', async () => {
  await using codebase = released();
  codebase.write({ 'claw.config.yaml': 'private: [own]\n' });
  commitAll(codebase, 'mine');
  codebase.git('tag', 'v1.1.0');
  codebase.write({ 'own/b.txt': 'of 1.2\n', 'a.txt': 'two\n' });
  commitAll(codebase, 'later');
  codebase.git('tag', 'v1.2.0');
  codebase.git('checkout', '--quiet', 'v1.1.0');
  codebase.write({ 'new.txt': 'mine\n' });
  await codebase.claw('init');
  process.env['GIT_LITERAL_PATHSPECS'] = '1';
  const planned = await codebase.claw('plan', 'update', 'v1.2.0');
  expect(process.env['GIT_LITERAL_PATHSPECS']).toBeUndefined();
  expect(planned.json.warnings.join('\n')).toContain('own/b.txt');
  for (const setting of [
    ['core.worktree', '/'],
    ['core.bare', 'true'],
  ]) {
    execFileSync('git', ['config', ...setting], { cwd: codebase.root });
    expect((await codebase.claw('status')).json.data, setting.join(' ')).toMatchObject({
      edits: [{ path: 'new.txt', kind: 'add' }],
    });
    execFileSync('git', ['config', '--unset', setting[0] ?? ''], { cwd: codebase.root });
  }
});
