import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { type Codebase, commitAll, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';
import { unifiedPatch } from '../src/unified-patch.ts';

test('git takes every patch of random texts, forwards and backwards', async () => {
  await using codebase = temporaryCodebase({}, { git: false });
  codebase.git('init', '--quiet');
  // Small steps of a fixed generator: the same texts on every run.
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  const names = ['a.txt', 'with space.txt', 'quo"te.txt', 'tab\tin.txt', 'ünï.txt', 'back\\slash'];
  const textOf = (lines: readonly string[]) =>
    lines.map((line) => line + (random(9) === 0 ? '\r\n' : '\n')).join('') +
    (random(2) === 0 ? 'no end' : '');
  const patches: string[] = [];
  const wanted: Record<string, string> = {};
  for (let index = 0; index < 60; index += 1) {
    const lines = Array.from({ length: random(40) }, () => `word ${random(6)}`);
    const changed = lines.flatMap((line) =>
      random(8) > 0 ? [line] : random(2) === 0 ? [] : [line, `new ${random(6)}`],
    );
    const path = `${index}/${names[index % names.length]}`;
    const [before, after] = [textOf(lines), textOf(changed)];
    codebase.write({ [path]: before });
    wanted[path] = after;
    const file = (text: string) => ({ bytes: Buffer.from(text), isExecutable: false });
    const movedFrom = null;
    if (before === after) continue;
    patches.push(unifiedPatch({ path, before: file(before), after: file(after), movedFrom }).patch);
  }
  commitAll(codebase, 'before');
  const patch = patches.join('');
  expect(gitApply(codebase, patch)).toMatchObject({ status: 0, stderr: '' });
  for (const [path, text] of Object.entries(wanted)) expect(codebase.read(path)).toBe(text);
  expect(gitApply(codebase, patch, '-R')).toMatchObject({ status: 0, stderr: '' });
  expect(codebase.git('status', '--porcelain')).toBe('');
});

function gitApply(codebase: Codebase, patch: string, ...options: string[]) {
  return spawnSync('git', ['apply', '--whitespace=nowarn', ...options], {
    cwd: codebase.root,
    encoding: 'utf8',
    input: patch,
  });
}
