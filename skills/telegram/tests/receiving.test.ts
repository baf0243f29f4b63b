import { expect, test } from 'vitest';
import { startBotApi } from './bot-api.ts';
import { ADA, ADA_DIRECT, connectChannel, FAMILY, TOKEN } from './fixtures.ts';

test.concurrent('a direct message arrives with everything that Telegram says about it', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  const id = api.sendText(ADA, ADA_DIRECT, 'hello <there> & "you"', {
    date: 1_764_000_000,
  });
  await api.until(() => host.messages.length === 1);
  const [message] = host.messages;
  expect(message).toEqual({
    id: String(id),
    jid: 'telegram:10011',
    chatName: 'Ada Lovelace',
    isDirect: true,
    sender: '10011',
    senderName: 'Ada Lovelace',
    isOwner: false,
    mentionsAssistant: false,
    text: 'hello <there> & "you"',
    sentAt: 1_764_000_000_000,
  });
});

test.concurrent('a message in a group names the group and its sender', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  api.sendText(ADA, FAMILY, 'hello');
  await api.until(() => host.messages.length === 1);
  expect(host.messages[0]).toMatchObject({
    jid: 'telegram:-1001234',
    chatName: 'Family',
    isDirect: false,
    sender: '10011',
  });
});

test.concurrent.each([
  { text: 'hey @andy_bot, are you there', isMention: true },
  { text: 'hey @Andy_Bot', isMention: true },
  { text: '/start@andy_bot', isMention: true },
  { text: '/start@other_bot', isMention: false },
  { text: 'hey @andy_bottle', isMention: false },
  { text: 'mail me at me@andy_bot', isMention: false },
])('"$text" mentions the assistant: $isMention', async ({ text, isMention }) => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  api.sendText(ADA, FAMILY, text);
  await api.until(() => host.messages.length === 1);
  expect(host.messages[0]?.mentionsAssistant).toBe(isMention);
});

test.concurrent('an answer to a message of the bot and a name without a handle are mentions too', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  const reply_to_message = { message_id: 1, date: 1, chat: FAMILY, from: api.bot, text: 'well?' };
  api.sendText(ADA, FAMILY, 'yes', { reply_to_message });
  const entities = [{ type: 'text_mention', offset: 0, length: 4, user: api.bot }];
  api.sendText(ADA, FAMILY, 'Andy, come here', { entities });
  await api.until(() => host.messages.length === 2);
  expect(host.messages.map(({ mentionsAssistant }) => mentionsAssistant)).toEqual([true, true]);
});

test.concurrent('messages of the bot are none, and edits and what happens in a chat are to be known about', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  api.sendText(api.bot, FAMILY, 'me, myself');
  api.sendContent(ADA, FAMILY, { new_chat_title: 'Family 2' });
  const edited_message = {
    message_id: 1,
    date: 1,
    edit_date: 2,
    chat: FAMILY,
    from: ADA,
    text: 'no',
  };
  api.push({ edited_message });
  const moving = { latitude: 1, longitude: 2, live_period: 60 };
  api.push({ edited_message: { ...edited_message, text: undefined, location: moving } });
  api.sendText(ADA, FAMILY, 'last');
  await api.until(() => host.messages.length === 3);
  expect(host.messages).toMatchObject([
    { isContext: true, text: '', notes: ['in this chat: its title is now "Family 2"'] },
    { isContext: true, text: '', notes: ['corrected: an earlier message now says "no"'] },
    { text: 'last' },
  ]);
});

test.concurrent('an album is one turn, also where its parts come apart and others write meanwhile', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  const photo = [{ file_id: 'p', file_unique_id: 'u', width: 9, height: 9 }];
  const part = (more = {}) =>
    api.sendContent(ADA, FAMILY, { photo, media_group_id: 'album', ...more });
  part({ caption: '@andy_bot compare these' });
  await api.until(() => api.calls.filter(({ method }) => method === 'getUpdates').length > 1);
  part();
  api.sendText(ADA, ADA_DIRECT, 'meanwhile');
  part();
  await api.until(() => host.messages.length === 4 && api.pending.length === 0);
  expect(host.messages.map(({ text, isContext = false }) => ({ text, isContext }))).toEqual([
    { text: '', isContext: true },
    { text: '', isContext: true },
    { text: '@andy_bot compare these', isContext: false },
    { text: 'meanwhile', isContext: false },
  ]);
});

test.concurrent('an album that could not be stored as a whole comes again as a whole', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  const store = host.onMessage;
  let attempts = 0;
  host.onMessage = async (message) => {
    attempts += 1;
    if (attempts === 2) throw new Error('disk full');
    await store(message);
  };
  const photo = [{ file_id: 'p', file_unique_id: 'u', width: 9, height: 9 }];
  for (const caption of ['one', undefined]) {
    const more = caption === undefined ? {} : { caption };
    api.sendContent(ADA, ADA_DIRECT, { photo, media_group_id: 'album', ...more });
  }
  await api.until(() => api.pending.length === 0);
  expect(host.messages.map(({ text }) => text)).toEqual(['', '', 'one']);
});

test.concurrent('a chat is reported when it is first seen and when its name changes', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  api.sendText(ADA, FAMILY, 'one');
  api.sendText(ADA, FAMILY, 'two');
  api.sendText(ADA, { ...FAMILY, title: 'Clan' }, 'three');
  await api.until(() => host.messages.length === 3);
  expect(host.chats.map(({ name }) => name)).toEqual(['Family', 'Clan']);
});

test.concurrent('a message that was not stored is not acknowledged and comes again, in order', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  const attempts: string[] = [];
  const store = host.onMessage;
  host.onMessage = async (message) => {
    attempts.push(message.text);
    if (attempts.length === 1) throw new Error('disk full');
    await store(message);
  };
  api.sendText(ADA, FAMILY, 'one');
  api.sendText(ADA, FAMILY, 'two');
  await api.until(() => attempts.length === 1);
  expect(api.pending).toHaveLength(2);
  await api.until(() => host.messages.length === 2 && api.pending.length === 0);
  expect(attempts).toEqual(['one', 'one', 'two']);
  expect(host.log).toContainEqual({
    message: expect.stringContaining('was not stored'),
    data: expect.objectContaining({ cause: 'disk full' }),
  });
});

test.concurrent('a chat that could not be stored holds its message back', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  const report = host.onChat;
  host.onChat = async () => {
    host.onChat = report;
    throw new Error('disk full');
  };
  api.sendText(ADA, FAMILY, 'one');
  await api.until(() => host.messages.length === 1);
  expect(host.chats).toHaveLength(1);
});

test.concurrent('disconnecting waits for the message in hand and acknowledges it', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const { channel, host } = await connectChannel(api);
  const { promise: stored, resolve: finish } = Promise.withResolvers<void>();
  const store = host.onMessage;
  host.onMessage = async (message) => {
    await stored;
    await store(message);
  };
  api.sendText(ADA, FAMILY, 'one');
  api.sendText(ADA, FAMILY, 'two');
  await api.until(() => host.chats.length === 1);
  const disconnected = channel.disconnect();
  finish();
  await disconnected;
  expect(host.messages.map(({ text }) => text)).toEqual(['one', 'two']);
  expect(api.pending).toHaveLength(0);
  expect(channel.status().state).toBe('stopped');
});

test.concurrent('what is said in a topic of a forum is in its thread; an answer elsewhere is in none', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  api.sendText(ADA, FAMILY, 'in a topic', { is_topic_message: true, message_thread_id: 7 });
  api.sendText(ADA, FAMILY, 'an answer', { message_thread_id: 8 });
  await api.until(() => host.messages.length === 2);
  expect(host.messages.map(({ thread }) => thread)).toEqual(['7', undefined]);
});
