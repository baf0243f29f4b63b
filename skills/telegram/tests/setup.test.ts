import { expect, test } from 'vitest';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';
import { startBotApi } from './botApi.ts';
import { setup, TOKEN } from './fixtures.ts';

test('a token is tried with Telegram before anything is written', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const answers = ['nonsense', '7:another', TOKEN, 'ada', '', ' 1001, 1002'];
  const env = { TELEGRAM_API_ROOT: api.url };
  const { context, problems, written } = ownerAtKeyboard(answers);
  const outcome = await setup.run(env, context);
  expect(problems).toEqual([
    expect.stringContaining('looks like 123456789'),
    expect.stringContaining('does not know the bot token'),
    expect.stringContaining('Write your user id'),
    expect.stringContaining('Write your user id'),
  ]);
  expect(written).toEqual({ TELEGRAM_BOT_TOKEN: TOKEN, TELEGRAM_ALLOW_FROM: '1001,1002' });
  expect(outcome.summary).toContain('@andy_bot; 1001, 1002 may write');
  expect(JSON.stringify(outcome)).not.toContain(TOKEN);
  expect(setup.currentState(written, '/nowhere/data')).toBe('a token, and 1001, 1002 may write');
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
