import { expect, test } from 'vitest';
import { ADA, ADA_DIRECT, connectChannel, EVE, GENERAL, startServer, THREAD } from './fixtures.ts';

test.concurrent('a direct message arrives with everything that Discord says about it', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { host } = connected;
  const id = discord.say(ADA, ADA_DIRECT, 'hello *there*');
  await discord.until(() => host.messages.length === 1);
  expect(host.messages).toEqual([
    {
      id,
      jid: `discord:${ADA_DIRECT}`,
      chatName: 'Ada',
      isDirect: true,
      sender: ADA.id,
      senderName: 'Ada',
      isOwner: false,
      mentionsAssistant: false,
      text: 'hello *there*',
      sentAt: 1_700_000_000_000,
    },
  ]);
  expect(host.chats).toEqual([{ jid: `discord:${ADA_DIRECT}`, name: 'Ada', isDirect: true }]);
});

test.concurrent('a message in a server names channel and server; in a thread it names the thread as well', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { host } = connected;
  discord.say(ADA, GENERAL, 'one', { member: { nick: 'Countess' } });
  discord.say(ADA, THREAD, 'two');
  await discord.until(() => host.messages.length === 2);
  const jid = `discord:${GENERAL}`;
  const chat = { jid, chatName: 'Acme #general', isDirect: false, mentionsAssistant: false };
  expect(host.messages).toMatchObject([
    { ...chat, senderName: 'Countess' },
    { ...chat, senderName: 'Ada', thread: THREAD },
  ]);
  expect(host.messages[0]).not.toHaveProperty('thread');
  expect(host.chats).toEqual([{ jid, name: 'Acme #general', isDirect: false }]);
});

test.concurrent('a mention, one of the bot’s own role, and an answer to the bot call it; names replace ids', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { host } = connected;
  const { bot } = discord;
  discord.say(ADA, GENERAL, `<@${bot.id}> ask <@${EVE.id}> in <#${GENERAL}> <:hm:1234> <t:0:R>`, {
    mentions: [bot, EVE],
  });
  discord.say(ADA, GENERAL, '<@&810000000000000001> and <@&810000000000000002>', {
    mention_roles: ['810000000000000001', '810000000000000002'],
  });
  const answered = { id: '1', author: bot, content: 'what I said' };
  discord.say(ADA, GENERAL, 'why?', { type: 19, referenced_message: answered });
  const other = { id: '2', author: EVE, content: 'a [cake]\nfor all' };
  discord.say(ADA, GENERAL, 'yes', { type: 19, referenced_message: other });
  await discord.until(() => host.messages.length === 4);
  expect(host.texts).toEqual([
    '@Andy ask @eve in #general :hm: 1970-01-01T00:00:00.000Z',
    '@Andy and @cooks',
    'why?',
    'yes',
  ]);
  expect(host.messages.map(({ mentionsAssistant }) => mentionsAssistant)).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(host.messages.map(({ notes }) => notes)).toEqual([
    undefined,
    undefined,
    ['in answer to Andy: "what I said"'],
    ['in answer to eve: "a cake for all"'],
  ]);
});

test.concurrent('bots, webhooks and what Discord itself tells are left out', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord, { env: { DISCORD_ALLOW_FROM: '*' } });
  const { host } = connected;
  discord.say(discord.bot, GENERAL, 'me, myself');
  discord.say({ ...EVE, bot: true }, GENERAL, 'a robot');
  discord.say(EVE, GENERAL, 'by a webhook', { webhook_id: '1' });
  discord.say(EVE, GENERAL, 'pinned', { type: 6 });
  discord.say({ ...EVE, bot: true }, GENERAL, '', { type: 7 });
  discord.push('MESSAGE_CREATE', { id: 'no number' });
  discord.say(EVE, GENERAL, 'last');
  await discord.until(() => host.messages.length === 1);
  expect(host.texts).toEqual(['last']);
});

test.concurrent('who comes and leaves is told, in a thread by whom, and calls nobody', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { host } = connected;
  discord.say(ADA, GENERAL, '', { type: 7 });
  discord.say(ADA, GENERAL, '', { type: 1, mentions: [EVE] });
  discord.say(ADA, GENERAL, '', { type: 2, mentions: [{ ...EVE, global_name: 'Eve]\n[Andy' }] });
  discord.say(ADA, GENERAL, '', { type: 2, mentions: [ADA] });
  discord.say(EVE, GENERAL, '', { type: 7 });
  discord.say(ADA, GENERAL, 'last');
  await discord.until(() => host.texts.at(-1) === 'last');
  const news = host.messages.slice(0, -1);
  expect(news.map(({ text, notes, isContext }) => [text, notes, isContext])).toEqual([
    ['', ['in this chat: Ada joined'], true],
    ['', ['in this chat: Ada added eve'], true],
    ['', ['in this chat: Ada removed Eve Andy'], true],
    ['', ['in this chat: Ada left'], true],
  ]);
});

test.concurrent('an edit is told as a correction, once the words have changed; a sticker and a poll are named', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { host } = connected;
  const id = discord.say(ADA, GENERAL, 'at five');
  const edited = { id, channel_id: GENERAL, guild_id: discord.guildId, author: ADA };
  discord.push('MESSAGE_UPDATE', { ...edited, content: 'at five', edited_timestamp: null });
  const edited_timestamp = '2023-11-14T22:14:00.000Z';
  discord.push('MESSAGE_UPDATE', { ...edited, content: 'at [six]', edited_timestamp });
  discord.say(ADA, GENERAL, '', { sticker_items: [{ id: '1', name: 'Wave' }] });
  discord.say(ADA, GENERAL, '', { poll: { question: { text: 'Tea?' } } });
  discord.push('MESSAGE_DELETE', { id, channel_id: GENERAL, guild_id: discord.guildId });
  discord.say(ADA, GENERAL, 'last');
  await discord.until(() => host.texts.at(-1) === 'last');
  const told = host.messages.map(({ text, notes = [], isContext = false }) => [
    text,
    ...notes,
    isContext,
  ]);
  expect(told).toEqual([
    ['at five', false],
    ['', 'corrected: an earlier message "at five" now says "at six"', true],
    ['', 'sticker Wave', false],
    ['', 'poll "Tea?": ', false],
    ['', 'deleted: an earlier message "at six"', true],
    ['last', false],
  ]);
});

test.concurrent('reactions to the bot’s messages are told, with who and which, and taken back', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { host, channel } = connected;
  await channel.send({ id: 'm1', jid: `discord:${GENERAL}`, text: 'good?', thread: THREAD });
  const message_id = discord.posted[0]?.id ?? '';
  const reaction = { user_id: ADA.id, channel_id: THREAD, message_id, guild_id: discord.guildId };
  discord.push('MESSAGE_REACTION_ADD', { ...reaction, emoji: { id: null, name: '👍' } });
  discord.push('MESSAGE_REACTION_ADD', { ...reaction, user_id: EVE.id, emoji: { name: '👎' } });
  discord.push('MESSAGE_REACTION_ADD', { ...reaction, message_id: '7', emoji: { name: '👎' } });
  discord.push('MESSAGE_REACTION_ADD', { ...reaction, emoji: { id: '5', name: 'hm' } });
  discord.push('MESSAGE_REACTION_REMOVE', { ...reaction, emoji: { id: null, name: '👍' } });
  await discord.until(() => host.reactions.length === 3);
  const by = { jid: `discord:${GENERAL}`, sender: ADA.id, isOwner: false, messageId: 'm1' };
  expect(host.reactions).toEqual([
    { ...by, emoji: '👍' },
    { ...by, emoji: ':hm:' },
    { ...by, emoji: null },
  ]);
});

test.concurrent('a burst arrives in order, and nothing of it is lost', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { host } = connected;
  const texts = Array.from({ length: 200 }, (_, at) => `message ${at}`);
  for (const text of texts) discord.say(ADA, GENERAL, text);
  await discord.until(() => host.messages.length === texts.length);
  expect(host.texts).toEqual(texts);
});
