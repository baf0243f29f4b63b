import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { explainFailure, explainSendFailure } from '../../../src/channels/telegram/failure.ts';
import { type BotApi, startBotApi } from './bot-api.ts';
import {
  ADA,
  ADA_DIRECT,
  connectChannel,
  createChannel,
  FAMILY,
  HostEnd,
  stoppedClock,
  TOKEN,
} from './fixtures.ts';

const polls = (api: BotApi) => api.calls.filter(({ method }) => method === 'getUpdates').length;

test.concurrent('connecting ends when Telegram has answered the first poll', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api, { TELEGRAM_API_ROOT: `${api.url}/` });
  expect(connected.channel.status()).toEqual({ state: 'connected', detail: null });
  expect(connected.host.statuses.map(({ state }) => state)).toEqual(['connecting', 'connected']);
  expect(polls(api)).toBeGreaterThanOrEqual(1);
});

test('a JID is owned when it is a chat id behind telegram:', () => {
  const channel = createChannel({ TELEGRAM_BOT_TOKEN: TOKEN }, new HostEnd());
  const owned = [
    'telegram:10011',
    'telegram:-1001234',
    'telegram:',
    'telegram:x',
    'slack:C1',
    '10011',
  ];
  expect(owned.map((jid) => channel?.ownsJid(jid))).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test.concurrent.each(['nonsense'])(
  'a token that is none (%s) is refused, with what to do and without the token',
  async (wrong) => {
    await using api = await startBotApi({ token: TOKEN });
    await using connected = await connectChannel(api, { TELEGRAM_BOT_TOKEN: wrong });
    const { channel, host } = connected;
    expect(channel.status().state).toBe('refused');
    expect(channel.status().detail).toContain('TELEGRAM_BOT_TOKEN');
    expect(host.statuses.map(({ state }) => state)).toEqual(['connecting', 'refused']);
    expect(JSON.stringify([host.statuses, host.log])).not.toContain(wrong);
  },
);

test.concurrent('a second program with the same token is named, and later ends by itself', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { channel, host } = connected;
  const other = await fetch(`${api.url}/bot${TOKEN}/getUpdates?timeout=0`);
  expect(await other.json()).toMatchObject({ ok: true });
  await api.until(() => channel.status().state === 'failed');
  expect(channel.status().detail).toContain('Another program is polling');
  api.sendText(ADA, ADA_DIRECT, 'still there?');
  await api.until(() => host.messages.length === 1 && channel.status().state === 'connected');
});

test.concurrent('a webhook that another program left is taken away, and what waits there is kept', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await fetch(`${api.url}/bot${TOKEN}/setWebhook?url=https://example.org`);
  api.sendText(ADA, ADA_DIRECT, 'I was first');
  await using connected = await connectChannel(api);
  await api.until(() => connected.host.messages.length === 1);
});

test.concurrent('when Telegram is down at the start, connecting ends with the reason and goes on by itself', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await api.goDown();
  await using connected = await connectChannel(api);
  const { channel, host } = connected;
  expect(channel.status()).toEqual({
    state: 'connecting',
    // Another test's server may have got the port meanwhile, and end the line.
    detail: expect.stringMatching(/cannot be reached \([A-Z_]+: .+\)\. Trying again\.$/),
  });
  await expect(channel.send({ id: 'm', jid: 'telegram:10011', text: 'hi' })).rejects.toMatchObject({
    name: 'TelegramError',
    code: 'UNREACHABLE',
  });
  await api.comeUp();
  api.sendText(ADA, ADA_DIRECT, 'back again');
  await api.until(() => host.messages.length === 1);
  expect(channel.status()).toEqual({ state: 'connected', detail: null });
});

test.concurrent('an outage loses nothing: what was written meanwhile arrives, in order and once', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { channel, host } = connected;
  api.sendText(ADA, FAMILY, 'before');
  await api.until(() => host.messages.length === 1 && api.pending.length === 0);
  await api.goDown();
  await api.until(() => channel.status().state === 'connecting');
  api.sendText(ADA, FAMILY, 'during');
  await api.comeUp();
  api.sendText(ADA, FAMILY, 'after');
  await api.until(() => host.messages.length === 3);
  expect(host.messages.map(({ text }) => text)).toEqual(['before', 'during', 'after']);
  expect(channel.status().state).toBe('connected');
  expect(JSON.stringify([host.statuses, host.log])).not.toContain(TOKEN);
});

test.concurrent('errors of Telegram and pauses that it asks for are waited out', async () => {
  await using api = await startBotApi({ token: TOKEN });
  api.blockNext('getMe');
  api.failNext('getUpdates', {
    error_code: 429,
    description: 'Too Many Requests: retry after 1',
    parameters: { retry_after: 1 },
  });
  const clock = stoppedClock();
  await using connected = await connectChannel(api, {}, clock);
  await api.until(() => connected.channel.status().state === 'connected');
  expect(clock.pauses.slice(0, 2)).toEqual([250, 1_000]);
  expect(connected.host.statuses.map(({ detail }) => detail)).toEqual([
    null,
    'Telegram cannot be reached (unexpected answer). Trying again.',
    'Telegram asks for a pause. Trying again.',
    null,
  ]);
});

test.concurrent('a far end that answers empty at once is asked once a second, and messages still arrive', async () => {
  await using api = await startBotApi({ token: TOKEN });
  api.isHasty = true;
  const clock = stoppedClock();
  await using connected = await connectChannel(api, {}, clock);
  const { channel, host } = connected;
  // The first request and the one after it show that all is well; from then on there is a second between.
  await api.until(() => polls(api) >= 5);
  expect(clock.pauses.slice(0, 3)).toEqual([1_000, 1_000, 1_000]);
  expect(channel.status()).toEqual({ state: 'connected', detail: null });
  api.sendText(ADA, ADA_DIRECT, 'hello');
  await api.until(() => host.messages.length === 1);
});

test.concurrent('a far end that repeats what it was told is known is not asked without a pause', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const clock = stoppedClock();
  await using connected = await connectChannel(api, {}, clock);
  api.isForgetful = true;
  api.sendText(ADA, ADA_DIRECT, 'hello');
  await api.until(() => connected.host.messages.length >= 1);
  await api.until(() => polls(api) >= 6);
  expect(clock.pauses.slice(0, 2)).toEqual([1_000, 1_000]);
});

test.concurrent('a channel that was disconnected can be connected again', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const { channel, host } = await connectChannel(api);
  await channel.disconnect();
  await channel.disconnect();
  expect(channel.status()).toEqual({ state: 'stopped', detail: null });
  api.sendText(ADA, ADA_DIRECT, 'anyone?');
  await channel.connect(host);
  await api.until(() => host.messages.length === 1);
  await channel.disconnect();
  await expect(channel.send({ id: 'm', jid: 'telegram:10011', text: 'hi' })).rejects.toMatchObject({
    code: 'NOT_CONNECTED',
  });
});

test.concurrent('disconnecting while Telegram is down does not wait for it', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await api.goDown();
  const { channel } = await connectChannel(api);
  await channel.disconnect();
  expect(channel.status().state).toBe('stopped');
});

test.concurrent('disconnecting right after connecting ends both', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const host = new HostEnd();
  const channel = createChannel(
    { TELEGRAM_BOT_TOKEN: TOKEN, TELEGRAM_ALLOW_FROM: '*', TELEGRAM_API_ROOT: api.url },
    host,
  );
  const connecting = channel?.connect(host);
  await channel?.disconnect();
  await connecting;
  expect(channel?.status().state).toBe('stopped');
  expect(polls(api)).toBe(0);
});

test.concurrent('after disconnecting nothing keeps the process alive', async () => {
  await using api = await startBotApi({ token: TOKEN });
  api.sendText(ADA, ADA_DIRECT, 'hello');
  const child = await runScript(
    api,
    `const { channel, host } = await connectChannel({ url: process.argv[1] });
     await channel.send({ id: 'm', jid: 'telegram:10011', text: 'bye' });
     await channel.setTyping('telegram:10011', true);
     await channel.disconnect();
     const handles = process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
     console.log(JSON.stringify({ messages: host.messages.length, handles, status: channel.status() }));`,
  );
  expect(JSON.parse(child.stdout)).toEqual({
    messages: 1,
    handles: [],
    status: { state: 'stopped', detail: null },
  });
  expect(child.stderr).toBe('');
  expect(api.sent.map(({ text }) => text)).toEqual(['bye']);
  expect(api.pending).toHaveLength(0);
});

/** Runs a script in a process of its own, with the address of the Bot API as its argument, to its end. */
function runScript(api: BotApi, script: string): Promise<{ stdout: string; stderr: string }> {
  const fixtures = `import { connectChannel } from '${import.meta.dirname}/fixtures.ts';`;
  const args = ['--input-type=module', '--eval', `${fixtures}\n${script}`, api.url];
  return promisify(execFile)(process.execPath, args, { timeout: 60_000 });
}

test('a clock that is wrong is named, and a message meanwhile counts as not sent', () => {
  const cause = Object.assign(new Error('x'), { code: 'CERT_NOT_YET_VALID' });
  const error = new TypeError('fetch failed', { cause });
  expect(explainFailure(error).status.detail).toContain('look at the clock of this machine');
  expect(explainSendFailure(error)).toMatchObject({ code: 'UNREACHABLE' });
});
