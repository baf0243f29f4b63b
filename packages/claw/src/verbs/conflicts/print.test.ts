import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { besideLines, displayWidth, padded, wrapped } from './print.ts';

const SCREEN = { hasColours: false, columns: 100 };

test('both sides are shown next to each other, however wide their letters are', () => {
  const texts = { base: 'b\n', ours: 'é 你好 👋 x\nlast', theirs: `${'long '.repeat(9)}\n` };
  expect(besideLines(texts, { ours: 'a', theirs: 'b' }, { screen: SCREEN })).toEqual([
    `── base ${'─'.repeat(92)}`,
    '  b',
    `── a ${'─'.repeat(43)}─┬─── b ${'─'.repeat(43)}`,
    `é 你好 👋 x${' '.repeat(38)}│ long long long long long long long long long`,
    `last${' '.repeat(45)}│`,
    `${'─'.repeat(48)}─┴─${'─'.repeat(48)}`,
  ]);
});

test('characters that would control the terminal are shown, not sent', () => {
  const texts = { base: '', ours: '\x1b[2Jgone\x07\n', theirs: '\ttab\r\n' };
  const lines = besideLines(
    texts,
    { ours: 'a', theirs: 'b' },
    { screen: { hasColours: true, columns: 100 } },
  );
  expect(lines.join('\n')).not.toMatch(/\x1b\[2J|\x07|\t|\r/);
  const plain = stripVTControlCharacters(lines.join('\n'));
  expect(plain).toContain('(nothing)');
  expect(plain).toContain('│   tab');
});

test('text is cut and filled up by what it takes on the screen', () => {
  expect(displayWidth('a你é👋')).toBe(6);
  expect(padded('你', 4)).toBe('你  ');
  expect(wrapped('ab你好', 4)).toEqual(['ab你', '好']);
  expect(wrapped('', 4)).toEqual(['']);
});
