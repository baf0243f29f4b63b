import { expect, test } from 'vitest';
import { Inbox } from '../../../container/agent/claude-agent/inbox.ts';
import { followMessages } from '../../../container/agent/claude-agent/messages.ts';
import { loadSdk, type SdkInput } from '../../../container/agent/claude-agent/sdk.ts';
import { apiMessages, sessionEntries } from '../../../container/agent/claude-agent/transcript.ts';
import { Said } from '../../../container/agent/claude-agent/turn-messages.ts';
import { FollowUps } from '../../../container/agent/follow-ups.ts';
import { StreamedText } from '../../../container/agent/streamed-text.ts';

const use = (id: string, name: string) => ({ type: 'tool_use', id, name, input: { of: id } });
const result = (id: string, content: unknown) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
});
const answer = (id: string, block: unknown) => ({
  type: 'assistant',
  message: { id, content: [block] },
});
const results = (block: unknown) => ({ type: 'user', message: { content: [block] } });
const delta = (text: string) => ({
  type: 'stream_event',
  event: { type: 'content_block_delta', delta: { type: 'text_delta', text } },
});
const counted = (input_tokens: number, output_tokens: number) => [
  { type: 'stream_event', event: { type: 'message_start', message: { usage: { input_tokens } } } },
  { type: 'stream_event', event: { type: 'message_delta', usage: { output_tokens } } },
  { type: 'stream_event', event: { type: 'message_stop' } },
];

/** Follows a turn of which the SDK tells these; follow-ups are taken in as it says. */
async function follow(given: (inbox: Inbox<SdkInput>) => AsyncIterable<unknown>) {
  const inbox = new Inbox<SdkInput>();
  const said = new Said();
  const followUps = new FollowUps();
  const took: string[] = [];
  const text = new StreamedText('t1', () => true);
  followUps.add({ id: 'more', message: { role: 'user', content: 'and the dog' } });
  const followed = await followMessages(given(inbox), {
    inbox,
    said,
    text,
    followUps,
    tookIn: (id) => void took.push(id),
    inputOf: () => ({
      type: 'user',
      message: { role: 'user', content: [] },
      parent_tool_use_id: null,
      client_composed: true,
    }),
  });
  return { ...followed, said: said.messages, took, text: text.whole };
}

test('a turn is kept as it was said: an answer is one message, its results and follow-ups after it', async () => {
  const turn = await follow(async function* (inbox) {
    yield delta('I look.');
    yield answer('m1', { type: 'text', text: 'I look.' });
    yield answer('m1', use('a', 'note'));
    yield results(result('a', [{ type: 'text', text: 'noted' }]));
    yield answer('m1', use('b', 'Bash'));
    yield answer('m1', use('c', 'Bash'));
    yield results(result('b', 'listed'));
    for await (const { uuid } of inbox) {
      yield { type: 'user', uuid, isReplay: true, message: { content: 'and the dog' } };
      break;
    }
    yield* counted(100, 20);
    yield delta('Both are fed.');
    yield answer('m2', { type: 'text', text: 'Both are fed.' });
    yield { type: 'result', subtype: 'success' };
  });
  expect(turn).toMatchObject({ isCutShort: false, tokens: 120, took: ['more'] });
  expect(turn.text).toBe('I look.\n\nBoth are fed.');
  const messages = apiMessages([{ role: 'user', content: 'feed the cat' }, ...turn.said]);
  expect(messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'feed the cat' }] },
    {
      role: 'assistant',
      // The third call got no result.
      content: [{ type: 'text', text: 'I look.' }, use('a', 'note'), use('b', 'Bash')],
    },
    {
      role: 'user',
      content: [result('a', 'noted'), result('b', 'listed'), { type: 'text', text: 'and the dog' }],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'Both are fed.' }] },
  ]);
  const entries = sessionEntries('s1', messages) as { uuid: string; parentUuid: string | null }[];
  expect(entries.map(({ parentUuid }) => parentUuid)).toEqual([
    null,
    ...entries.slice(0, -1).map(({ uuid }) => uuid),
  ]);
});

test('rounds that are over are no failure; anything else that the SDK calls one is', async () => {
  const over = await follow(async function* () {
    yield { type: 'something new' };
    yield { type: 'result', subtype: 'error_max_turns', is_error: true };
    // The SDK's program ends with a failure then.
    throw new Error('Claude Code returned an error result: Reached maximum number of turns (20)');
  });
  expect(over).toMatchObject({ isCutShort: true, took: [] });
  const failed = follow(async function* () {
    yield { type: 'assistant', error: 'unknown', message: { id: 'm1', content: [] } };
    yield { type: 'result', subtype: 'success', is_error: true, result: 'API Error: odd' };
  });
  await expect(failed).rejects.toThrow('API Error: odd');
});

test('a container without the SDK has none', async () => {
  expect(await loadSdk(['/nowhere'])).toBeNull();
});
