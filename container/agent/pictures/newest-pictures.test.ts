import { APICallError } from 'ai';
import { expect, test } from 'vitest';
import type { Prompt } from '../conversation/summary.ts';
import { fewerPictures, withNewest } from './newest-pictures.ts';

const picture = { type: 'file', mediaType: 'image/png', data: 'AAAA' } as const;

function asked(...pictures: readonly number[]): Prompt {
  return pictures.map((count) => ({
    role: 'user',
    content: [{ type: 'text', text: 'see' }, ...Array.from({ length: count }, () => picture)],
  })) as unknown as Prompt;
}

const kindsIn = (prompt: Prompt) =>
  prompt.map(({ content }) => [...content].map((part) => Object(part).text ?? 'picture'));

const refusal = (statusCode: number, message = 'no') =>
  new APICallError({ statusCode, message, url: '', requestBodyValues: {} });

test('if there are more pictures than a request may hold, the newest are shown', () => {
  const left = expect.stringContaining('is not shown: newer ones');
  expect(kindsIn(withNewest(asked(2, 0, 3), 4))).toEqual([
    ['see', left, 'picture'],
    ['see'],
    ['see', 'picture', 'picture', 'picture'],
  ]);
  expect(kindsIn(withNewest(asked(1), 0))).toEqual([['see', expect.stringMatching('refused it')]]);
});

test('a refusal of many pictures is asked with fewer, and then with none', () => {
  for (const status of [400, 404, 413, 415, 422]) {
    expect(fewerPictures(refusal(status), asked(3, 7))).toBe(4);
    expect(fewerPictures(refusal(status), asked(4))).toBe(0);
    expect(fewerPictures(refusal(status), asked(0))).toBe(null);
  }
  expect(fewerPictures(refusal(429), asked(3))).toBe(null);
  expect(fewerPictures(refusal(400, 'prompt is too long'), asked(3))).toBe(null);
  expect(fewerPictures(new Error('fetch failed'), asked(3))).toBe(null);
});
