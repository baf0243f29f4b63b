import { expect, test } from 'vitest';
import { plainParts } from './plain-text.ts';

test('marks go, words, code and addresses stay', () => {
  const markdown = [
    '# Wiring',
    '',
    'Use **pin 2**, _not_ `pin 3`: [the sheet](https://example.org/s).',
    '',
    '- red',
    '- black',
    '',
    '```python',
    'pin.on()  # *now*',
    '```',
  ].join('\n');
  expect(plainParts(markdown, 1_000).map(({ text }) => text)).toEqual([
    [
      'Wiring',
      '',
      'Use pin 2, not pin 3: the sheet (https://example.org/s).',
      '',
      '- red',
      '- black',
      '',
      'pin.on()  # *now*',
    ].join('\n'),
  ]);
});

test('a long text is split where it was written in paragraphs, and nothing of it is lost', () => {
  const paragraphs = Array.from({ length: 9 }, (_, at) => `${at} ${'word '.repeat(20)}`.trim());
  const parts = plainParts(paragraphs.join('\n\n'), 250);
  expect(parts.every(({ text }) => text.length <= 250)).toBe(true);
  expect(parts.map(({ text }) => text).join('\n\n')).toBe(paragraphs.join('\n\n'));
});
