import { expect, test } from 'vitest';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';
import { APP_TOKEN, BOT_TOKEN, setup, startWorkspace } from './fixtures.ts';

test('both tokens are tried with Slack before anything is written', async () => {
  await using slack = await startWorkspace();
  const tokens = ['xapp-swapped', 'xoxb-wrong', BOT_TOKEN, BOT_TOKEN, 'xapp-wrong', APP_TOKEN];
  const env = { SLACK_API_URL: slack.url };
  const { context, problems, written } = ownerAtKeyboard([...tokens, 'ada', 'U0ADA']);
  const outcome = await setup.run(env, context);
  expect(problems).toEqual([
    'A bot token begins with xoxb-.',
    expect.stringMatching(/refuses the bot token/),
    'An app token begins with xapp-.',
    expect.stringMatching(/refuses the app token/),
    expect.stringContaining('Write your member id'),
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
  const env = { SLACK_API_URL: slack.url };
  const { context, written } = ownerAtKeyboard([BOT_TOKEN]);
  await expect(setup.run(env, context)).rejects.toThrow('left');
  expect(written).toEqual({});
});
