import { expect, test, vi } from 'vitest';
import type { TurnEvents, TurnOutcome } from '../../../src/sandbox/sandbox.ts';
import { type AgentScript, answers, TestProject } from '../../../src/testing/assistant.ts';
import { TestClock } from '../../../src/testing/clock.ts';
import { type BotApi, startBotApi } from '../../telegram/tests/bot-api.ts';
import {
  ADA,
  ADA_DIRECT,
  connectChannel,
  createChannel,
  HostEnd,
  stoppedClock,
  TOKEN,
} from '../../telegram/tests/fixtures.ts';

const JID = 'telegram:10011';
const EYES = [{ type: 'emoji', emoji: '👀' }];
const DONE = [{ type: 'emoji', emoji: '👌' }];

test('a message that takes long has 👀 as long as it is worked on, and 👌 once it is answered', async () => {
  await using api = await startBotApi({ token: TOKEN });
  using project = new TestProject();
  const clock = new TestClock('2026-11-21T09:00:00Z');
  const turns: { events: TurnEvents; end: (outcome: TurnOutcome) => void }[] = [];
  const agent: AgentScript = (_, events) => {
    const { promise, resolve: end } = Promise.withResolvers<TurnOutcome>();
    turns.push({ events, end });
    return promise;
  };
  const settings = {
    TELEGRAM_BOT_TOKEN: TOKEN,
    TELEGRAM_ALLOW_FROM: String(ADA.id),
    TELEGRAM_API_ROOT: api.url,
  };
  const channel = createChannel(settings, new HostEnd(), stoppedClock());
  if (channel === null) throw new Error('the channel stayed silent');
  const { now, setTimer } = clock;
  const assistant = await project.start({ agent, over: { channels: [channel], now, setTimer } });
  const id = api.sendText(ADA, ADA_DIRECT, 'read all of it');
  await vi.waitFor(() => expect(turns).toHaveLength(1));
  expect(api.reactions.size).toBe(0);
  await vi.waitFor(() => {
    clock.pass(5_000);
    expect(api.reactions.get(id)).toEqual(EYES);
  });
  turns[0]?.end(answers('Read.'));
  await api.until(() => api.sent.some(({ text }) => text === 'Read.'));
  await api.until(() => JSON.stringify(api.reactions.get(id)) === JSON.stringify(DONE));
  const quick = api.sendText(ADA, ADA_DIRECT, 'and now?');
  await vi.waitFor(() => expect(turns).toHaveLength(2));
  turns[1]?.end(answers('Now.'));
  await api.until(() => api.sent.some(({ text }) => text === 'Now.'));
  expect(api.reactions.get(quick)).toBeUndefined();
  await assistant.stop();
});

/** Two messages of Ada's have come in. */
async function withTwo(api: BotApi) {
  const connected = await connectChannel(api);
  const ids = ['one', 'two'].map((text) => String(api.sendText(ADA, ADA_DIRECT, text)));
  await api.until(() => connected.host.messages.length === 2);
  const step = (activity: string | null, answersTo: readonly string[] = ids) =>
    connected.channel.draft?.({
      id: 'd1',
      jid: JID,
      text: `Well ${activity}`,
      activity,
      answersTo,
    });
  return { ...connected, ids, last: Number(ids[1]), step };
}

/** Returns the emojis that the bot asked for, in order. */
const marks = (api: BotApi) =>
  api.calls
    .filter(({ method }) => method === 'setMessageReaction')
    .map(({ payload }) => JSON.stringify(payload['reaction']).match(/👀|👌/u)?.[0]);

test('of several messages the last is marked, once; text alone marks none', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using two = await withTwo(api);
  const { channel, ids, last, step } = two;
  await step(null);
  await step('reading files', []);
  expect(marks(api)).toEqual([]);
  await step('reading files');
  await step('thinking');
  channel.answered?.(JID, ids);
  channel.answered?.(JID, ids);
  await api.until(() => marks(api).length === 2);
  await api.until(() => JSON.stringify(api.reactions.get(last)) === JSON.stringify(DONE));
  expect(marks(api)).toEqual(['👀', '👌']);
});

test('a mark that Telegram refuses keeps nothing from being sent, and 👌 comes after it all the same', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using two = await withTwo(api);
  const { channel, ids, last, step } = two;
  const refusal = { error_code: 400, description: 'Bad Request: REACTION_INVALID' };
  api.failNext('setMessageReaction', refusal);
  await step('thinking');
  await channel.send({ id: 'm1', jid: JID, text: 'Done.', replaces: 'd1' });
  channel.answered?.(JID, ids);
  await api.until(() => api.reactions.has(last));
  expect(api.reactions.get(last)).toEqual(DONE);
  expect(marks(api)).toEqual(['👀', '👌']);
  expect(api.sent.map(({ text }) => text)).toEqual(['Done.']);
});
