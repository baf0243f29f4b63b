import { expect, test } from 'vitest';
import { type BotApi, startBotApi } from './bot-api.ts';
import { ADA, connectChannel, EVE, FAMILY, TOKEN } from './fixtures.ts';

/** Somebody has made the bot this in the group, where it was that before. */
function become(api: BotApi, by: typeof ADA, before: string, now: string): void {
  const member = (status: string) => ({ status, user: api.bot });
  api.push({
    my_chat_member: {
      chat: FAMILY,
      from: by,
      date: 1,
      old_chat_member: member(before),
      new_chat_member: member(now),
    },
  });
}

test('in a group that the bot is added to it says what it does not see, once and only there', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  api.sendText(ADA, FAMILY, 'hello');
  await api.until(() => host.messages.length === 1);
  become(api, EVE, 'left', 'member');
  become(api, ADA, 'left', 'administrator');
  become(api, ADA, 'administrator', 'member');
  become(api, ADA, 'left', 'member');
  await api.until(() => api.pending.length === 0);
  expect(api.sent).toMatchObject([{ chatId: FAMILY.id }]);
  expect(api.sent[0]?.text).toContain('mention @andy_bot');
  expect(api.sent[0]?.text).toContain('/setprivacy');
});

test('a group in which that cannot be said is a group all the same', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host, channel } = connected;
  become(api, ADA, 'left', 'member');
  await api.until(() => api.pending.length === 0);
  expect(host.chats.map(({ name }) => name)).toEqual(['Family']);
  expect(host.log.map(({ message }) => message).join()).toContain('was not explained');
  expect(channel.status().state).toBe('connected');
});
