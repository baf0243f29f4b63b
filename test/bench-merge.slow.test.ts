import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitAll, temporaryCodebase } from '../src/testing/claw/codebase.ts';

const SCRIPT = join(import.meta.dirname, '..', 'scripts', 'bench-merge.ts');

test('real merges are merged once more, beside git and what was committed', async () => {
  const base = "import { a } from './a.ts';\n\nconst one = 1;\n";
  const ours = `import { b } from './b.ts';\n${base}`;
  const theirs = `import { c } from './c.ts';\n${base}`;
  const committed = `import { b } from './b.ts';\nimport { c } from './c.ts';\n${base}`;
  await using codebase = temporaryCodebase({ 'a.ts': base, 'b.txt': 'one\n' });
  codebase.git('init', '--quiet', '--initial-branch=main');
  commitAll(codebase, 'first');
  codebase.git('branch', 'other');
  codebase.write({ 'a.ts': ours, 'b.txt': 'two\n' });
  commitAll(codebase, 'ours');
  codebase.git('checkout', '--quiet', 'other');
  codebase.write({ 'a.ts': theirs, 'b.txt': 'three\n' });
  commitAll(codebase, 'theirs');
  codebase.git('checkout', '--quiet', 'main');
  codebase.git('merge', '--quiet', '--no-commit', '--strategy=ours', 'other');
  codebase.write({ 'a.ts': committed, 'b.txt': 'both\n' });
  commitAll(codebase, 'merged');

  const row = JSON.parse(measure(codebase.root, '--json'));
  expect(row).toMatchObject({ path: 'a.ts', git: 'conflict', own: 'equal', rules: ['members'] });
  const table = measure(codebase.root);
  expect(table).toContain('conflict files   1, git 2 (0.50 x)');
  expect(table).toContain('newly clean      1, 1 of them equal to what was committed');
});

test('an edit of a block that the other side moved is counted, and whether it was committed', async () => {
  const [block, edited] = ['check();\nprepare();\nstore();\n', 'check();\nprepare(2);\nstore();\n'];
  const rest = 'one();\ntwo();\nthree();\nfour();\n';
  await using codebase = temporaryCodebase({ 'a.js': `begin();\n${block}${rest}end();\n` });
  codebase.git('init', '--quiet', '--initial-branch=main');
  commitAll(codebase, 'first');
  codebase.git('branch', 'other');
  codebase.write({ 'a.js': `begin();\n${rest}${block}end();\n` });
  commitAll(codebase, 'moves it');
  codebase.git('checkout', '--quiet', 'other');
  codebase.write({ 'a.js': `begin();\n${edited}${rest}end();\n` });
  commitAll(codebase, 'edits it');
  codebase.git('merge', '--quiet', '--no-commit', '--strategy=ours', 'main');
  codebase.write({ 'a.js': `begin();\n${rest}${edited}end();\n` });
  commitAll(codebase, 'merged');
  expect(measure(codebase.root)).toContain('moved blocks     1 offered, 1 as committed');
});

test('a merge that GitHub made of a pull request by itself is not counted', async () => {
  const base = 'one\ntwo\nthree\nfour\nfive\n';
  await using codebase = temporaryCodebase({ 'a.txt': base });
  codebase.git('init', '--quiet', '--initial-branch=main');
  commitAll(codebase, 'first');
  codebase.git('branch', 'other');
  codebase.write({ 'a.txt': base.replace('one', 'ONE') });
  commitAll(codebase, 'ours');
  codebase.git('checkout', '--quiet', 'other');
  codebase.write({ 'a.txt': base.replace('five', 'FIVE') });
  commitAll(codebase, 'theirs');
  codebase.git('merge', '--quiet', '--no-edit', 'main');
  expect(measure(codebase.root)).toContain(': 1 files');

  codebase.git('update-ref', 'refs/pull/1/merge', 'HEAD');
  codebase.git('reset', '--quiet', '--hard', 'HEAD^');
  expect(measure(codebase.root)).toContain(': 0 files');
});

function measure(...args: string[]): string {
  return execFileSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8' });
}
