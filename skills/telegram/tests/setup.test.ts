import { expect, test } from 'vitest';
import { readSettings } from '../../../src/config.ts';
import type { SetupContext } from '../../../src/setup/step.ts';
import { startBotApi } from './botApi.ts';
import { setup, TOKEN } from './fixtures.ts';

/** An owner at the keyboard: answers are taken in order, each as often as it takes to find one that fits. */
function owner(env: Record<string, string>, answers: readonly string[]) {
  const left = [...answers];
  const problems: string[] = [];
  const written: Record<string, string> = {};
  const context: SetupContext = {
    settings: readSettings(env, '/nowhere'),
    args: [],
    isInteractive: true,
    say: () => {},
    async ask({ check }) {
      for (let typed = left.shift(); typed !== undefined; typed = left.shift()) {
        const problem = await check(typed);
        if (problem === null) return typed;
        problems.push(problem);
      }
      throw new Error('the owner has left');
    },
    settingsWith: (values) => readSettings({ ...env, ...values }, '/nowhere'),
    write: (values) => Object.assign(written, values),
    signal: new AbortController().signal,
  };
  return { context, problems, written };
}

test('a token is tried with Telegram before anything is written', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const answers = ['nonsense', '7:another', TOKEN, 'ada', '', ' 1001, 1002'];
  const { context, problems, written } = owner({ TELEGRAM_API_ROOT: api.url }, answers);
  const outcome = await setup.run(context);
  expect(problems).toEqual([
    expect.stringContaining('looks like 123456789'),
    expect.stringContaining('does not know the bot token'),
    expect.stringContaining('holds "ada", which is not a user id'),
    expect.stringContaining('Nobody is allowed to write'),
  ]);
  expect(written).toEqual({ TELEGRAM_BOT_TOKEN: TOKEN, TELEGRAM_ALLOW_FROM: '1001,1002' });
  expect(outcome.summary).toContain('@andy_bot; 1001, 1002 may write');
  expect(JSON.stringify(outcome)).not.toContain(TOKEN);
  expect(setup.standing?.(context.settingsWith(written))).toBe('a token, and 1001, 1002 may write');
});

test('an owner who leaves has nothing written', async () => {
  await using api = await startBotApi({ token: TOKEN });
  const { context, written } = owner({ TELEGRAM_API_ROOT: api.url }, [TOKEN]);
  await expect(setup.run(context)).rejects.toThrow('left');
  expect(written).toEqual({});
  await expect(setup.run({ ...context, args: ['--token'] })).rejects.toThrow('takes no options');
});
