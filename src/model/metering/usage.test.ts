import { expect, test } from 'vitest';
import { chatCompletions } from '../providers/chat-completions-protocol.ts';
import { messages } from '../providers/messages-protocol.ts';
import type { TokenCounts } from '../tokens.ts';
import { countUsage } from './usage.ts';

const STREAM = [
  'event: message_start',
  'data: {"type":"message_start","message":{"usage":{"input_tokens":25,"cache_creation_input_tokens":7,"cache_read_input_tokens":1000,"output_tokens":1}}}',
  '',
  'event: content_block_delta',
  'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"my \\"output_tokens\\":999999"}}',
  '',
  'event: message_delta',
  'data: {"type":"message_delta","usage":{"output_tokens":15}}',
  '',
].join('\n');
const NONE: TokenCounts = {
  inputTokens: 0,
  cacheWriteTokens: 0,
  cacheReadTokens: 0,
  outputTokens: 0,
};

test.each([1, 7, 10_000])('an Anthropic stream is counted in pieces of %i bytes', (size) => {
  expect(count(STREAM, { size })).toEqual({
    inputTokens: 25,
    cacheWriteTokens: 7,
    cacheReadTokens: 1000,
    outputTokens: 15,
  });
});

test('an OpenAI stream is counted by its last chunk, which counts cached tokens twice', () => {
  const stream =
    'data: {"choices":[],"usage":null}\n\n' +
    'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21,"prompt_tokens_details":{"cached_tokens":4}}}\n\n' +
    'data: [DONE]\n\n';
  expect(count(stream, { size: 5, countsIn: chatCompletions.countsIn })).toEqual({
    ...NONE,
    inputTokens: 5,
    cacheReadTokens: 4,
    outputTokens: 12,
  });
});

test('an answer that is not streamed is counted as a whole', () => {
  const body = '{"content":[],"usage":{"input_tokens":3,"output_tokens":4}}';
  const counts = { ...NONE, inputTokens: 3, outputTokens: 4 };
  expect(count(body, { isStream: false, size: 11 })).toEqual(counts);
});

test('a stream that breaks off counts what was said so far, and estimates what was written since', () => {
  const upto = STREAM.indexOf('event: message_delta');
  const counts = count(STREAM.slice(0, upto), { isWhole: false });
  // 27 bytes of text as they stand in the stream.
  expect(counts).toMatchObject({ inputTokens: 25, cacheReadTokens: 1000, outputTokens: 7 });
});

test.each([
  ['{"choices":[{"delta":{"content":"sixteen letters!"}}]}', 4],
  ['{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\\"a\\":1}"}}]}}]}', 3],
])('a server that reports nothing is estimated by %s', (event, outputTokens) => {
  const unreported = { ...NONE, inputTokens: 40 };
  expect(count(`data: ${event}\n\n`, { unreported })).toEqual({
    ...NONE,
    inputTokens: 40,
    outputTokens,
  });
});

test('a long line that comes in small pieces is read once, not again with each piece', () => {
  const begin = process.cpuUsage();
  const line = `data: {"choices":[{"delta":{"content":"${'x'.repeat(4_000_000)}"}}]}\n\n`;
  expect(count(line, { size: 512, unreported: NONE }).outputTokens).toBeGreaterThan(900_000);
  const { user, system } = process.cpuUsage(begin);
  // Some 0.1 s; with all of it looked through for each piece it is far more than ten.
  expect(user + system).toBeLessThan(5_000_000);
});

test('counts that no server can mean are not taken', () => {
  const body = '{"usage":{"input_tokens":-5,"output_tokens":"many"}}';
  expect(count(body, { isStream: false })).toEqual(NONE);
  const endless = '{"usage":{"input_tokens":9007199254740991,"output_tokens":1}}';
  expect(count(endless, { isStream: false })).toEqual(NONE);
});

test('a line of megabytes takes no more time than its bytes', () => {
  const line = `data: {"text":"${'a'.repeat(5_000_000)}`;
  expect(count(line, { size: 65_536, isWhole: false }).outputTokens).toBeGreaterThan(1_000_000);
});

function count(
  text: string,
  {
    isStream = true,
    isWhole = true,
    size = 64,
    unreported = NONE,
    countsIn = messages.countsIn,
  } = {},
): TokenCounts {
  const counter = countUsage(isStream, countsIn);
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += size) {
    counter.write(bytes.subarray(from, from + size));
  }
  return counter.total({ isWhole, unreported });
}
