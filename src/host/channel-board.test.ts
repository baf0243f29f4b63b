import { expect, test, vi } from 'vitest';
import type { SilentContribution } from '../lib/contribution.ts';
import { TestProject } from '../testing/assistant.ts';
import { PLAIN, reset, seen, servicesOf } from '../testing/claw/service-files.ts';
import { TestClock } from '../testing/clock.ts';

const FAMILY = 'chat:family';

/** An assistant with a service that may look at the channels, at a clock of the test's. */
async function start(project: TestProject, silentChannels: readonly SilentContribution[] = []) {
  reset();
  const clock = new TestClock('2026-11-21T12:00:00Z');
  const { services } = await servicesOf({ 'plain.ts': PLAIN }, { PLAIN_WORD: 'yes' });
  const over = { services, silentChannels, now: clock.now, setTimer: clock.setTimer };
  const assistant = await project.start({ over });
  const channel = (name: string) => {
    const all = seen.contexts[0]?.channels() ?? [];
    return all.find((one) => one.name === name);
  };
  return { ...assistant, clock, channel };
}

test('a service sees each channel with its state, and since when it is connected or away, however often it tries again', async () => {
  using project = new TestProject();
  const { chat, clock, channel, stop } = await start(project);
  const began = clock.now();
  expect(channel('chat')).toEqual({
    name: 'chat',
    state: 'connected',
    detail: null,
    since: began,
    hasSetUp: false,
    canPair: false,
    chats: 0,
    receivedAt: null,
    sentAt: null,
  });
  clock.pass(60_000);
  chat.become({ state: 'failed', detail: 'The far end is away.' });
  clock.pass(60_000);
  chat.become({ state: 'connecting', detail: null });
  clock.pass(60_000);
  chat.become({ state: 'failed', detail: 'The far end is still away.' });
  const away = { state: 'failed', detail: 'The far end is still away.', since: began + 60_000 };
  expect(channel('chat')).toMatchObject(away);
  chat.become({ state: 'connected', detail: null });
  expect(channel('chat')).toMatchObject({ state: 'connected', since: began + 180_000 });
  await stop();
});

test('a channel’s chats, and when it last received and sent, are counted by what came and went on it', async () => {
  using project = new TestProject();
  const { chat, store, clock, channel, stop } = await start(project);
  store.chats.see({ jid: FAMILY, channel: 'chat', name: 'Family', isDirect: false }, 1);
  store.chats.see({ jid: 'chat:other', channel: 'chat', name: 'Other', isDirect: false }, 1);
  const group = { jid: FAMILY, folder: 'family', name: 'Family', triggerWord: null };
  store.groups.register({ ...group, needsTrigger: true, isMain: false }, 1);
  clock.pass(60_000);
  const came = clock.now();
  await chat.say('@Andy hello', { jid: FAMILY, isDirect: false });
  await vi.waitFor(() => expect(chat.sent).toHaveLength(1));
  await vi.waitFor(() => expect(store.outbox.hasUnsent(FAMILY)).toBe(false));
  const there = { chats: 1, receivedAt: came, sentAt: came };
  expect(channel('chat')).toMatchObject(there);
  clock.pass(60_000);
  // The owner says it on a page, so it did not come by the channel; and the answer cannot go.
  chat.become({ state: 'failed', detail: 'away' });
  await seen.contexts[0]?.owner.say(FAMILY, '@Andy are you there?');
  await vi.waitFor(() => expect(store.outbox.hasUnsent(FAMILY)).toBe(true));
  expect(channel('chat')).toMatchObject(there);
  await stop();
});

test('a channel that is silent is listed with what is missing, unless a set-up step asks for it', async () => {
  using project = new TestProject({ 'src/setup/raven.ts': '', 'src/setup/swan.ts': '' });
  const wrong = [{ name: 'SWAN_PORT', problem: 'must be a number' }];
  const { channel, stop } = await start(project, [
    { name: 'raven', needs: ['RAVEN_TOKEN'], wrong: [] },
    { name: 'gull', needs: ['GULL_TOKEN', 'GULL_URL'], wrong: [] },
    { name: 'swan', needs: [], wrong },
  ]);
  expect(channel('raven')).toMatchObject({ state: 'silent', detail: null, hasSetUp: true });
  const set = 'set GULL_TOKEN and GULL_URL in `.env`, then say `/restart`';
  expect(channel('gull')).toMatchObject({ state: 'silent', detail: set, hasSetUp: false });
  expect(channel('swan')?.detail).toContain('SWAN_PORT');
  expect(channel('swan')).toMatchObject({ since: null, chats: 0, receivedAt: null, sentAt: null });
  await stop();
});
