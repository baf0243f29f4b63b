import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Channel, ChannelClock, ChannelEvents } from '../../../src/channels/channel.ts';
import { createLoopback } from '../../../src/http/server.ts';
import { type BotApi, startBotApi } from './bot-api.ts';
import {
  ADA,
  ADA_DIRECT,
  createChannel,
  FAMILY,
  HostEnd,
  inMemory,
  REAL_CLOCK,
  secretOf,
  stoppedClock,
  TOKEN,
} from './fixtures.ts';

const PUBLIC = 'https://door.example.org/mira/telegram/updates';

/** An assistant's machine: its HTTP server, the channel's database, and one channel after another. */
async function startMachine(api: BotApi) {
  const dataDir = mkdtempSync(join(tmpdir(), 'claw-telegram-hook-'));
  const openDatabase = inMemory();
  const setTimer = (ms: number, run: () => void) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  };
  const log = { info() {}, error() {} };
  let end = async () => {};

  /** Starts the assistant, after a crash where the one before was not stopped. */
  async function start(
    webhook: string | null = PUBLIC,
    host = new HostEnd(),
    clock: ChannelClock = REAL_CLOCK,
  ) {
    const server = createLoopback({ dataDir, setTimer, now: Date.now, log });
    const env = {
      TELEGRAM_BOT_TOKEN: TOKEN,
      TELEGRAM_ALLOW_FROM: String(ADA.id),
      TELEGRAM_API_ROOT: api.url,
      ...(webhook === null ? {} : { TELEGRAM_WEBHOOK_URL: webhook }),
    };
    const channel = createChannel(env, host, clock, openDatabase) as Channel;
    const route: NonNullable<ChannelEvents['route']> = async (wanted) => {
      const { url } = await server.route('telegram', wanted);
      api.publicAddresses.set(PUBLIC, url);
      return { url };
    };
    end = async () => {
      await server.close();
      await channel.disconnect();
    };
    await channel.connect(Object.assign(host, { route }));
    return { host, channel, stop: () => end() };
  }

  return {
    start,
    async [Symbol.asyncDispose]() {
      await end();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const textsOf = (host: HostEnd) => host.messages.map(({ text }) => text);

/** Sends to the address as somebody who is not Telegram. */
async function send(api: BotApi, body: unknown, secret?: string): Promise<number> {
  const headers = secret === undefined ? {} : { 'x-telegram-bot-api-secret-token': secret };
  const address = api.publicAddresses.get(PUBLIC) ?? '';
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (await fetch(address, { method: 'POST', headers, body: text })).status;
}

test('with an address Telegram delivers there, and the assistant does not poll', async () => {
  await using api = await startBotApi({ token: TOKEN });
  api.sendText(ADA, ADA_DIRECT, 'before');
  await using machine = await startMachine(api);
  const { host, channel } = await machine.start();
  expect(channel.status()).toEqual({ state: 'connected', detail: null });
  expect(api.webhook.url).toBe(PUBLIC);
  for (const text of ['one', 'two', 'three']) api.sendText(ADA, FAMILY, text);
  await api.until(() => host.messages.length === 4);
  expect(textsOf(host)).toEqual(['before', 'one', 'two', 'three']);
  await api.until(() => api.pending.length === 0);
  expect(api.calls.some(({ method }) => method === 'getUpdates')).toBe(false);
  expect(JSON.stringify([host.statuses, host.log])).not.toContain(secretOf(TOKEN));
});

test('only Telegram is heard: another secret, none, and what is no update are refused', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using machine = await startMachine(api);
  const { host } = await machine.start();
  const message = { message_id: 1, date: 1, from: ADA, chat: ADA_DIRECT, text: 'let me in' };
  const update = { update_id: 5, message };
  const secret = secretOf(TOKEN);
  const near = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`;
  for (const wrong of [undefined, '', 'x', near, TOKEN, `${secret} `.padEnd(400, 'x')]) {
    expect([wrong, await send(api, update, wrong)]).toEqual([wrong, 401]);
  }
  for (const bad of ['', 'nonsense', '[]', '{"update_id":"5"}', '{"update_id":-1}']) {
    expect([bad, await send(api, bad, secret)]).toEqual([bad, 400]);
  }
  api.sendText(ADA, ADA_DIRECT, 'hello');
  await api.until(() => host.messages.length > 0);
  expect(textsOf(host)).toEqual(['hello']);
});

test('an update that comes twice counts once, also after a restart', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using machine = await startMachine(api);
  const first = await machine.start();
  api.losesNextDelivery = true;
  api.sendText(ADA, ADA_DIRECT, 'once');
  await api.until(() => api.pending.length === 0);
  expect(api.deliveries).toBe(2);
  const press = { update_id: 7_000, edited_message: { ...edited('better'), edit_date: 2 } };
  expect(await send(api, press, secretOf(TOKEN))).toBe(200);
  await api.until(() => first.host.messages.length === 2);
  await first.stop();
  const second = await machine.start();
  expect(await send(api, press, secretOf(TOKEN))).toBe(200);
  api.sendText(ADA, ADA_DIRECT, 'last');
  await api.until(() => second.host.messages.length > 0);
  expect(textsOf(second.host)).toEqual(['last']);
});

test('what came while the host could not store it is there after a crash, in order and once', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using machine = await startMachine(api);
  const full = new HostEnd();
  full.beforeStored = async () => {
    throw new Error('the disk is full');
  };
  const first = await machine.start(PUBLIC, full);
  for (const text of ['one', 'two', 'three']) api.sendText(ADA, ADA_DIRECT, text);
  // Telegram is told: they are on disk here.
  await api.until(() => api.pending.length === 0 && full.offered > 0);
  await first.stop();
  const second = await machine.start();
  await api.until(() => second.host.messages.length === 3);
  expect(textsOf(second.host)).toEqual(['one', 'two', 'three']);
});

test('nothing is lost or doubled when the way changes, in both directions, whatever waits where', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using machine = await startMachine(api);
  const polling = await machine.start(null);
  api.sendText(ADA, ADA_DIRECT, 'polled');
  await api.until(() => api.pending.length === 0);
  await polling.stop();
  api.sendText(ADA, ADA_DIRECT, 'while it was off');
  const full = new HostEnd();
  let isFull = false;
  full.beforeStored = async () => {
    if (isFull) throw new Error('the disk is full');
  };
  const hooked = await machine.start(PUBLIC, full);
  await api.until(() => full.messages.length === 1);
  isFull = true;
  api.sendText(ADA, ADA_DIRECT, 'kept here');
  await api.until(() => api.pending.length === 0 && full.offered > 1);
  await hooked.stop();
  api.sendText(ADA, ADA_DIRECT, 'kept there');
  const back = await machine.start(null);
  await api.until(() => back.host.messages.length === 2);
  await api.until(() => api.pending.length === 0);
  expect(api.webhook.url).toBe('');
  expect(textsOf(polling.host)).toEqual(['polled']);
  expect(textsOf(full)).toEqual(['while it was off']);
  expect(textsOf(back.host)).toEqual(['kept here', 'kept there']);
});

test('an update that was stored by the webhook and is polled again counts once', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using machine = await startMachine(api);
  const hooked = await machine.start();
  const update_id = api.takeUpdateId();
  const update = { update_id, message: edited('once') };
  expect(await send(api, update, secretOf(TOKEN))).toBe(200);
  await api.until(() => hooked.host.messages.length === 1);
  await hooked.stop();
  // Telegram did not hear the answer.
  api.pending.push(update);
  const polling = await machine.start(null);
  api.sendText(ADA, ADA_DIRECT, 'next');
  await api.until(() => polling.host.messages.length > 0);
  expect(textsOf(polling.host)).toEqual(['next']);
});

test('an album is one turn with all its pictures, though its parts come one by one', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using machine = await startMachine(api);
  const { host } = await machine.start();
  for (const [at, caption] of ['look', undefined, undefined].entries()) {
    const photo = api.files.uploadPhoto(Buffer.from(`picture ${at}`));
    const words = caption === undefined ? {} : { caption };
    api.sendContent(ADA, ADA_DIRECT, { photo, media_group_id: '77', ...words });
  }
  await api.until(() => host.messages.length === 3);
  expect(host.messages.map(({ text, isContext = false }) => [text, isContext])).toEqual([
    ['', true],
    ['', true],
    ['look', false],
  ]);
});

test('a webhook that leads nowhere is told until it works, and one of another program is replaced', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using machine = await startMachine(api);
  const clock = handClock();
  const { host, channel } = await machine.start(PUBLIC, new HostEnd(), clock);
  const address = api.publicAddresses.get(PUBLIC) ?? '';
  api.publicAddresses.delete(PUBLIC);
  api.sendText(ADA, ADA_DIRECT, 'hello');
  await api.until(() => api.webhook.problem !== undefined);
  clock.pass(300_000);
  await api.until(() => channel.status().state === 'failed');
  expect(channel.status().detail).toContain(
    'TELEGRAM_WEBHOOK_URL (Connection refused); 1 waiting.',
  );
  api.publicAddresses.set(PUBLIC, address);
  await api.until(() => host.messages.length === 1 && api.pending.length === 0);
  clock.pass(30_000);
  await api.until(() => channel.status().state === 'connected');
  api.setForeignWebhook('https://elsewhere.example.org/');
  clock.pass(300_000);
  await api.until(() => api.webhook.url === PUBLIC);
  expect(textsOf(host)).toEqual(['hello']);
});

/** A clock on which time passes when the test says so. */
function handClock() {
  const waiting = new Set<() => void>();
  let time = 0;
  return {
    now: () => time,
    random: () => 0,
    pause: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (ms === 0 || signal.aborted) return resolve();
        waiting.add(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
    pass(ms: number) {
      time += ms;
      for (const go of waiting) go();
      waiting.clear();
    },
  };
}

test('without an HTTP server the status says what to do', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const host = new HostEnd();
  const env = {
    TELEGRAM_BOT_TOKEN: TOKEN,
    TELEGRAM_ALLOW_FROM: String(ADA.id),
    TELEGRAM_API_ROOT: api.url,
    TELEGRAM_WEBHOOK_URL: PUBLIC,
  };
  const channel = createChannel(env, host, stoppedClock());
  await channel?.connect(host);
  expect(channel?.status()).toMatchObject({
    state: 'refused',
    detail: expect.stringContaining('TELEGRAM_WEBHOOK_URL'),
  });
  expect(api.calls).toEqual([]);
});

function edited(text: string) {
  return { message_id: 900, date: 1, from: { is_bot: false, ...ADA }, chat: ADA_DIRECT, text };
}
