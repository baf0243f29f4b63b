import { expect, test } from 'vitest';
import { startBotApi } from './bot-api.ts';
import {
  ADA,
  ADA_DIRECT,
  connectChannel,
  createChannel,
  EVE,
  EVE_DIRECT,
  FAMILY,
  HostEnd,
  TOKEN,
} from './fixtures.ts';

test.concurrent('without a token there is no channel', () => {
  expect(createChannel({ TELEGRAM_ALLOW_FROM: '*' }, new HostEnd())).toBeNull();
  expect(createChannel({ TELEGRAM_BOT_TOKEN: '' }, new HostEnd())).toBeNull();
});

test.concurrent.each([{ list: '' }, { list: ' , ' }])(
  'with an empty list "$list" nothing is asked of Telegram and the status names the line to add',
  async ({ list }) => {
    await using api = await startBotApi({ token: TOKEN });
    await using connected = await connectChannel(api, { TELEGRAM_ALLOW_FROM: list });
    expect(connected.channel.status().state).toBe('refused');
    expect(connected.channel.status().detail).toContain('TELEGRAM_ALLOW_FROM=<your user id>');
    expect(connected.host.statuses).toEqual([connected.channel.status()]);
    expect(api.calls).toEqual([]);
  },
);

test.concurrent('an entry that is no user id is named instead of being ignored', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api, { TELEGRAM_ALLOW_FROM: '10011, @ada' });
  expect(connected.channel.status()).toMatchObject({
    state: 'refused',
    detail: expect.stringContaining('"@ada"'),
  });
  expect(api.calls).toEqual([]);
});

test.concurrent('only those on the list get through, alone and in groups; of the rest those who write directly are counted', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api, { TELEGRAM_ALLOW_FROM: '7, 10011' });
  const { host } = connected;
  api.sendText(EVE, EVE_DIRECT, 'let me in');
  api.sendText(EVE, FAMILY, '@andy_bot let me in');
  api.sendText({ ...EVE, is_bot: true, id: 10011 }, FAMILY, 'I am a bot');
  api.sendText(ADA, FAMILY, 'hello');
  await api.until(() => api.pending.length === 0);
  expect(host.messages.map(({ text }) => text)).toEqual(['hello']);
  expect(host.chats).toEqual([{ jid: `telegram:${FAMILY.id}`, name: 'Family', isDirect: false }]);
  expect(host.strangers).toEqual([String(EVE.id)]);
});

test.concurrent('a star lets everybody write', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api, { TELEGRAM_ALLOW_FROM: '*' });
  const { host } = connected;
  api.sendText(EVE, EVE_DIRECT, 'one');
  api.sendText(ADA, ADA_DIRECT, 'two');
  await api.until(() => host.messages.length === 2);
  expect(host.messages.map(({ sender }) => sender)).toEqual(['6666', '10011']);
});

test.concurrent('a stranger who adds the bot to a group does not put it on the list of chats', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  const joined = (from: typeof ADA, chat: typeof FAMILY) => ({
    my_chat_member: {
      chat,
      from,
      date: 1,
      old_chat_member: { status: 'left', user: api.bot },
      new_chat_member: { status: 'member', user: api.bot },
    },
  });
  api.push(joined(EVE, { ...FAMILY, id: -66, title: 'Trap' }));
  api.push(joined(ADA, FAMILY));
  await api.until(() => api.pending.length === 0);
  expect(host.chats.map(({ name }) => name)).toEqual(['Family']);
});

test.concurrent('digits that can be a phone number are a guess, and other phone numbers are refused with what to type', () => {
  const channel = createChannel({ TELEGRAM_BOT_TOKEN: TOKEN }, new HostEnd());
  const read = (typed: string) => {
    const person = channel?.personOf?.(typed) ?? null;
    const kind = person === null ? 'nobody' : person.isGuess === true ? 'guess' : 'person';
    return [typed, kind, channel?.missingIn?.(typed)?.replace(/^.*(?=type)/i, '') ?? null];
  };
  const phone = expect.stringContaining('such as telegram:987654321');
  for (const [typed, kind, advice] of [
    ['10011', 'person', null],
    ['telegram:10011', 'person', null],
    ['telegram:2125550123', 'person', null],
    ['telegram:12345678901', 'person', null],
    // An id of today, and a number of New York without its country.
    ['987654321', 'guess', 'type telegram:987654321.'],
    ['2125550123', 'guess', 'type telegram:2125550123.'],
    ['4915112345678', 'nobody', phone],
    ['+49 151 12345678', 'nobody', phone],
    ['0151 12345678', 'nobody', phone],
    ['(212) 555-0123', 'nobody', phone],
    ['1234', 'nobody', null],
    ['Ada', 'nobody', null],
    ['telegram:-1001234567', 'nobody', null],
  ]) {
    expect(read(String(typed))).toEqual([typed, kind, advice]);
  }
});
