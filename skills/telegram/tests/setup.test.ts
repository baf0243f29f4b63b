import { expect, test } from 'vitest';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';
import { startBotApi } from './botApi.ts';
import { setup, TOKEN } from './fixtures.ts';

test('a token is tried with Telegram before anything is written', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const answers = ['nonsense', '7:another', TOKEN, 'ada', '', ' 10011, 1002', '@ada', '10011'];
  const env = { TELEGRAM_API_ROOT: api.url };
  const { context, problems, written } = ownerAtKeyboard(answers);
  const outcome = await setup.run(env, context);
  expect(problems).toEqual([
    expect.stringContaining('looks like 123456789'),
    expect.stringContaining('does not know the bot token'),
    expect.stringContaining('Write your user id'),
    expect.stringContaining('Write your user id'),
    expect.stringContaining('Write a user id'),
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
    const { context, written } = ownerAtKeyboard([TOKEN, ids, '-']);
    const proposed: (string | undefined)[] = [];
    const ask: typeof context.ask = (question) => {
      proposed.push(question.proposed);
      return context.ask(question);
    };
    await setup.run({ ...env, ...settings }, { ...context, ask });
    return { proposed: proposed.at(-1), owner: written['TELEGRAM_OWNER'] };
  };
  expect(await run({}, '10011')).toEqual({ proposed: '10011', owner: undefined });
  expect(await run({}, '10011,1002')).toEqual({ proposed: '-', owner: undefined });
  expect(await run({}, '*')).toEqual({ proposed: '-', owner: undefined });
  expect(await run({ TELEGRAM_OWNER: '7' }, '10011')).toEqual({ proposed: '7', owner: '' });
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
