import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { inChatWords } from './chat-words.ts';

const SOURCES = resolve(import.meta.dirname, '../..');

test.each([
  [
    '8 of 66 related test files ran within 20 s, nearest first; --proof all runs every test',
    '8 of 66 related test files ran within 20 s, nearest first',
  ],
  ['This needs --allow .github/workflows/ci.yml.', 'This needs `allow .github/workflows/ci.yml`.'],
  [
    'x 1.0.0 has an install script, which will not run without --allow npm:x.',
    'x 1.0.0 has an install script, which will not run without `allow npm:x`.',
  ],
  [
    'web is retired. Its tests leave with it; --keep web keeps it.',
    'web is retired. Its tests leave with it; `keep web` keeps it.',
  ],
  [
    'There is no skill "x". `claw list --available` shows those that skills/ holds.',
    'There is no skill "x".',
  ],
  ['Say how a.ts is resolved: --ours, --theirs, --with or --agent.', 'Say how a.ts is resolved.'],
  [
    'tsc --noEmit -p tsconfig.json fails, as it does without this change:\na.ts(1,1): error',
    'tsc --noEmit -p tsconfig.json fails, as it does without this change:\na.ts(1,1): error',
  ],
  ['--roll-back is it.', 'Decide in a shell how to go on: `npx claw status` tells more.'],
  ['A test fails.\nnode --test x', 'A test fails.\nnode --test x'],
])('%s', (said, heard) => {
  expect(inChatWords(said)).toBe(heard);
});

test('every option of the command is left to the shell, but for those that can be said here', () => {
  const options = globSync('{cli,../packages/claw/src/cli}/**/*.ts', { cwd: SOURCES }).flatMap(
    (path) => [
      ...readFileSync(join(SOURCES, path), 'utf8').matchAll(/ption\(\s*'(?:-\w, )?(--[a-z-]+)/g),
    ],
  );
  const names = [...new Set(options.map(([, name = '']) => name))];
  expect(names.length).toBeGreaterThan(30);
  const kept = names.filter((name) => inChatWords(`That is so. Use ${name}.`) !== 'That is so.');
  expect(kept).toEqual([]);
});

test('no text of the host names an option of a shell', () => {
  const files = globSync('{host,commands,tools}/**/*.ts', {
    cwd: SOURCES,
    exclude: ['**/*test*.ts'],
  });
  const named = files.flatMap((path) => {
    const text = readFileSync(join(SOURCES, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    return [...text.matchAll(/.* --[a-z].*/g)].map(([line]) => `${path}: ${line.trim()}`);
  });
  expect(files.length).toBeGreaterThan(80);
  expect(named).toEqual([]);
});
