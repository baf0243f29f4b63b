import { expect, test } from 'vitest';
import type { ChatCommand } from '../../../src/channels/channel.ts';
import { type BotApi, startBotApi } from './bot-api.ts';
import {
  ADA,
  ADA_DIRECT,
  createChannel,
  FAMILY,
  HostEnd,
  inMemory,
  stoppedClock,
  TOKEN,
} from './fixtures.ts';

const COMMANDS: readonly ChatCommand[] = [
  { name: 'add-<skill>', help: 'adds a skill', chats: 'main' },
  { name: 'reset', help: 'begins a new conversation', chats: 'main' },
  { name: 'help', help: 'lists the commands', chats: 'all' },
  { name: 'long-name', help: `is ${'very '.repeat(100)}long`, chats: 'groups' },
];

/** A channel of an assistant that has these commands. */
async function connect(api: BotApi, commands: readonly ChatCommand[], owner?: string) {
  const host = new HostEnd();
  const env = {
    TELEGRAM_BOT_TOKEN: TOKEN,
    TELEGRAM_ALLOW_FROM: String(ADA.id),
    TELEGRAM_API_ROOT: api.url,
    ...(owner === undefined ? {} : { TELEGRAM_OWNER: owner }),
  };
  const clock = stoppedClock();
  const channel = createChannel(env, host, clock, inMemory(), undefined, commands);
  if (channel === null) throw new Error('the channel stayed silent');
  await channel.connect(host);
  return { host, clock, [Symbol.asyncDispose]: () => channel.disconnect() };
}

const shownIn = (api: BotApi, scope: object) =>
  api.menus.get(JSON.stringify(scope))?.map((one) => (one as { command: string }).command);
const writes = (api: BotApi) => api.calls.filter(({ method }) => method === 'setMyCommands').length;
const looks = (api: BotApi) => api.calls.filter(({ method }) => method === 'getMyCommands').length;

test('each kind of chat has the menu of what works there, sent when it differs, and a pause is waited out', async () => {
  await using api = await startBotApi({ token: TOKEN });
  api.sendText(ADA, ADA_DIRECT, 'hello');
  const own = { type: 'chat', chat_id: ADA.id };
  api.failNext('setMyCommands', {
    error_code: 429,
    description: 'Too Many Requests: retry after 7',
    parameters: { retry_after: 7 },
  });
  {
    await using connected = await connect(api, COMMANDS, String(ADA.id));
    await api.until(() => api.menus.size === 3);
    expect(connected.clock.pauses).toContain(7_000);
  }
  for (const type of ['all_private_chats', 'all_group_chats']) {
    expect(shownIn(api, { type })).toEqual(['help', 'long_name']);
  }
  expect(shownIn(api, own)).toEqual(['add', 'reset', 'help']);
  const before = writes(api);
  const looked = looks(api);
  {
    await using _same = await connect(api, COMMANDS, String(ADA.id));
    await api.until(() => looks(api) === looked + 3);
  }
  expect(writes(api)).toBe(before);
  // A skill was added, with a command of its own.
  const more = [...COMMANDS, { name: 'dice', help: 'throws dice', chats: 'main' } as const];
  await using _more = await connect(api, more, String(ADA.id));
  await api.until(() => shownIn(api, own)?.includes('dice') === true);
  expect(writes(api)).toBe(before + 1);
});

test('an owner who has not yet written has no menu of their own, and all else works', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connect(api, COMMANDS, '4711');
  await api.until(() => connected.host.log.length > 0);
  expect(connected.host.log[0]?.data).toEqual({ cause: 'Bad Request: chat not found' });
  expect(api.menus.size).toBe(2);
  api.sendText(ADA, ADA_DIRECT, 'hello');
  await api.until(() => connected.host.messages.length === 1);
});

test('what a menu writes is the command as it is typed elsewhere, and other words stay', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connect(api, COMMANDS);
  const { messages } = connected.host;
  const texts = [
    ['/help@andy_bot', '/help'],
    ['/HELP@Andy_Bot me', '/HELP me'],
    ['/start', '/help'],
    ['/help@other_bot', '/help@other_bot'],
    ['/add_telegram', '/add-telegram'],
    ['/long_name@andy_bot now', '/long-name now'],
    ['/some_path is where', '/some_path is where'],
    ['/etc/a_b', '/etc/a_b'],
    ['see /help@andy_bot', 'see /help@andy_bot'],
  ];
  for (const [typed] of texts) api.sendText(ADA, FAMILY, typed ?? '');
  await api.until(() => messages.length === texts.length);
  expect(messages.map(({ text }) => text)).toEqual(texts.map(([, text]) => text));
  expect(messages[0]?.mentionsAssistant).toBe(true);
});
