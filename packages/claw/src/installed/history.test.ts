import { expect, test } from 'vitest';
import { commitAll, temporaryCodebase } from '../../../../src/testing/claw/codebase.ts';
import { type History, readHistory } from './history.ts';

function textsOf(history: History, path: string): readonly string[] | null {
  if (history.kind === 'missing') return null;
  return (history.versions.get(path) ?? []).map(({ file }) => file.bytes.toString('utf8'));
}

test('every version of a path up to a commit comes once, newest first, none from beyond it', async () => {
  await using codebase = temporaryCodebase(
    { 'a b.txt': 'one\n', 'other.txt': 'o\n' },
    { git: true },
  );
  for (const text of ['two\n', 'one\n', 'three\n']) {
    codebase.write({ 'a b.txt': text });
    commitAll(codebase, text);
  }
  const release = codebase.git('rev-parse', 'HEAD').trim();
  codebase.write({ 'a b.txt': 'beyond\n' });
  commitAll(codebase, 'of the owner');
  const history = await readHistory(codebase.root, release, ['a b.txt', 'no.txt', 'other.txt']);
  expect(textsOf(history, 'a b.txt')).toEqual(['three\n', 'one\n', 'two\n']);
  expect(textsOf(history, 'other.txt')).toEqual(['o\n']);
  expect(textsOf(history, 'no.txt')).toEqual([]);
});

test('merged branches count, and so does what a merge itself made', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'one\n' }, { git: true });
  codebase.git('checkout', '--quiet', '-b', 'side');
  codebase.write({ 'a.txt': 'side\n' });
  commitAll(codebase, 'side');
  const side = codebase.git('rev-parse', 'HEAD').trim();
  codebase.git('checkout', '--quiet', 'main');
  codebase.write({ 'a.txt': 'main\n' });
  commitAll(codebase, 'main');
  codebase.git('merge', '--quiet', '--no-commit', '--strategy=ours', 'side');
  codebase.write({ 'a.txt': 'merged\n' });
  commitAll(codebase, 'merge');
  const history = await readHistory(codebase.root, 'HEAD', ['a.txt']);
  expect(textsOf(history, 'a.txt')?.[0]).toBe('merged\n');
  expect(textsOf(history, 'a.txt')?.toSorted()).toEqual(['main\n', 'merged\n', 'one\n', 'side\n']);
  const versions = history.kind === 'whole' ? (history.versions.get('a.txt') ?? []) : [];
  expect(versions.find(({ file }) => file.bytes.toString() === 'side\n')?.commit).toBe(side);
});

test('renames are not followed, links are no files, a mode makes another version', async () => {
  await using codebase = temporaryCodebase({ 'old.txt': 'one\n' }, { git: true });
  codebase.git('mv', 'old.txt', 'new.txt');
  commitAll(codebase, 'renamed');
  codebase.git('update-index', '--chmod=+x', 'new.txt');
  codebase.git('commit', '--quiet', '-m', 'mode');
  codebase.git('config', 'log.follow', 'true');
  const history = await readHistory(codebase.root, 'HEAD', ['new.txt']);
  const versions = history.kind === 'whole' ? (history.versions.get('new.txt') ?? []) : [];
  expect(versions.map(({ file }) => file.isExecutable)).toEqual([true, false]);
});

test('no git, an unknown commit and a shallow clone have no history to tell of', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': 'one\n' }, { git: true });
  codebase.write({ 'a.txt': 'two\n' });
  commitAll(codebase, 'two');
  await using clone = temporaryCodebase({});
  clone.git('clone', '--quiet', '--depth=1', `file://${codebase.root}`, '.');
  await using plain = temporaryCodebase({ 'a.txt': 'one\n' });
  const reasons = await Promise.all([
    readHistory(clone.root, 'HEAD', ['a.txt']),
    readHistory(plain.root, 'HEAD', ['a.txt']),
    readHistory(codebase.root, 'f'.repeat(40), ['a.txt']),
    readHistory(codebase.root, null, ['a.txt']),
  ]);
  expect(reasons.map(({ kind }) => kind)).toEqual(['missing', 'missing', 'missing', 'missing']);
});
