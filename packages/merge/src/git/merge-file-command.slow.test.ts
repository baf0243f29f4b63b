import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CLAW } from '../../../../src/testing/claw/claw.ts';
import { temporaryCodebase } from '../../../../src/testing/claw/codebase.ts';

const FILES = {
  ours: 'top\nsame\nmine\nbottom\n',
  base: 'top\nold\nbottom\n',
  theirs: 'top\nsame\nyours\nbottom\n',
  // A change of theirs alone.
  'base-2': 'top\nsame\nmine\nbottom\nend\n',
  empty: '',
  'no-end': 'top\nold\nbottom',
  'crlf-ours': 'top\r\nmine\r\nbottom\r\n',
  'crlf-base': 'top\r\nold\r\nbottom\r\n',
  'crlf-theirs': 'top\r\nyours\r\nbottom\r\n',
  binary: Buffer.from([0, 1, 2]),
};

const THREE = ['ours', 'base', 'theirs'];
const CRLF = ['crlf-ours', 'crlf-base', 'crlf-theirs'];

/**
 * Arguments for which git and claw say the same, to the byte. With --diff3 git leaves lines inside the
 * conflict with which both sides begin; claw never does.
 */
const SAME: readonly (readonly string[])[] = [
  ['-p', ...THREE],
  ['--stdout', '-q', ...THREE],
  ['-pq', ...THREE],
  ['-p', '-L', 'one', '-L', 'two', '-L', 'three', '--zdiff3', ...THREE],
  ['-p', '--diff3', '-L', 'x', ...CRLF],
  ['-p', '--ours', ...THREE],
  ['-p', '--theirs', ...THREE],
  ['-p', '--union', ...THREE],
  ['-p', '--ours', '--theirs', ...THREE],
  ['-p', '--marker-size=10', ...THREE],
  ['-p', '--marker-size', '3', '--zdiff3', ...THREE],
  ['-p', 'ours', 'base', 'base'],
  ['-p', 'ours', 'empty', 'theirs'],
  ['-p', 'ours', 'base-2', 'theirs'],
  ['-p', '--union', ...CRLF],
  ['-p', 'binary', 'base', 'theirs'],
  ['-p', 'ours', 'base', 'absent'],
  THREE,
  ['-q', '--theirs', ...THREE],
];

test.each(SAME.map((args) => [args.join(' '), args] as const))(
  'merge-file %s does as git’s',
  async (_name, args) => {
    await using codebase = temporaryCodebase(FILES);
    const run = (program: string, before: readonly string[]) => {
      copyFileSync(codebase.path('ours'), codebase.path('kept'));
      const { status, stdout } = spawnSync(program, [...before, 'merge-file', ...args], {
        cwd: codebase.root,
        encoding: 'latin1',
      });
      const outcome = { status, stdout, file: codebase.read('ours') };
      copyFileSync(codebase.path('kept'), codebase.path('ours'));
      return outcome;
    };
    const expected = run('git', []);
    expect(run(process.execPath, [CLAW])).toEqual(expected);
  },
);

test('wrong arguments end with 129, and say what was meant', async () => {
  await using codebase = temporaryCodebase(FILES);
  for (const args of [
    ['ours', 'base'],
    ['--nonsense', ...THREE],
    ['--marker-size=x', ...THREE],
    ['-h'],
  ]) {
    const options = { cwd: codebase.root, encoding: 'utf8' } as const;
    const run = spawnSync(process.execPath, [CLAW, 'merge-file', ...args], options);
    expect([run.status, run.stderr]).toEqual([
      129,
      expect.stringContaining('usage: claw merge-file'),
    ]);
  }
});

test('objects of git are merged by their names; without -p the merged one becomes an object', async () => {
  await using codebase = temporaryCodebase(FILES, { git: true });
  const names = ['HEAD:ours', 'HEAD:base', 'HEAD:theirs'];
  const claw = (...args: string[]) =>
    spawnSync(process.execPath, [CLAW, 'merge-file', '--object-id', ...args], {
      cwd: codebase.root,
      encoding: 'utf8',
    });
  expect(claw('-p', ...names)).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('mine'),
  });
  const { stdout } = claw('--union', ...names);
  expect(codebase.git('cat-file', 'blob', stdout.trim())).toBe('top\nsame\nmine\nyours\nbottom\n');
  expect(claw('HEAD:absent', 'HEAD:base', 'HEAD:theirs')).toMatchObject({ status: 255 });
});

test('more conflicts than an exit code can express give 127', async () => {
  const lines = (word: string) =>
    Array.from({ length: 200 }, (_, n) => `${word} ${n}\nsame ${n}\nagain ${n}\n`).join('');
  await using codebase = temporaryCodebase({ a: lines('a'), o: lines('o'), b: lines('b') });
  const args = [CLAW, 'merge-file', '-p', 'a', 'o', 'b'];
  const run = spawnSync(process.execPath, args, { cwd: codebase.root, encoding: 'utf8' });
  expect(run.status).toBe(127);
});
