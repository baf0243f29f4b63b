import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ADA, ADA_JID, BOB, connect, GROUP, GROUP_JID, inMemory, styledParts } from './fixtures.ts';
import { SignalCli } from './signal-cli.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'claw-signal-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

test('styles are counted in UTF-16 units, also within each other and after what needs two', () => {
  expect(styledParts('🐢 **bold _and slanted_** ~~gone~~ `x<y`')).toEqual([
    {
      text: '🐢 bold and slanted gone x<y',
      styles: ['8:11:ITALIC', '3:16:BOLD', '20:4:STRIKETHROUGH', '25:3:MONOSPACE'],
    },
  ]);
  expect(styledParts('# Head\n\n> said\n\n[page](https://example.org)\ufdd0')).toEqual([
    { text: 'Head\n\n> said\n\npage (https://example.org)', styles: ['0:4:BOLD'] },
  ]);
  const parts = styledParts('ä'.repeat(2_500));
  expect(parts.map(({ text }) => Buffer.byteLength(text) <= 2_000)).toEqual(parts.map(() => true));
});

test('an answer quotes in a group, reacts, and falls back to a message where an emoji is none', async () => {
  await using cli = await new SignalCli().comeUp();
  await using linked = await connect(cli);
  const { channel, host } = linked;
  const at = cli.say(BOB, 'what?', { group: GROUP });
  await cli.until(() => host.messages.length === 1);
  const { id = '', sender = '', text = '' } = host.messages[0] ?? {};
  const replyTo = { id, sender, text };
  await channel.send({ id: 'm1', jid: GROUP_JID, text: 'That.', replyTo });
  expect(cli.posted[0]?.params).toMatchObject({
    account: cli.account,
    groupId: [GROUP],
    quoteTimestamp: at,
    quoteAuthor: BOB.uuid,
    quoteMessage: 'what?',
  });
  await channel.send({ id: 'm2', jid: GROUP_JID, text: '👍', reactsTo: replyTo });
  expect(cli.calls.at(-1)).toMatchObject({
    method: 'sendReaction',
    params: { groupId: [GROUP], emoji: '👍', targetAuthor: BOB.uuid, targetTimestamp: at },
  });
  await channel.send({ id: 'm3', jid: GROUP_JID, text: 'ok', reactsTo: replyTo });
  expect(cli.posted[1]?.message).toBe('ok');
  await channel.setTyping(GROUP_JID, true);
  await channel.setTyping(GROUP_JID, false);
  expect(cli.calls.slice(-2)).toMatchObject([
    { method: 'sendTyping', params: { groupId: [GROUP], stop: false } },
    { method: 'sendTyping', params: { groupId: [GROUP], stop: true } },
  ]);
});

test('a reaction on what the assistant said is told, and that it is gone', async () => {
  await using cli = await new SignalCli().comeUp();
  await using linked = await connect(cli);
  await linked.channel.send({ id: 'm1', jid: ADA_JID, text: 'Done.' });
  const target = { targetAuthorUuid: cli.uuid, targetSentTimestamp: cli.posted[0]?.timestamp };
  cli.say(ADA, null, { reaction: { emoji: '👍', ...target, isRemove: false } });
  cli.say(ADA, null, { reaction: { emoji: '👍', ...target, isRemove: true } });
  cli.say(ADA, null, { reaction: { emoji: '👍', ...target, targetSentTimestamp: 5 } });
  cli.say(ADA, 'thanks');
  await cli.until(() => linked.host.messages.length === 1);
  const by = { jid: ADA_JID, sender: ADA.uuid, isOwner: false, messageId: 'm1' };
  expect(linked.host.reactions).toEqual([
    { ...by, emoji: '👍' },
    { ...by, emoji: null },
  ]);
});

test('progress edits one message, needless parts go, and after nine edits a new one takes its place', async () => {
  await using cli = await new SignalCli().comeUp();
  const disk = inMemory();
  await using linked = await connect(cli, { openDatabase: disk });
  const { channel } = linked;
  await channel.send({ id: 'p', jid: ADA_JID, text: `one\n\n${'x'.repeat(1_999)}` });
  expect(cli.posted).toHaveLength(2);
  await channel.send({ id: 'q0', jid: ADA_JID, text: 'step 0', replaces: 'p' });
  expect(cli.posted.map(({ message, edits }) => [message, edits])).toEqual([['step 0', 1]]);
  for (let step = 1; step <= 9; step += 1) {
    await channel.send({
      id: `q${step}`,
      jid: ADA_JID,
      text: `step ${step}`,
      replaces: `q${step - 1}`,
    });
  }
  expect(cli.posted.map(({ message, edits }) => [message, edits])).toEqual([['step 9', 0]]);
  await channel.disconnect();
  await using again = await connect(cli, { openDatabase: disk });
  await again.channel.send({ id: 'q9', jid: ADA_JID, text: 'step 9', replaces: 'q8' });
  expect(cli.posted.map(({ message, edits }) => [message, edits])).toEqual([['step 9', 0]]);
});

test('files go out by name as data, once also after a restart, and come in by their id', async () => {
  await using cli = await new SignalCli().comeUp();
  const dataDir = folder();
  const disk = inMemory();
  const path = join(dataDir, 'x.png');
  const picture = Buffer.concat([Buffer.from([0x89]), Buffer.from('PNG picture')]);
  writeFileSync(path, picture);
  await using linked = await connect(cli, { dataDir, openDatabase: disk });
  const { channel, host } = linked;
  const file = { path, name: 'my picture; 1.png', sizeBytes: picture.length };
  const message = { id: 'm1', jid: ADA_JID, text: 'Look:', attachments: [file] };
  await channel.send(message);
  const data = `data:image/png;filename=my%20picture%3B%201.png;base64,${picture.toString('base64')}`;
  expect(cli.posted.map(({ message: text, attachments }) => [text, attachments])).toEqual([
    ['Look:', []],
    ['', [data]],
  ]);
  cli.files.set('a.png', picture);
  const attachments = ['a.png', 'gone.ogg'].map((id, at) => ({
    contentType: at === 0 ? 'image/png' : 'audio/ogg',
    filename: at === 0 ? 'a.png' : null,
    id,
    size: picture.length,
  }));
  cli.say(ADA, 'these', { attachments });
  await cli.until(() => host.messages.length === 2);
  expect(
    host.messages.map(({ text, isContext = false, attachments: [one] = [] }) => [
      text,
      isContext,
      one?.kind,
    ]),
  ).toEqual([
    ['', true, 'voice'],
    ['these', false, 'image'],
  ]);
  const [voice, main] = host.messages.map(({ id }) => id);
  const fetched = await channel.fetchAttachment?.(ADA_JID, main ?? '');
  expect(fetched).toMatchObject({ mimeType: 'image/png', name: 'a.png' });
  expect(readFileSync(fetched?.path ?? '')).toEqual(picture);
  expect(cli.calls.at(-1)?.params).toEqual({
    account: cli.account,
    id: 'a.png',
    recipient: ADA.uuid,
  });
  await expect(channel.fetchAttachment?.(ADA_JID, voice ?? '')).rejects.toThrow('does not have it');
  channel.forgetChat?.(ADA_JID);
  await expect(channel.fetchAttachment?.(ADA_JID, main ?? '')).rejects.toThrow(
    'not known any more',
  );
});

const failed = (code: number, results: readonly object[], message = 'Failed to send message') => ({
  code,
  message,
  data: { response: { timestamp: 1, results } },
});

test('why a message was not sent is said in words', async () => {
  await using cli = await new SignalCli().comeUp();
  await using linked = await connect(cli);
  const { channel } = linked;
  const failures = [
    [
      failed(-5, [{ type: 'RATE_LIMIT_FAILURE', token: 'tok-1', retryAfterSeconds: 86_400 }]),
      /captcha.*--challenge tok-1 --captcha/,
    ],
    [
      failed(-4, [{ type: 'IDENTITY_FAILURE' }]),
      /safety number.*signal-cli -a <this account> trust -v/,
    ],
    [failed(-1, [{ type: 'NETWORK_FAILURE' }]), /cannot reach Signal/],
    [failed(-1, [], 'The user +49151 is not registered.'), /not on Signal any more/],
    [{ code: -32602, message: 'Specified account does not exist' }, /npx claw setup signal --link/],
    [
      failed(-1, [], 'User is not in group: abc'),
      /refused the message: User is not in group: abc\.$/,
    ],
    [failed(-3, [], ''), /refused the message/],
  ] as const;
  for (const [at, [failure, words]] of failures.entries()) {
    cli.fail(failure);
    await expect(channel.send({ id: `m${at}`, jid: ADA_JID, text: 'hello' })).rejects.toThrow(
      words,
    );
  }
  expect(cli.posted).toEqual([]);
  await expect(channel.send({ id: 'x', jid: 'signal:nobody', text: 'hello' })).rejects.toThrow(
    'not a chat on Signal',
  );
});
