import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lostLines } from '../scripts/merge-history/lost-lines.ts';
import { commitAll, temporaryCodebase } from '../src/testing/claw/codebase.ts';

const SCRIPT = join(import.meta.dirname, '..', 'scripts', 'fork-merges.ts');
const BASE = "import { a } from './a.ts';\n\nstart(a);\n";
const OURS = BASE.replace('\n', "\nimport { b } from './b.ts';\n");
const THEIRS = BASE.replace('\n', "\nimport { c } from './c.ts';\n");
const BOTH = OURS.replace("b.ts';\n", "b.ts';\nimport { c } from './c.ts';\n");

function measure(...args: readonly string[]) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [SCRIPT, ...args], {
    encoding: 'utf8',
  });
  return { stdout, stderr, status };
}

/** Makes a fork whose branch `upstream` it has merged twice: once with changes on both sides, once with none. */
function fillFork(fork: ReturnType<typeof temporaryCodebase>): void {
  fork.git('init', '--quiet', '--initial-branch=main');
  commitAll(fork, 'first');
  fork.git('branch', 'upstream');
  fork.write({ 'a.ts': OURS, 'b.txt': 'mine\n', 'own.txt': 'own\n' });
  fork.remove('d.txt');
  commitAll(fork, 'own work');
  fork.git('checkout', '--quiet', 'upstream');
  fork.write({ 'a.ts': THEIRS, 'b.txt': 'theirs\n', 'd.txt': 'changed\n' });
  commitAll(fork, 'a release');
  fork.git('checkout', '--quiet', 'main');
  fork.git('merge', '--quiet', '--no-commit', '--strategy=ours', 'upstream');
  fork.write({ 'a.ts': BOTH, 'b.txt': 'both\n' });
  commitAll(fork, 'merges the release');
  fork.git('checkout', '--quiet', 'upstream');
  fork.write({ 'c.txt': 'new\n' });
  commitAll(fork, 'another release');
  fork.git('checkout', '--quiet', 'main');
  fork.git('merge', '--quiet', '--no-edit', 'upstream');
  // A merge of the fork's own branches is none of upstream.
  fork.git('checkout', '--quiet', '-b', 'topic', 'HEAD~1');
  fork.write({ 'topic.txt': 'topic\n' });
  commitAll(fork, 'a topic');
  fork.git('checkout', '--quiet', 'main');
  fork.git('merge', '--quiet', '--no-edit', 'topic');
}

const FILES = { 'a.ts': BASE, 'b.txt': 'one\n', 'd.txt': 'one\n' };

test('each merge of upstream is merged once more, with git and with claw, beside what was committed', async () => {
  await using fork = temporaryCodebase(FILES);
  fillFork(fork);
  const { stdout, status } = measure(fork.root, 'upstream', '--json');
  const [newest, oldest, all] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(newest).toMatchObject({ hasOneBase: true, files: 0 });
  expect(oldest).toMatchObject({
    ...{ files: 2, gitFiles: 2, gitHunks: 2, clawFiles: 1, clawHunks: 1 },
    ...{ lost: 0, gitAsCommitted: 0, clawAsCommitted: 1 },
  });
  expect(all).toMatchObject({ merges: 2, skipped: 0, left: 1, freed: 1, freedAsCommitted: 1 });
  expect(status).toBe(0);
});

test('upstream can be a git folder of its own, and the table says the same', async () => {
  await using fork = temporaryCodebase(FILES);
  fillFork(fork);
  await using upstream = temporaryCodebase({});
  upstream.git('clone', '--quiet', '--branch', 'upstream', '--single-branch', fork.root, 'up');
  const { stdout } = measure(fork.root, join(upstream.root, 'up'), '--files');
  expect(stdout).toContain('2 merges of upstream, 0 with several merge bases left out');
  expect(stdout).toContain('git asks 2/2, claw asks 1/1 (files/hunks); lost lines 0');
  expect(stdout).toContain('    git alone   a.ts\n');
  expect(stdout).toContain('not counted: 1 files');
});

test('an upstream that is neither a folder nor a ref is refused, and so are missing arguments', async () => {
  await using fork = temporaryCodebase(FILES);
  fillFork(fork);
  const refused = measure(fork.root, 'nowhere');
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain(
    'nowhere is neither a git folder nor a branch or tag of the fork',
  );
  expect(measure(fork.root)).toMatchObject({ status: 2, stdout: '' });
  expect(measure('--help').stdout).toContain('usage: npm run fork-merges');
});

const SIDES = { base: 'a\nb\nc\n', ours: 'a\nb\nmine();\nc\n', theirs: 'a\nb\nc\nits();\n' };

test.each([
  ['both lines are there', 'a\nb\nmine();\nc\nits();\n', []],
  ['a line is gone', 'a\nb\nc\nits();\n', [{ side: 'ours', line: 'mine()' }]],
  ['a line is laid out anew', 'a\nb\nmine(\n);\nc\nits();\n', []],
  ['two lines became one', 'a\nb\nc\nits(mine());\n', []],
])('lost lines: %s', (_, merged, lost) => {
  expect(lostLines(SIDES, merged)).toEqual(lost);
});

test('a line that both sides added and one of them took out elsewhere is there as often as is due', () => {
  const sides = { base: 'a\nend\nb\n', ours: 'a\nend\nb\nc\nend\n', theirs: 'a\nb\nc\nend\n' };
  expect(lostLines(sides, 'a\nb\nc\nend\n')).toEqual([]);
  expect(lostLines(sides, 'a\nb\nc\n')).not.toEqual([]);
});

test('a line that one side laid out anew and the other took out is not lost', () => {
  const sides = {
    base: 'a\ncall(one,\n  two)\nb\n',
    ours: 'a\ncall(\n  one, two)\nb\n',
    theirs: 'a\nb\n',
  };
  expect(lostLines(sides, 'a\nb\n')).toEqual([]);
});

test('what the other side took out is not lost, and a number that both raised is there once', () => {
  const gone = { base: 'a\nb\n', ours: 'a\nb\nb\n', theirs: 'a\n' };
  expect(lostLines(gone, 'a\nb\n')).toEqual([]);
  const raised = { base: 'v = 1\n', ours: 'v = 2\n', theirs: 'v = 3\n' };
  expect(lostLines(raised, 'v = 3\n')).toEqual([]);
});
