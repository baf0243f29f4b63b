import { expect, test } from 'vitest';
import { countUsage } from './usage.ts';

const STREAM = [
  'event: message_start',
  'data: {"type":"message_start","message":{"usage":{"input_tokens":25,"cache_read_input_tokens":1000,"output_tokens":1}}}',
  '',
  'event: content_block_delta',
  'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"my \\"output_tokens\\":999999"}}',
  '',
  'event: message_delta',
  'data: {"type":"message_delta","usage":{"output_tokens":15}}',
  '',
].join('\n');

test.each([1, 7, 10_000])('an Anthropic stream is counted in pieces of %i bytes', (size) => {
  expect(count(STREAM, true, size)).toEqual({ inputTokens: 1025, outputTokens: 15 });
});

test('an OpenAI stream is counted by its last chunk', () => {
  const stream =
    'data: {"choices":[],"usage":null}\n\n' +
    'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}\n\n' +
    'data: [DONE]\n\n';
  expect(count(stream, true, 5)).toEqual({ inputTokens: 9, outputTokens: 12 });
});

test('an answer that is not streamed is counted as a whole', () => {
  const body = '{"content":[],"usage":{"input_tokens":3,"output_tokens":4}}';
  expect(count(body, false, 11)).toEqual({ inputTokens: 3, outputTokens: 4 });
});

test('a stream that breaks off counts what was said so far', () => {
  expect(count(STREAM.slice(0, 170), true, 64)).toEqual({ inputTokens: 1025, outputTokens: 1 });
});

test('counts that no server can mean are not taken', () => {
  const body = '{"usage":{"input_tokens":-5,"output_tokens":"many"}}';
  expect(count(body, false, 100)).toEqual({ inputTokens: 0, outputTokens: 0 });
});

function count(text: string, isStream: boolean, size: number) {
  const counter = countUsage(isStream);
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += size) {
    counter.write(bytes.subarray(from, from + size));
  }
  return counter.total();
}
