import { expect, test } from 'vitest';
import { errorOf } from '../testing/error-of.ts';
import { checkPath } from './paths.ts';

test.each([
  '',
  '.',
  '..',
  '/etc/passwd',
  './a',
  'a/./b',
  'a/../b',
  '../a',
  'a//b',
  'a/',
  'a\\b',
  'C:/a',
  'a:b',
  'a\nb',
  'a\u0000b',
  'a\u007fb',
  'a\u202eb',
  'a\u2066b',
  'a\u200bb',
  'a\ufeffb',
  'a\u00adb',
  'a\ufe0fb',
  'a\u2028b',
  'a\ud800b',
  'a\ufffdb',
  'con',
  'src/NUL.txt',
  'aux.tar.gz',
  'COM1',
  'lpt9.ts',
  'com¹',
  'con .txt',
  'a.',
  'a /b',
  'src/a. ',
  '-rf',
  'src/-x',
  `${'a'.repeat(256)}`,
  `${'é'.repeat(128)}`,
  `${`${'a'.repeat(200)}/`.repeat(5)}${'b'.repeat(20)}`,
  Array(33).fill('a').join('/'),
])('%j is not a safe path', (path) => {
  expect(errorOf(() => checkPath(path))?.code).toBe('PATH_UNSAFE');
});

test.each([
  'a',
  '.env.example',
  'src/channels/telegram.ts',
  'src/[id]/(group)/@x/page.tsx',
  'a b/c',
  'console.ts',
  'com10',
  'com0a',
  'src/e\u0301.ts',
  '日本語/ファイル.ts',
  '...a',
  'a-b/--c'.replace('--c', 'c--'),
  `${'a'.repeat(255)}`,
  Array(32).fill('a').join('/'),
])('%j is a safe path', (path) => {
  expect(errorOf(() => checkPath(path))).toBeNull();
});

test('the error shows what cannot be seen as an escape', () => {
  expect(errorOf(() => checkPath('a\u202e\u001bb'))?.path).toBe('a\\u{202E}\\u{1B}b');
});
