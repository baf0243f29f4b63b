import { expect, test } from 'vitest';
import { cutText } from '../../lib/cut-text.ts';
import { AnswerText, MAX_ANSWER_BYTES } from './turn.ts';

test.each([
  ['aé', 2, 'a'],
  ['aé', 3, 'aé'],
  ['🙂🙂', 7, '🙂'],
  ['', 0, ''],
])('%j cut at %i bytes is %j', (text, maxBytes, expected) => {
  expect(cutText(text, maxBytes)).toEqual({ text: expected, isTruncated: expected !== text });
});

test('an answer is kept whole up to the limit and cut beyond it', () => {
  const answer = new AnswerText();
  expect(answer.add('x'.repeat(MAX_ANSWER_BYTES))).toBe(true);
  expect(answer.isWhole).toBe(true);
  expect(answer.add('y')).toBe(true);
  expect(answer.isWhole).toBe(false);
  expect(answer.cut()).toEqual({ text: 'x'.repeat(MAX_ANSWER_BYTES), isTruncated: true });
});

test('an answer without end is noticed', () => {
  const answer = new AnswerText();
  const isMeant = Array.from({ length: 17 }, () => answer.add('x'.repeat(MAX_ANSWER_BYTES)));
  expect(isMeant.indexOf(false)).toBe(16);
});
