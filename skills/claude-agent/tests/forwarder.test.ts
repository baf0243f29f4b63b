import { afterEach, expect, test } from 'vitest';
import {
  type Forwarder,
  OtherProtocol,
  openForwarder,
} from '../../../container/agent/claude-agent/forwarder.ts';
import {
  type AnthropicBlock,
  type AnthropicReply,
  type AnthropicServer,
  startAnthropicServer,
} from '../../../src/testing/model/anthropic.ts';

const KEY = { 'x-api-key': 'added-by-the-host' };
const CALL: AnthropicBlock = { type: 'tool_use', name: 'note', input: {} };
const QUESTION = {
  model: 'some-alias',
  max_tokens: 100,
  stream: true,
  context_management: { edits: [] },
  output_config: { effort: 'high' },
  messages: [
    { role: 'user', content: 'look' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'note', input: {} }] },
    { role: 'system', content: 'The date is known.' },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }] },
  ],
};

let server: AnthropicServer;
let forwarder: Forwarder;
let faults = 0;
let statuses: number[] = [];
afterEach(async () => {
  forwarder.close();
  await server.close();
});

/**
 * Opens a forwarder whose host passes everything on to a server of the Messages API, with the key added.
 *
 * @param given statuses with which the host itself answers, from the first call on; 0 passes one on
 */
async function open(replies: AnthropicReply[], ...given: number[]): Promise<void> {
  statuses = given;
  faults = 0;
  server = await startAnthropicServer(() => replies.shift() ?? [{ type: 'text', text: 'end' }]);
  forwarder = await openForwarder({
    model: 'claude-test',
    onFault: () => {
      faults += 1;
    },
    fetch: async (input, init) => {
      const status = statuses.shift() ?? 0;
      if (status > 0) return new Response('{}', { status });
      const { pathname, search } = new URL(String(input));
      const headers = { ...Object.fromEntries(new Headers(init?.headers)), ...KEY };
      return await fetch(`${server.url}${pathname}${search}`, { ...init, headers });
    },
  });
}

async function ask(): Promise<string> {
  const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
  const body = JSON.stringify(QUESTION);
  const asked = { method: 'POST', headers, body };
  const answer = await fetch(`${forwarder.url}/v1/messages?beta=true`, asked);
  return `${answer.status} ${await answer.text()}`;
}

test('passes on a request with what every server of the protocol takes, and the answer as it comes', async () => {
  await open([[{ type: 'text', text: 'seen' }]]);
  expect(await ask()).toMatch(/^200 event: message_start[\s\S]*"seen"[\s\S]*message_stop/);
  const [request] = server.requests;
  expect(request?.path).toBe('/v1/messages');
  expect(Object.keys(request?.body ?? {}).sort()).toEqual([
    'max_tokens',
    'messages',
    'model',
    'stream',
  ]);
  expect(request?.body.model).toBe('claude-test');
  expect(request?.body.messages.at(-1)).toEqual({
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 't1', content: 'ok' },
      { type: 'text', text: '<system-reminder>\nThe date is known.\n</system-reminder>' },
    ],
  });
  expect(forwarder.fault).toBeNull();
});

test('tries again where that may help', async () => {
  await open([
    { kind: 'error', status: 529 },
    { kind: 'error', status: 429 },
  ]);
  expect(await ask()).toMatch(/^200 /);
  expect(server.requests).toHaveLength(3);
});

test.each<[string, AnthropicReply, RegExp]>([
  ['a refused key', { kind: 'error', status: 401 }, /answered 401/],
  ['a page in place of a stream', { kind: 'garbage' }, /not a stream of events/],
  [
    'calls of tools that are too many',
    Array<AnthropicBlock>(200).fill(CALL),
    /more than 128 tools/,
  ],
  [
    'parts that are too many',
    Array<AnthropicBlock>(1_500).fill({ type: 'text', text: 'a' }),
    /more than 1000 parts/,
  ],
  ['half an answer', { kind: 'drop', blocks: [{ type: 'text', text: 'a long one' }] }, /./],
])('ends the turn at once at %s', async (_, reply, reason) => {
  await open([reply]);
  await expect(ask()).rejects.toThrow();
  expect(forwarder.fault?.message).toMatch(reason);
  expect(faults).toBe(1);
  expect(server.requests).toHaveLength(1);
});

test('lets the SDK know that a conversation is too long, which it can mend', async () => {
  await open([{ kind: 'error', status: 400, message: 'prompt is too long' }]);
  expect(await ask()).toMatch(/^400 .*prompt is too long/);
  expect(forwarder.fault).toBeNull();
});

test('tells when the next protocol is to be asked, and calls nothing but the model', async () => {
  await open([], 421);
  await expect(ask()).rejects.toThrow();
  expect(forwarder.fault).toBeInstanceOf(OtherProtocol);
  forwarder.close();
  await server.close();

  // Once a model has answered, another one would do again what it has done.
  await open([], 0, 421);
  await ask();
  await expect(ask()).rejects.toThrow();
  expect(forwarder.fault).not.toBeInstanceOf(OtherProtocol);
  expect((await fetch(`${forwarder.url}/v1/files`, { method: 'POST' })).status).toBe(404);
  expect((await fetch(forwarder.url)).status).toBe(404);
});
