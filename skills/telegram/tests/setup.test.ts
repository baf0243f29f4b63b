import { expect, test } from 'vitest';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';
import { startBotApi } from './bot-api.ts';
import {
  ADA,
  ADA_DIRECT,
  setUpTelegram,
  setup,
  TelegramEnvironment,
  TOKEN,
  tryWebhookAddress,
} from './fixtures.ts';

test('a token is tried with Telegram before anything is written', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const answers = [
    ...['nonsense', '7:another', TOKEN],
    ...['ada', '', '+49 151 2345678', '4915112345678', ' 10011, telegram:1002'],
    ...['@ada', '4915112345678', '10011', ''],
  ];
  const env = { TELEGRAM_API_ROOT: api.url };
  const { context, problems, written } = ownerAtKeyboard(answers);
  const outcome = await setup.run(env, context);
  expect(problems).toEqual([
    expect.stringContaining('looks like 123456789'),
    expect.stringContaining('does not know the bot token'),
    expect.stringContaining('Write your user id'),
    expect.stringContaining('Write your user id'),
    expect.stringContaining('Write your user id'),
    expect.stringContaining('4915112345678 looks like a phone number'),
    expect.stringContaining('Write a user id'),
    expect.stringContaining('4915112345678 looks like a phone number'),
  ]);
  expect(written).toEqual({
    TELEGRAM_BOT_TOKEN: TOKEN,
    TELEGRAM_ALLOW_FROM: '10011,1002',
    TELEGRAM_OWNER: '10011',
  });
  expect(outcome.summary).toContain('@andy_bot; 10011, 1002 may write');
  expect(outcome.summary).toContain('Write to @andy_bot: 10011 commands the assistant there.');
  expect(JSON.stringify(outcome)).not.toContain(TOKEN);
  expect(setup.currentState(written, '/nowhere/data')).toBe('a token, and 10011, 1002 may write');
});

test('the only person who may write is proposed as the owner, nobody of several; a dash takes the owner away', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const env = { TELEGRAM_API_ROOT: api.url };
  const run = async (settings: Record<string, string>, ids: string) => {
    const { context, written } = ownerAtKeyboard([TOKEN, ids, '-', '']);
    const proposed: (string | undefined)[] = [];
    const ask: typeof context.ask = (question) => {
      proposed.push(question.proposed);
      return context.ask(question);
    };
    await setup.run({ ...env, ...settings }, { ...context, ask });
    return { proposed: proposed.at(-2), owner: written['TELEGRAM_OWNER'] };
  };
  expect(await run({}, '10011')).toEqual({ proposed: '10011', owner: undefined });
  expect(await run({}, '10011,1002')).toEqual({ proposed: '-', owner: undefined });
  expect(await run({}, '*')).toEqual({ proposed: '-', owner: undefined });
  expect(await run({ TELEGRAM_OWNER: '7' }, '10011')).toEqual({ proposed: '7', owner: '' });
});

test('each id is told by name where the bot has met its person, and what can be a phone number is said', async () => {
  await using api = await startBotApi({ token: TOKEN });
  api.met.set(ADA.id, { ...ADA_DIRECT });
  const { context, said, written } = ownerAtKeyboard([TOKEN, '10011,2125550123', '-', '']);
  await setup.run({ TELEGRAM_API_ROOT: api.url }, context);
  expect(said.slice(1, -1)).toEqual([
    '10011 is Ada Lovelace.',
    expect.stringContaining('2125550123 has not written to the bot yet. If that is a phone number'),
  ]);
  expect(written['TELEGRAM_ALLOW_FROM']).toBe('10011,2125550123');
});

test('a webhook is offered, its address is tried, and a dash takes it away again', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const address = 'https://door.example.org/telegram/updates';
  const posted: string[] = [];
  const network = {
    lookup: async (name: string) => {
      if (name === 'door.example.org') return ['8.8.8.8', '2606:4700::1111'];
      if (name === 'nas.example.org') return ['8.8.8.8', '192.168.1.7'];
      throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
    },
    post: async (url: string) => {
      posted.push(url);
      if (url !== address) throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
      return 404;
    },
  };
  const run = async (settings: Record<string, string>, ...answers: string[]) => {
    const keyboard = ownerAtKeyboard([TOKEN, '10011', '-', ...answers]);
    const environment = { TELEGRAM_API_ROOT: api.url, ...settings };
    const values = TelegramEnvironment.parse(environment);
    const outcome = await setUpTelegram(
      { ...keyboard.context, settings: values, settingsWith: () => values },
      (typed) => tryWebhookAddress(typed, network),
    );
    return { ...keyboard, outcome, webhook: keyboard.written['TELEGRAM_WEBHOOK_URL'] };
  };
  const none = await run({}, '');
  expect(none).toMatchObject({ webhook: undefined, problems: [] });
  expect(none.said.at(-1)).toContain('is right for most');
  const set = await run(
    {},
    ...[
      'yes',
      'http://door.example.org/',
      'https://door.example.org:8080/',
      'https://a:b@door.example.org/',
    ],
    ...[
      'https://127.0.0.1/x',
      'https://[fe80::1]/x',
      'https://nas.example.org/x',
      'https://dor.example.org/',
    ],
    address,
  );
  expect(set.problems).toEqual([
    expect.stringContaining('Type an address, such as https://'),
    expect.stringContaining('https addresses alone'),
    expect.stringContaining('the ports 443, 80, 88 and 8443 alone'),
    expect.stringContaining('Leave name and password out'),
    expect.stringContaining('127.0.0.1, which is inside your network'),
    expect.stringContaining('fe80::1, which is inside your network'),
    expect.stringContaining('nas.example.org leads to 192.168.1.7'),
    expect.stringContaining('The name dor.example.org has no address'),
  ]);
  expect(set.webhook).toBe(address);
  expect(posted).toEqual([address]);
  expect(set.said.at(-1)).toMatch(/^door\.example\.org answers\./);
  expect(set.outcome.summary).toContain(`Telegram delivers to ${address} after the restart.`);
  // A router need not lead its own network to its public address.
  const silent = await run({}, 'https://door.example.org:88/telegram/updates');
  expect(silent.said.at(-1)).toContain('cannot be reached from this machine (ECONNREFUSED');
  expect(silent.webhook).toContain(':88/');
  // An empty line keeps what is set.
  expect((await run({ TELEGRAM_WEBHOOK_URL: address }, '')).webhook).toBe(address);
  expect((await run({ TELEGRAM_WEBHOOK_URL: address }, '-')).webhook).toBe('');
});

test('an owner who leaves has nothing written', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const env = { TELEGRAM_API_ROOT: api.url };
  const { context, written } = ownerAtKeyboard([TOKEN]);
  await expect(setup.run(env, context)).rejects.toThrow('left');
  expect(written).toEqual({});
  await expect(setup.run(env, { ...context, args: ['--token'] })).rejects.toThrow(
    'takes no options',
  );
});
