import { APICallError } from 'ai';
import { expect, test } from 'vitest';
import { isTooLong } from './too-long.ts';

function refused(statusCode: number, responseBody: string): APICallError {
  const call = { url: 'http://model', requestBodyValues: {} };
  return new APICallError({ ...call, message: 'Bad Request', statusCode, responseBody });
}

test.each([
  'prompt is too long: 200082 tokens > 200000 maximum',
  'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
  '{"error":{"code":"context_length_exceeded","message":"Please reduce the length."}}',
  "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
  'Your input exceeds the context window of this model.',
  'the request exceeds the available context size, try increasing it',
  'The number of tokens to keep from the initial prompt is greater than the context length.',
  "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
  'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  'Input is too long for requested model.',
])('a server says that a conversation is too long: %s', (body) => {
  expect(isTooLong(refused(400, body))).toBe(true);
});

test('a request that is too large is one, whatever its server says', () => {
  expect(isTooLong(refused(413, 'Payload Too Large'))).toBe(true);
});

test.each([
  [400, 'messages.3: tool_use ids were found without tool_result blocks'],
  [400, 'max_tokens: 99999 > 8192, which is the maximum allowed number of output tokens'],
  [429, 'This request would exceed the rate limit of 40,000 input tokens per minute'],
  [500, 'context window'],
])('%i %s is another matter', (status, body) => {
  expect(isTooLong(refused(status, body))).toBe(false);
});
