import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OutboundMessage } from '../../../src/channels/channel.ts';
import {
  ADA,
  connectChannel,
  GENERAL,
  inMemory,
  startServer,
  stoppedClock,
  THREAD,
} from './fixtures.ts';

const JID = `discord:${GENERAL}`;
const message = (over: Partial<OutboundMessage> = {}): OutboundMessage => ({
  id: 'm1',
  jid: JID,
  text: 'hello',
  ...over,
});

test.concurrent('Markdown arrives as Discord shows it; nothing in it is a mention or a preview', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const text = [
    '# Title',
    'It is **bold**, *slanted*, ~~gone~~, `a*b`, snake_case and 2 * 3 | 4.',
    '- one\n- two\n  - three',
    '> said',
    '[here](https://example.org/a_(b)) or https://example.org/x_y or [file](file:///etc/passwd)',
    '@everyone <@123456789012345678>',
    '```ts\nconst a = `b`;\n```',
    '| a | b |\n|---|---|\n| 1 | 2 |',
  ].join('\n\n');
  await connected.channel.send(message({ text }));
  const [posted] = discord.posted;
  expect(posted?.content).toBe(
    [
      '**Title**',
      'It is **bold**, *slanted*, ~~gone~~, `a*b`, snake\\_case and 2 \\* 3 \\| 4.',
      '- one\n- two\n  - three',
      '> said',
      '[here](https://example.org/a_%28b%29) or https://example.org/x_y or file (file:///etc/passwd)',
      '@everyone \\<@123456789012345678\\>',
      '```ts\nconst a = `b`;\n```',
      '```\na  b\n─  ─\n1  2\n```',
    ].join('\n\n'),
  );
  expect(posted?.flags).toBe(4);
  const sent = discord.calls.find(({ method }) => method === 'POST');
  expect(sent?.body['allowed_mentions']).toEqual({ parse: [], replied_user: true });
});

test.concurrent('what is longer than 2,000 characters goes in parts, each code block whole in its fences', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const code = Array.from({ length: 150 }, (_, at) => `const line${at} = ${at} * 2;`).join('\n');
  const words = 'some_words '.repeat(300);
  await connected.channel.send(message({ text: `${words}\n\n\`\`\`ts\n${code}\n\`\`\`\n\nend` }));
  const parts = discord.posted.map(({ content }) => content);
  expect(parts.length).toBeGreaterThan(3);
  for (const part of parts) {
    expect(part.length).toBeLessThanOrEqual(2_000);
    expect(part.split('```').length % 2).toBe(1);
  }
  const lines = parts.join('\n').split('\n');
  for (const line of code.split('\n')) expect(lines).toContain(line);
});

test.concurrent('an answer shows what it answers, in its thread, also where that was deleted', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const id = discord.say(ADA, THREAD, 'why?');
  const replyTo = { id, sender: ADA.id, text: 'why?' };
  await connected.channel.send(message({ thread: THREAD, replyTo }));
  expect(discord.posted).toMatchObject([{ channel: THREAD, answers: id, content: 'hello' }]);
  const [call] = discord.calls.filter(({ method }) => method === 'POST');
  expect(call?.body['message_reference']).toEqual({ message_id: id, fail_if_not_exists: false });
});

test.concurrent('a message sent again after its answer was lost, or after a crash, is there once', async () => {
  await using discord = await startServer();
  const first = await connectChannel(discord);
  discord.failNext('POST', /messages$/, null);
  const sending = first.channel.send(message());
  await expect(sending).rejects.toMatchObject({ name: 'DiscordError', code: 'UNREACHABLE' });
  await first.channel.disconnect();
  // The process that follows knows nothing of it.
  await using second = await connectChannel(discord, { openDatabase: inMemory() });
  await second.channel.send(message());
  await second.channel.send(message({ id: 'm2' }));
  expect(discord.posted.map(({ content }) => content)).toEqual(['hello', 'hello']);
  expect(discord.posted[0]?.nonce).toHaveLength(25);
  const posts = discord.calls.filter(({ method }) => method === 'POST');
  expect(posts.every(({ body }) => body['enforce_nonce'] === true)).toBe(true);
});

test.concurrent('a message of two parts that broke off goes on after the first, also in another process', async () => {
  await using discord = await startServer();
  const openDatabase = inMemory();
  const text = `${'a'.repeat(1_990)}\n\n${'b'.repeat(100)}`;
  const first = await connectChannel(discord, { openDatabase });
  // Once more than the library tries by itself.
  discord.failNext('POST', /messages$/, { status: 500 }, 1);
  discord.failNext('POST', /messages$/, { status: 500 });
  const sending = first.channel.send(message({ text }));
  await expect(sending).rejects.toMatchObject({ code: 'UNREACHABLE' });
  await first.channel.disconnect();
  await using second = await connectChannel(discord, { openDatabase });
  await second.channel.send(message({ text }));
  expect(discord.posted.map(({ content }) => content.charAt(0))).toEqual(['a', 'b']);
});

test.concurrent('429 is waited out: for the time that Discord names, globally or not, and for a second without one', async () => {
  await using discord = await startServer();
  const clock = stoppedClock();
  await using connected = await connectChannel(discord, { clock });
  const body = { message: 'You are being rate limited.', retry_after: 2, global: false };
  const before = clock.pauses.length;
  discord.failNext('POST', /messages$/, { status: 429, headers: { 'retry-after': '2' }, body });
  await connected.channel.send(message());
  discord.failNext('POST', /messages$/, { status: 429, body });
  await connected.channel.send(message({ id: 'm2' }));
  const [named, unnamed] = clock.pauses.slice(before);
  expect(named).toBeGreaterThanOrEqual(2_000);
  expect(named).toBeLessThan(2_500);
  expect(unnamed).toBe(1_000);
  expect(discord.posted).toHaveLength(2);
});

test.concurrent('a bucket that is used up is waited for before Discord has to refuse', async () => {
  await using discord = await startServer();
  const clock = stoppedClock();
  await using connected = await connectChannel(discord, { clock });
  // The first answer names the bucket.
  await connected.channel.send(message());
  const before = clock.pauses.length;
  discord.failNext('POST', /messages$/, {
    status: 200,
    headers: {
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset-after': '30',
    },
    body: { id: '1', channel_id: GENERAL },
  });
  await connected.channel.send(message({ id: 'm2' }));
  const posts = () => discord.calls.filter(({ method }) => method === 'POST').length;
  expect(posts()).toBe(2);
  const sending = connected.channel.send(message({ id: 'm3' }));
  // Longer than a send may take: the host tries again later.
  await expect(sending).rejects.toMatchObject({ message: 'Discord asks for a pause.' });
  expect(posts()).toBe(2);
  expect(clock.pauses.length).toBe(before);
});

test.concurrent('what Discord refuses is told with what to do; a chat that is gone is one of these', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { channel } = connected;
  const gone = channel.send(message({ jid: 'discord:299999999999999999' }));
  await expect(gone).rejects.toThrow('the channel is gone');
  discord.failNext('POST', /messages$/, {
    status: 403,
    body: { code: 50_013, message: 'Missing' },
  });
  await expect(channel.send(message())).rejects.toThrow('the bot lacks a permission');
  const other = channel.send(message({ jid: 'slack:C1' }));
  await expect(other).rejects.toMatchObject({ code: 'JID_INVALID' });
});

test.concurrent('an emoji is put on a message; one that Discord does not take is sent', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const id = discord.say(ADA, GENERAL, 'done?');
  const reactsTo = { id, sender: ADA.id, text: 'done?' };
  await connected.channel.send(message({ text: '✅', reactsTo }));
  await connected.channel.send(message({ id: 'm2', text: 'hmpf', reactsTo }));
  expect(discord.reactions).toEqual([`${id} ✅`]);
  expect(discord.posted).toMatchObject([{ content: 'hmpf', answers: id }]);
});

test.concurrent('files follow the text; one that is too large for the server is named instead', async ({
  onTestFinished,
}) => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const folder = mkdtempSync(join(tmpdir(), 'claw-discord-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'copy');
  const content = Buffer.from([0, 1, 2, 0xff]);
  writeFileSync(path, content);
  const attachments = [{ path, name: 'a "b" c.bin', sizeBytes: content.length }];
  await connected.channel.send(message({ text: 'here', attachments, thread: THREAD }));
  expect(discord.posted.map(({ content: words, channel }) => [words, channel])).toEqual([
    ['here', THREAD],
    ['', THREAD],
  ]);
  expect(discord.posted[1]?.files[0]?.bytes).toEqual(content);
  discord.failNext('POST', /messages$/, {
    status: 413,
    body: { code: 40_005, message: 'Request entity too large' },
  });
  await connected.channel.send(message({ id: 'm2', text: '', attachments }));
  expect(discord.posted.at(-1)?.content).toContain('is not sent: it is larger');
});

test.concurrent('typing is shown where somebody wrote last', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { channel, host } = connected;
  await channel.setTyping(JID, true);
  discord.say(ADA, THREAD, 'hello');
  await discord.until(() => host.messages.length === 1);
  await channel.setTyping(JID, true);
  await channel.setTyping(JID, false);
  expect(discord.typing).toEqual([GENERAL, THREAD]);
});

test.concurrent('a draft is one message that is edited, and becomes the answer; it can be taken away', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { channel } = connected;
  const draft = (text: string, activity: string | null = null) =>
    channel.draft?.({ id: 'd1', jid: JID, text, activity });
  await draft('', 'reading files');
  expect(discord.posted.map(({ content }) => content)).toEqual(['… reading files']);
  await draft('It is');
  await draft('It is');
  expect(discord.posted.map(({ content }) => content)).toEqual(['It is …']);
  expect(discord.calls.filter(({ method }) => method === 'PATCH')).toHaveLength(1);
  await channel.send(message({ id: 'm1', replaces: 'd1', text: 'It is done.' }));
  expect(discord.posted.map(({ content }) => content)).toEqual(['It is done.']);
  await channel.draft?.({ id: 'd2', jid: JID, text: 'And', activity: null });
  await channel.takeBack?.(JID, 'd2');
  expect(discord.posted.map(({ content }) => content)).toEqual(['It is done.']);
  expect(channel.capabilities?.drafts?.everyMs).toBeGreaterThanOrEqual(1_000);
});

test.concurrent('a draft that somebody deletes comes again', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  await connected.channel.draft?.({ id: 'd1', jid: JID, text: 'It is', activity: null });
  discord.deletePosted(0);
  await connected.channel.send(message({ replaces: 'd1', text: 'It is done.' }));
  expect(discord.posted.map(({ content }) => content)).toEqual(['It is done.']);
});
