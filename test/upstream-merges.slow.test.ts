import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitAll, temporaryCodebase } from '../src/testing/claw/codebase.ts';

const SCRIPT = join(import.meta.dirname, '..', 'scripts', 'upstream-merges.ts');
const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';

test('commits between two releases become skills; what the newer release makes of them is counted beside git', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': LINES, 'b.txt': LINES });
  codebase.git('init', '--quiet', '--initial-branch=main');
  commitAll(codebase, 'first');
  codebase.git('tag', 'v1.0.0');
  codebase.write({ 'a.txt': LINES.replace('two', 'TWO') });
  commitAll(codebase, 'kept by the release');
  codebase.write({ 'b.txt': LINES.replace('five', 'FIVE') });
  commitAll(codebase, 'changed again later');
  codebase.write({ 'b.txt': LINES.replace('five', 'Five') });
  commitAll(codebase, 'changes it again');
  codebase.git('tag', 'v2.0.0');

  const args = [SCRIPT, codebase.root, 'v1.0.0', 'v2.0.0', '--commits', '2', '--json'];
  const [row] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  expect(row).toMatchObject({
    commits: 3,
    packages: 2,
    refused: {},
    asked: {
      keeping: { files: 1, hunks: 1 },
      plain: { files: 0, hunks: 0 },
      retiring: { files: 0, hunks: 0 },
    },
    retired: { keeping: 0, plain: 2, retiring: 2 },
    merge: 1,
    stops: 0,
    dropped: 2,
    unpicked: 0,
  });
});

test('commits become edits of the owner; the update of each is compared with what was committed, beside git', async () => {
  await using origin = temporaryCodebase({ 'a.txt': LINES });
  origin.git('init', '--quiet', '--initial-branch=main');
  commitAll(origin, 'first');
  origin.git('tag', 'v1.0.0');
  origin.write({ 'a.txt': LINES.replace('two', 'TWO') });
  commitAll(origin, 'in the release');
  origin.git('tag', 'v2.0.0');
  origin.write({ 'a.txt': LINES.replace('two', 'TWO').replace('eight', 'EIGHT') });
  commitAll(origin, 'after it');

  const args = [SCRIPT, origin.root, 'v1.0.0', 'v2.0.0', '--edits', '5', '--json'];
  const [row] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  expect(row).toMatchObject({
    edits: 2,
    claw: { right: 2, asked: 0, other: 0 },
    git: { right: 2, asked: 0, other: 0 },
    apart: [],
  });
});

test('commits become edits of files that the release moved; where the update puts them is counted beside git', async () => {
  const other = (text: string) => text.replaceAll('e', 'E');
  await using origin = temporaryCodebase({ 'a.txt': LINES, 'gone.txt': other(LINES) });
  origin.git('init', '--quiet', '--initial-branch=main');
  commitAll(origin, 'first');
  origin.git('tag', 'v1.0.0');
  origin.write({ 'a.txt': LINES.replace('two', 'TWO'), 'gone.txt': `${other(LINES)}last\n` });
  commitAll(origin, 'changes both');
  origin.write({ 'moved/b.txt': origin.read('a.txt') });
  for (const path of ['a.txt', 'gone.txt']) origin.remove(path);
  commitAll(origin, 'moves one, takes the other out');
  origin.git('tag', 'v2.0.0');
  origin.write({ 'moved/b.txt': LINES.replace('two', 'TWO').replace('eight', 'EIGHT') });
  commitAll(origin, 'after it');

  const args = [SCRIPT, origin.root, 'v1.0.0', 'v2.0.0', '--moves', '5', '--json'];
  const [row] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  expect(row).toMatchObject({
    moved: { claw: { right: 2, lost: 0 }, git: { right: 2, lost: 0 } },
    gone: { claw: { asked: 1, astray: 0 }, git: { asked: 1, astray: 0 } },
    deleted: { claw: { there: 1, lost: 0 }, git: { there: 1, lost: 0 } },
    skills: { files: 1, wrong: 0 },
    apart: [],
  });
});
