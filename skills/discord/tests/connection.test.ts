import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { DiscordServer } from './discord-server.ts';
import {
  ADA,
  ADA_DIRECT,
  connectChannel,
  createChannel,
  GENERAL,
  HostEnd,
  inMemory,
  settingsOf,
  startServer,
  stoppedClock,
} from './fixtures.ts';

const IDENTIFY = 2;
const RESUME = 6;
const opsOf = ({ frames }: DiscordServer) =>
  frames.map(({ op }) => op).filter((op) => op === IDENTIFY || op === RESUME);

test.concurrent('connecting ends when the session is ready', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  expect(connected.channel.status()).toEqual({ state: 'connected', detail: null });
  expect(connected.host.statuses.map(({ state }) => state)).toEqual(['connecting', 'connected']);
  expect(opsOf(discord)).toEqual([IDENTIFY]);
});

test.concurrent('a wrong token is refused, and the status says where to get a right one', async () => {
  await using discord = await startServer();
  const env = { DISCORD_BOT_TOKEN: 'not.the.one' };
  await using connected = await connectChannel(discord, { env });
  expect(connected.channel.status()).toEqual({
    state: 'refused',
    detail: expect.stringMatching(/does not take the bot token.*DISCORD_BOT_TOKEN in \.env/),
  });
  expect(discord.frames).toEqual([]);
});

test.concurrent('a token that is revoked later is refused, and Discord is not asked again', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { channel, host } = connected;
  discord.closeLine(4_004);
  await discord.until(() => channel.status().state === 'refused');
  await discord.until(() => discord.connections === 0);
  expect(opsOf(discord)).toEqual([IDENTIFY]);
  const sending = channel.send({ id: 'm', jid: `discord:${GENERAL}`, text: 'hi' });
  await expect(sending).resolves.toBeUndefined();
  expect(JSON.stringify([host.statuses, host.log])).not.toContain('test-token');
});

test.concurrent('without the intent the channel works, and the status says what to switch on', async () => {
  await using discord = await startServer();
  discord.readsMessages = false;
  await using connected = await connectChannel(discord);
  const { host } = connected;
  expect(connected.channel.status()).toEqual({
    state: 'connected',
    detail: expect.stringContaining('switch on MESSAGE CONTENT INTENT'),
  });
  discord.say(ADA, GENERAL, 'not for you');
  discord.say(ADA, GENERAL, `<@${discord.bot.id}> hello`);
  discord.say(ADA, ADA_DIRECT, 'directly');
  await discord.until(() => host.messages.length === 2);
  expect(host.texts).toEqual(['@Andy hello', 'directly']);
});

test.concurrent('an intent that Discord grants in words and refuses in fact is not asked for again', async () => {
  await using discord = await startServer();
  discord.readsMessages = false;
  discord.saysReadsMessages = true;
  await using connected = await connectChannel(discord, { clock: stoppedClock() });
  await discord.until(() => connected.channel.status().state === 'connected');
  expect(connected.channel.status().detail).toContain('MESSAGE CONTENT INTENT');
  expect(opsOf(discord)).toEqual([IDENTIFY, IDENTIFY]);
});

test.concurrent('other refusals of the gateway stay until the owner has done something', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  discord.closeLine(4_013);
  await discord.until(() => connected.channel.status().state === 'refused');
  expect(connected.channel.status().detail).toContain('(invalid intents)');
});

test.concurrent('when Discord is down at the start, connecting ends with the reason and goes on by itself', async () => {
  await using discord = await startServer();
  await discord.goDown();
  await using connected = await connectChannel(discord);
  const { channel, host } = connected;
  expect(channel.status()).toEqual({
    state: 'connecting',
    detail: expect.stringMatching(
      /cannot be reached \(ECONNREFUSED: nothing listens there;.*\)\. Trying again\.$/,
    ),
  });
  await discord.comeUp();
  await discord.until(() => channel.status().state === 'connected');
  discord.say(ADA, ADA_DIRECT, 'back again');
  await discord.until(() => host.messages.length === 1);
});

test.concurrent('a line that was cut is resumed: what was written meanwhile arrives, in order and once', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord, { clock: stoppedClock() });
  const { host } = connected;
  discord.say(ADA, GENERAL, 'before');
  await discord.until(() => host.messages.length === 1);
  discord.cutLine();
  discord.say(ADA, GENERAL, 'during');
  await discord.until(() => host.messages.length === 2);
  discord.say(ADA, GENERAL, 'after');
  await discord.until(() => host.messages.length === 3);
  expect(host.texts).toEqual(['before', 'during', 'after']);
  expect(opsOf(discord)).toEqual([IDENTIFY, RESUME]);
});

test.concurrent('a bot that is told to reconnect resumes over another line', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord, { clock: stoppedClock() });
  const { host, channel } = connected;
  discord.moveLine();
  discord.say(ADA, GENERAL, 'during');
  await discord.until(() => host.messages.length === 1 && channel.status().state === 'connected');
  expect(opsOf(discord)).toEqual([IDENTIFY, RESUME]);
});

test.concurrent('after an invalid session a new one begins, and what was missed is fetched', async () => {
  await using discord = await startServer();
  const clock = stoppedClock();
  await using connected = await connectChannel(discord, { clock });
  const { host } = connected;
  discord.say(ADA, GENERAL, 'before');
  discord.say(ADA, ADA_DIRECT, 'before');
  await discord.until(() => host.messages.length === 2);
  discord.endSession();
  for (let at = 0; at < 150; at += 1) discord.say(ADA, GENERAL, `missed ${at}`);
  discord.say(ADA, ADA_DIRECT, 'missed');
  discord.cutLine();
  await discord.until(() => host.messages.length === 153);
  discord.say(ADA, GENERAL, 'after');
  await discord.until(() => host.messages.length === 154);
  const inGeneral = host.messages.filter(({ isDirect }) => !isDirect).map(({ text }) => text);
  const missed = Array.from({ length: 150 }, (_, at) => `missed ${at}`);
  expect(inGeneral).toEqual(['before', ...missed, 'after']);
  expect(opsOf(discord)).toEqual([IDENTIFY, RESUME, IDENTIFY]);
  expect(clock.pauses).toContain(3_000);
});

test.concurrent('a process that ended is followed by one that resumes its session', async () => {
  await using discord = await startServer();
  const openDatabase = inMemory();
  const first = await connectChannel(discord, { openDatabase });
  discord.say(ADA, GENERAL, 'one');
  await discord.until(() => first.host.messages.length === 1);
  await first.channel.disconnect();
  await discord.until(() => discord.connections === 0);
  discord.say(ADA, GENERAL, 'two');
  await using second = await connectChannel(discord, { openDatabase });
  await discord.until(() => second.host.messages.length === 1);
  expect(second.host.texts).toEqual(['two']);
  expect(second.host.messages[0]?.chatName).toBe('Acme #general');
  expect(opsOf(discord)).toEqual([IDENTIFY, RESUME]);
});

test.concurrent('a message that was not stored is not received: it comes again, and what followed after it', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord, { clock: stoppedClock() });
  const { host } = connected;
  const store = host.onMessage;
  let attempts = 0;
  host.onMessage = async (message) => {
    attempts += 1;
    if (attempts === 1) throw new Error('disk full');
    await store(message);
  };
  discord.say(ADA, GENERAL, 'one');
  discord.say(ADA, GENERAL, 'two');
  await discord.until(() => host.messages.length === 2);
  expect(host.texts).toEqual(['one', 'two']);
  expect(attempts).toBe(3);
  expect(opsOf(discord)).toEqual([IDENTIFY, RESUME]);
});

test.concurrent('heartbeats carry the last number; a line without answers to them is left and resumed', async () => {
  await using discord = await startServer();
  discord.heartbeatMs = 100;
  await using connected = await connectChannel(discord, { clock: stoppedClock() });
  discord.say(ADA, GENERAL, 'one');
  await discord.until(() => discord.frames.some(({ op, d }) => op === 1 && d === 3));
  discord.answersHeartbeats = false;
  await discord.until(() => opsOf(discord).includes(RESUME));
  discord.answersHeartbeats = true;
  await discord.until(() => connected.channel.status().state === 'connected');
  const details = connected.host.statuses.map(({ detail }) => detail);
  expect(details.join()).toContain('was lost (no heartbeat). Trying again.');
});

test.concurrent('half a frame, what is no UTF-8 and what is no JSON end the line, never the process', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord, { clock: stoppedClock() });
  const { host } = connected;
  const resumed = () => opsOf(discord).filter((op) => op === RESUME).length;
  const again = async (times: number) => {
    await discord.until(() => resumed() === times);
    await discord.until(() => connected.channel.status().state === 'connected');
  };
  discord.send('{"op":0,"t":"MESSAGE_CR');
  await again(1);
  discord.sendRaw(Buffer.from([0x81, 0x02, 0xff, 0xfe]));
  await again(2);
  discord.sendRaw(Buffer.from([0x81, 0x7e, 0x10]));
  discord.cutLine();
  await again(3);
  discord.say(ADA, GENERAL, 'still here');
  await discord.until(() => host.messages.length === 1);
});

test.concurrent('a message of 10 MB arrives whole', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { host } = connected;
  discord.say(ADA, GENERAL, 'x'.repeat(10_000_000));
  await discord.until(() => host.messages.length === 1);
  expect(host.texts[0]?.length).toBe(10_000_000);
});

test.concurrent('pauses that Discord asks for are waited out, and no session begins where none is left', async () => {
  await using discord = await startServer();
  const clock = stoppedClock();
  discord.failNext('GET', /^\/users\/@me$/, {
    status: 429,
    headers: { 'retry-after': '2', 'x-ratelimit-scope': 'user' },
    body: { message: 'You are being rate limited.', retry_after: 2, global: false },
  });
  discord.failNext('GET', /^\/gateway/, { status: 503 });
  discord.failNext('GET', /^\/gateway/, { status: 503 });
  discord.startsLeft = 0;
  await using connected = await connectChannel(discord, { clock });
  await discord.until(() => clock.pauses.length > 2);
  expect(clock.pauses[0]).toBeGreaterThan(1_900);
  expect(clock.pauses[2]).toBe(60_000);
  expect(discord.frames).toEqual([]);
  discord.startsLeft = 1;
  await discord.until(() => connected.channel.status().state === 'connected');
  const details = connected.host.statuses.map(({ detail }) => detail);
  expect(details).toContain('Discord asks for a pause. Trying again.');
  expect(details).toContain('Discord cannot be reached (HTTP 503). Trying again.');
  expect(details.join()).toContain('too many sessions today');
});

test.concurrent('disconnecting does not wait for a line that says nothing, and connecting ends with it', async () => {
  await using discord = await startServer();
  discord.isSilent = true;
  const host = new HostEnd();
  const channel = createChannel(settingsOf(discord), host);
  const connecting = channel?.connect(host);
  await discord.until(() => discord.connections === 1);
  await channel?.disconnect();
  await connecting;
  expect(channel?.status().state).toBe('stopped');
  discord.isSilent = false;
  await channel?.connect(host);
  expect(channel?.status().state).toBe('connected');
  await channel?.disconnect();
});

test.concurrent('after disconnecting nothing keeps the process alive', async () => {
  await using discord = await startServer();
  const script = `import { connectChannel } from '${import.meta.dirname}/fixtures.ts';
    const { channel, host } = await connectChannel({ url: process.argv[1] });
    await channel.send({ id: 'm', jid: 'discord:${GENERAL}', text: 'bye' });
    await channel.disconnect();
    console.log(JSON.stringify(channel.status()));`;
  const args = ['--input-type=module', '--eval', script, discord.url];
  const child = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  expect(JSON.parse(child.stdout)).toEqual({ state: 'stopped', detail: null });
  expect(child.stderr).toBe('');
  expect(discord.posted.map(({ content }) => content)).toEqual(['bye']);
});
