import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyBytes, wildText } from '../../../../../src/testing/texts.ts';
import { contentOf, dominantTerminator, splitLines, terminatorOf } from '../lines.ts';

test('joining the lines of a text restores it', () => {
  const law = (text: string) => {
    expect(splitLines(text).join('')).toBe(text);
    for (const line of splitLines(text)) expect(contentOf(line) + terminatorOf(line)).toBe(line);
  };
  fc.assert(fc.property(fc.oneof(wildText, anyBytes), law));
});

test.each([
  ['', []],
  ['\n', ['\n']],
  ['a', ['a']],
  ['a\nb', ['a\n', 'b']],
  ['a\r\nb\n\n', ['a\r\n', 'b\n', '\n']],
  ['a\rb\r\r\n\r', ['a\rb\r\r\n', '\r']],
])('%j has the lines %j', (text, lines) => {
  expect(splitLines(text)).toEqual(lines);
});

test.each([
  ['', ''],
  ['a', ''],
  ['a\nb\r\nc\n', '\n'],
  ['a\r\nb\nc\r\n', '\r\n'],
  ['a\r\nb\n', '\n'],
  ['a\r', ''],
])('%j mostly ends its lines with %j', (text, terminator) => {
  expect(dominantTerminator(splitLines(text))).toBe(terminator);
});
