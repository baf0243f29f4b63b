import { expect, test } from 'vitest';
import type { SetupContext } from '../../../src/setup/step.ts';
import { APP_TOKEN, BOT_TOKEN, setup, startWorkspace } from './fixtures.ts';

/** An owner at the keyboard: answers are taken in order, each as often as it takes to find one that fits. */
function owner(env: Record<string, string>, answers: readonly string[]) {
  const left = [...answers];
  const problems: string[] = [];
  const written: Record<string, string> = {};
  const context: SetupContext = {
    dataDir: '/nowhere/data',
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
    write: (values) => Object.assign(written, values),
    signal: new AbortController().signal,
  };
  return { env, context, problems, written };
}

test('both tokens are tried with Slack before anything is written', async () => {
  await using slack = await startWorkspace();
  const tokens = ['xapp-swapped', 'xoxb-wrong', BOT_TOKEN, BOT_TOKEN, 'xapp-wrong', APP_TOKEN];
  const { env, context, problems, written } = owner({ SLACK_API_URL: slack.url }, [
    ...tokens,
    'ada',
    'U0ADA',
  ]);
  const outcome = await setup.run(env, context);
  expect(problems).toEqual([
    'A bot token begins with xoxb-.',
    expect.stringMatching(/refuses the bot token/),
    'An app token begins with xapp-.',
    expect.stringMatching(/refuses the app token/),
    expect.stringContaining('holds "ada", which is not a member id'),
  ]);
  expect(written).toEqual({
    SLACK_BOT_TOKEN: BOT_TOKEN,
    SLACK_APP_TOKEN: APP_TOKEN,
    SLACK_ALLOW_FROM: 'U0ADA',
  });
  expect(outcome.summary).toContain('andy in Acme; U0ADA may write');
  expect(slack.connections).toBe(0);
  expect(setup.currentState(written, '/nowhere/data')).toBe('tokens, and U0ADA may write');
});

test('an owner who leaves has nothing written', async () => {
  await using slack = await startWorkspace();
  const { env, context, written } = owner({ SLACK_API_URL: slack.url }, [BOT_TOKEN]);
  await expect(setup.run(env, context)).rejects.toThrow('left');
  expect(written).toEqual({});
});
