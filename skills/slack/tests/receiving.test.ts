import { expect, test } from 'vitest';
import { ADA, ADA_DIRECT, connectChannel, EVE, GENERAL, startWorkspace } from './fixtures.ts';

test.concurrent('a direct message arrives with everything that Slack says about it', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { host } = connected;
  const ts = slack.sendText(ADA, ADA_DIRECT, 'hello &lt;there&gt; &amp; "you"');
  await slack.until(() => host.messages.length === 1);
  expect(host.messages).toEqual([
    {
      id: ts,
      jid: 'slack:D0ADA',
      chatName: 'Ada Lovelace',
      isDirect: true,
      sender: ADA,
      senderName: 'Ada Lovelace',
      isOwner: false,
      mentionsAssistant: false,
      text: 'hello <there> & "you"',
      sentAt: Number(ts.slice(0, 10)) * 1_000,
    },
  ]);
  await slack.until(() => slack.pending.length === 0);
  expect(slack.strays).toEqual([]);
});

test.concurrent('a message in a channel names the channel, and names are asked for once', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { host } = connected;
  slack.sendText(ADA, GENERAL, 'one');
  slack.sendText(ADA, GENERAL, 'two');
  await slack.until(() => host.messages.length === 2);
  expect(host.messages[1]).toMatchObject({
    jid: 'slack:C0GENERAL',
    chatName: 'general',
    isDirect: false,
    senderName: 'Ada Lovelace',
    mentionsAssistant: false,
  });
  const lookUps = slack.calls.filter(({ method }) => method.endsWith('.info'));
  expect(lookUps.map(({ method }) => method).sort()).toEqual(['conversations.info', 'users.info']);
});

test.concurrent('a mention comes twice from Slack and once to the host, with names instead of ids', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { host } = connected;
  slack.sendText(
    ADA,
    GENERAL,
    `<@${slack.botUserId}> ask <@${EVE}> in <#${GENERAL}> or <#C9|random> about ` +
      '<https://example.org/a?b&amp;c|this page>, <https://example.org>, <mailto:a@b.org|a@b.org>, <!here>',
  );
  slack.sendText(ADA, GENERAL, 'next');
  await slack.until(() => slack.pending.length === 0);
  expect(host.messages.map(({ text }) => text)).toEqual([
    '@Andy ask @Eve in #general or #random about [this page](https://example.org/a?b&c), ' +
      'https://example.org, a@b.org, @here',
    'next',
  ]);
  expect(host.messages.map(({ mentionsAssistant }) => mentionsAssistant)).toEqual([true, false]);
});

test.concurrent('a mention in a thread and files arrive as messages of the channel', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { host } = connected;
  slack.sendText(ADA, GENERAL, 'in a thread', { thread_ts: '1699999999.000100' });
  const files = [{ id: 'F1', mimetype: 'image/png' }];
  slack.sendText(ADA, GENERAL, 'look', { subtype: 'file_share', files });
  slack.sendText(ADA, GENERAL, '', { subtype: 'file_share', files });
  await slack.until(() => host.messages.length === 3);
  expect(host.messages.map(({ thread }) => thread)).toEqual([
    '1699999999.000100',
    undefined,
    undefined,
  ]);
  expect(host.messages.map(({ jid, text }) => `${jid} ${text}`)).toEqual([
    'slack:C0GENERAL in a thread',
    'slack:C0GENERAL look',
    'slack:C0GENERAL ',
  ]);
});

test.concurrent('changes that cannot be read and what the app said itself are acknowledged and dropped', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack, { SLACK_ALLOW_FROM: '*' });
  const { host } = connected;
  slack.sendText(slack.botUserId, GENERAL, 'me, myself', { bot_id: 'B1' });
  slack.sendText(slack.botUserId, GENERAL, 'me, myself');
  slack.push({ type: 'message', subtype: 'message_changed', channel: GENERAL, message: {} });
  slack.push({ type: 'message', subtype: 'message_deleted', channel: GENERAL });
  slack.push({ type: 'message', subtype: 'channel_join', channel: GENERAL, user: ADA, ts: '1.1' });
  slack.push({ type: 'reaction_added', user: ADA });
  slack.sendText(ADA, GENERAL, 'last');
  await slack.until(() => slack.pending.length === 0);
  expect(host.messages.map(({ text }) => text)).toEqual(['last']);
});

test.concurrent('a message whose names cannot be had arrives without them', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { host } = connected;
  slack.failNext('users.info', { body: { ok: false, error: 'missing_scope' } });
  slack.failNext('conversations.info', { status: 500, body: {} });
  slack.failNext('conversations.info', { cutLine: true });
  slack.sendText(ADA, GENERAL, 'one');
  slack.sendText(ADA, GENERAL, 'two');
  await slack.until(() => host.messages.length === 2);
  expect(host.messages[0]).toMatchObject({ chatName: null, senderName: null, text: 'one' });
  expect(host.messages[1]).toMatchObject({ chatName: 'general', senderName: 'Ada Lovelace' });
});

test.concurrent('a message that was not stored is not acknowledged and comes again', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { host } = connected;
  let attempts = 0;
  const store = host.onMessage;
  host.onMessage = async (message) => {
    attempts += 1;
    if (attempts === 1) throw new Error('disk full');
    await store(message);
  };
  slack.sendText(ADA, GENERAL, 'one');
  await slack.until(() => host.log.length === 1);
  expect(slack.pending).toHaveLength(1);
  slack.repeat();
  await slack.until(() => slack.pending.length === 0);
  expect(host.messages.map(({ text }) => text)).toEqual(['one']);
  expect(attempts).toBe(2);
  expect(host.log).toContainEqual({
    message: expect.stringContaining('was not stored'),
    data: { cause: 'disk full' },
  });
});

test.concurrent('while a message is being stored it is not acknowledged, and its repetition is not another', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { host } = connected;
  const { promise: stored, resolve: finish } = Promise.withResolvers<void>();
  const store = host.onMessage;
  host.onMessage = async (message) => {
    await stored;
    await store(message);
  };
  slack.sendText(ADA, GENERAL, 'one');
  await slack.until(() => host.chats.length === 1);
  slack.repeat();
  slack.push({ type: 'reaction_added', user: ADA });
  // What came after the repetition is acknowledged, so the app has seen the repetition as well.
  await slack.until(() => slack.pending.length === 1);
  expect(slack.pending).toMatchObject([{ attempts: 2 }]);
  finish();
  await slack.until(() => slack.pending.length === 0);
  expect(host.messages).toHaveLength(1);
});

test.concurrent('a late acknowledgement counts, whether the event went out again before it or after', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { host } = connected;
  const { promise: stored, resolve: finish } = Promise.withResolvers<void>();
  host.onMessage = () => stored;
  slack.sendText(ADA, GENERAL, 'one');
  await slack.until(() => host.chats.length === 1);
  slack.repeat();
  finish();
  await slack.until(() => slack.pending.length === 0);
  // The repetition is acknowledged as well, before what comes after it.
  slack.push({ type: 'reaction_added', user: ADA });
  await slack.until(() => slack.pending.length === 0);
  expect(slack.strays).toEqual([]);
});

test.concurrent('a chat that could not be stored holds its message back', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { host } = connected;
  const report = host.onChat;
  host.onChat = async () => {
    host.onChat = report;
    throw new Error('disk full');
  };
  slack.sendText(ADA, GENERAL, 'one');
  await slack.until(() => host.log.length === 1);
  slack.repeat();
  await slack.until(() => host.messages.length === 1);
  expect(host.chats).toHaveLength(1);
});

test.concurrent('disconnecting waits for the message in hand and acknowledges it', async () => {
  await using slack = await startWorkspace();
  const { channel, host } = await connectChannel(slack);
  const { promise: stored, resolve: finish } = Promise.withResolvers<void>();
  const store = host.onMessage;
  host.onMessage = async (message) => {
    await stored;
    await store(message);
  };
  slack.sendText(ADA, GENERAL, 'one');
  await slack.until(() => host.chats.length === 1);
  const disconnected = channel.disconnect();
  finish();
  await disconnected;
  expect(host.messages).toHaveLength(1);
  await slack.until(() => slack.pending.length === 0 && slack.connections === 0);
  expect(channel.status().state).toBe('stopped');
});
