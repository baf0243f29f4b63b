import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Channel } from '../../../src/channels/channel.ts';
import type { TurnEvents, TurnOutcome } from '../../../src/sandbox/sandbox.ts';
import { openOwnDatabases } from '../../../src/store/own-databases.ts';
import { type AgentScript, answers, TestProject } from '../../../src/testing/assistant.ts';
import { TestClock } from '../../../src/testing/clock.ts';
import { type BotApi, startBotApi } from './bot-api.ts';
import { ADA, ADA_DIRECT, createChannel, HostEnd, stoppedClock, TOKEN } from './fixtures.ts';

/** A whole assistant on Telegram, whose agent's turn the test leads; its disk is the project's. */
async function assistantOn(project: TestProject, api: BotApi, clock: TestClock) {
  let events: TurnEvents | null = null;
  let end: (outcome: TurnOutcome) => void = () => {};
  const agent: AgentScript = (_request, given) => {
    events = given;
    const { promise, resolve } = Promise.withResolvers<TurnOutcome>();
    end = resolve;
    return promise;
  };
  const databases = openOwnDatabases({ dataDir: join(project.dir, 'data'), now: clock.now });
  const settings = {
    TELEGRAM_BOT_TOKEN: TOKEN,
    TELEGRAM_ALLOW_FROM: String(ADA.id),
    TELEGRAM_API_ROOT: api.url,
  };
  const openDatabase = databases.of('channel', 'telegram');
  const channel = createChannel(settings, new HostEnd(), stoppedClock(), openDatabase) as Channel;
  const { now, setTimer } = clock;
  const assistant = await project.start({ agent, over: { channels: [channel], now, setTimer } });
  return {
    ...assistant,
    channel,
    isAtWork: () => vi.waitFor(() => expect(events).not.toBeNull()),
    end(outcome: TurnOutcome) {
      events = null;
      end(outcome);
    },
    /** Writes, and lets time pass until Telegram shows it. */
    async writes(text: string, shown: string) {
      events?.onText?.(text);
      await vi.waitFor(() => {
        clock.pass(500);
        expect(textsOf(api)).toContain(shown);
      });
    },
    async leave() {
      await assistant.stop();
      databases.close();
    },
    /** As a kill would: nothing is stored from here on. */
    async die() {
      await channel.disconnect();
      assistant.store.close();
      databases.close();
    },
  };
}

const textsOf = (api: BotApi) => api.sent.map(({ text }) => text);

test('an answer grows in one message on Telegram, also across a crash, and ends as itself', async () => {
  using project = new TestProject();
  await using api = await startBotApi({ token: TOKEN });
  const clock = new TestClock('2026-11-21T12:00:00Z');
  const first = await assistantOn(project, api, clock);
  api.sendText(ADA, ADA_DIRECT, 'Tell me');
  await first.isAtWork();
  await first.writes('The answer is ', 'The answer is …');
  await first.writes('**forty', 'The answer is forty …');
  await first.die();
  const second = await assistantOn(project, api, clock);
  await second.isAtWork();
  await second.writes('It is **forty', 'It is forty …');
  second.end(answers('It is **forty-two**.'));
  await api.until(() => textsOf(api).includes('It is forty-two.'));
  expect(textsOf(api)).toEqual(['It is forty-two.']);
  // A failure is an end as well, and what was shown does not stay.
  api.sendText(ADA, ADA_DIRECT, 'And now?');
  await second.isAtWork();
  await second.writes('Now it is ', 'Now it is …');
  second.end({ kind: 'failed', code: 'MODEL_FAILED', message: 'The model failed.' });
  await api.until(() => textsOf(api).some((text) => text.startsWith('I could not answer this')));
  expect(textsOf(api)).toHaveLength(2);
  await second.leave();
});
