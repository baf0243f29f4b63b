import { expect, test, vi } from 'vitest';
import type { ChannelStatus } from '../../channels/channel.ts';
import { type TestAssistant, TestProject, textsOf } from '../../testing/assistant.ts';
import { TestClock } from '../../testing/clock.ts';

const CONNECTED: ChannelStatus = { state: 'connected', detail: null };
const CONNECTING: ChannelStatus = { state: 'connecting', detail: 'Trying again.' };
const UNPAIRED: ChannelStatus = { state: 'unpaired', detail: 'Pair it again.' };
const FAILED: ChannelStatus = { state: 'failed', detail: 'Update it.' };
const TOLD = 'The channel chat does not work: Pair it again.';
const BACK = 'The channel chat works again.';

async function told({ terminal }: TestAssistant, texts: readonly string[]): Promise<void> {
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual(texts));
}

test('the owner hears once that a channel needs them, in their other chats, and when it is back', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  const { chat, terminal } = assistant;
  await chat.meet('chat:ada', 'Ada', { isDirect: true, isOwners: true });
  chat.become(UNPAIRED);
  chat.become({ ...CONNECTING, detail: null });
  chat.become(UNPAIRED);
  await told(assistant, [TOLD]);
  chat.become(CONNECTED);
  await told(assistant, [TOLD, BACK]);
  chat.become(UNPAIRED);
  await told(assistant, [TOLD, BACK, TOLD]);
  // The chat on the channel itself is told nothing: it could not be reached.
  expect(chat.sent).toEqual([]);
  terminal.become(UNPAIRED);
  await vi.waitFor(() => expect(assistant.store.outbox.hasUnsent('chat:ada')).toBe(true));
  await assistant.stop();
});

test('a restart does not tell the same again, and knows that the channel was away', async () => {
  using project = new TestProject();
  const first = await project.start();
  first.chat.become(UNPAIRED);
  await told(first, [TOLD]);
  await first.stop();
  const second = await project.start();
  await told(second, [BACK]);
  second.chat.become({ state: 'refused', detail: 'One setting is missing.' });
  second.chat.become({ state: 'refused', detail: 'Another setting is missing.' });
  await told(second, [
    BACK,
    'The channel chat does not work: One setting is missing.',
    'The channel chat does not work: Another setting is missing.',
  ]);
  await second.stop();
});

test('a channel that goes on trying gets half a minute before the owner hears of it', async () => {
  using project = new TestProject();
  const clock = new TestClock('2026-11-21T12:00:00Z');
  const assistant = await project.start({ over: { now: clock.now, setTimer: clock.setTimer } });
  const { chat } = assistant;
  chat.become(FAILED);
  clock.pass(20_000);
  chat.become(CONNECTED);
  clock.pass(60_000);
  chat.become(FAILED);
  clock.pass(20_000);
  chat.become(FAILED);
  clock.pass(10_000);
  await told(assistant, ['The channel chat does not work: Update it.']);
  chat.become(CONNECTED);
  await told(assistant, ['The channel chat does not work: Update it.', BACK]);
  await assistant.stop();
});

test('what the owner was told is no warning beside it; what nobody could be told is one', async () => {
  using project = new TestProject();
  const logged: string[] = [];
  const note = (level: string) => (message: string) => {
    if (message === 'a channel needs the owner') logged.push(level);
  };
  const log = { info: note('info'), warn: note('warn'), error() {} };
  const assistant = await project.start({ over: { log } });
  assistant.chat.become(UNPAIRED);
  await told(assistant, [TOLD]);
  // The terminal is the only chat of the owner's here.
  assistant.terminal.become(UNPAIRED);
  expect(logged).toEqual(['info', 'warn']);
  await assistant.stop();
});
