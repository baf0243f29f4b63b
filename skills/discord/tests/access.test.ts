import { expect, test } from 'vitest';
import {
  ADA,
  ADA_DIRECT,
  connectChannel,
  createChannel,
  EVE,
  EVE_DIRECT,
  GENERAL,
  HostEnd,
  startServer,
  TOKEN,
} from './fixtures.ts';

test('without a token there is no channel; an owner that is not an id is refused', () => {
  expect(createChannel({}, new HostEnd())).toBeNull();
  expect(createChannel({ DISCORD_BOT_TOKEN: ' ' }, new HostEnd())).toBeNull();
  const wrong = { DISCORD_BOT_TOKEN: TOKEN, DISCORD_OWNER: '@ada' };
  expect(() => createChannel(wrong, new HostEnd())).toThrow('a user id, which is a number');
});

test('with an empty list nobody gets in: the channel does not start, and says which line to add', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord, { env: { DISCORD_ALLOW_FROM: '' } });
  expect(connected.channel.status()).toEqual({
    state: 'refused',
    detail: expect.stringMatching(/Add DISCORD_ALLOW_FROM=<your user id> to \.env/),
  });
  expect(discord.calls).toEqual([]);
});

test('a name on the list is refused, with how to write it', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord, { env: { DISCORD_ALLOW_FROM: 'ada' } });
  expect(connected.channel.status().detail).toContain('holds "ada", which is not a user id');
});

test('others are dropped everywhere; those who write directly are counted', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { host } = connected;
  discord.say(EVE, EVE_DIRECT, 'let me in');
  discord.say(EVE, GENERAL, `<@${discord.bot.id}> let me in`);
  discord.say(ADA, GENERAL, 'hello');
  await discord.until(() => host.messages.length === 1);
  expect(host.texts).toEqual(['hello']);
  expect(host.strangers).toEqual([EVE.id]);
  expect(host.chats.map(({ jid }) => jid)).toEqual([`discord:${GENERAL}`]);
  expect(JSON.stringify(host.log)).not.toContain('let me in');
});

test('a star lets everybody in, and the owner needs no place on the list', async () => {
  await using discord = await startServer();
  const env = { DISCORD_ALLOW_FROM: '', DISCORD_OWNER: ADA.id };
  await using owned = await connectChannel(discord, { env });
  discord.say(EVE, EVE_DIRECT, 'hello');
  discord.say(ADA, ADA_DIRECT, 'hello');
  await discord.until(() => owned.host.messages.length === 1);
  expect(owned.host.messages[0]).toMatchObject({ sender: ADA.id, isOwner: true });
  expect(owned.host.chats).toMatchObject([{ isOwners: true }]);
  await owned.channel.disconnect();
  await discord.until(() => discord.connections === 0);
  await using open = await connectChannel(discord, { env: { DISCORD_ALLOW_FROM: '*' } });
  await discord.until(() => open.channel.status().state === 'connected');
  discord.say(EVE, EVE_DIRECT, 'hello again');
  await discord.until(() => open.host.texts.includes('hello again'));
});
