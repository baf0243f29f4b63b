import { expect, test } from 'vitest';
import type { SetupContext } from '../../../src/setup/step.ts';
import { ADA, setup, startServer, TOKEN } from './fixtures.ts';

/** An owner at the keyboard: answers are taken in order, each as often as it takes to find one that fits. */
function owner(env: Record<string, string>, answers: readonly string[]) {
  const left = [...answers];
  const problems: string[] = [];
  const said: string[] = [];
  const written: Record<string, string> = {};
  const context: SetupContext = {
    dataDir: '/nowhere/data',
    args: [],
    isInteractive: true,
    say: (line) => said.push(line),
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
  return { env, context, problems, said, written };
}

test('the token is tried with Discord before anything is written, and the way into a server is told', async () => {
  await using discord = await startServer();
  const typed = ['12345', 'not.the.one', TOKEN, 'ada', ADA.id, 'ada', ADA.id];
  const { env, context, problems, said, written } = owner({ DISCORD_API_URL: discord.url }, typed);
  const outcome = await setup.run(env, context);
  expect(problems).toEqual([
    expect.stringContaining('A token has three parts'),
    expect.stringMatching(/does not know the bot token/),
    expect.stringContaining('Write your user id'),
    expect.stringContaining('Write a user id'),
  ]);
  expect(said).toEqual([
    'The bot is andy.',
    'This adds it to a server of yours: https://discord.com/oauth2/authorize?' +
      'client_id=900000000000000002&scope=bot+applications.commands&permissions=274878008384',
  ]);
  expect(written).toEqual({
    DISCORD_BOT_TOKEN: TOKEN,
    DISCORD_ALLOW_FROM: ADA.id,
    DISCORD_OWNER: ADA.id,
  });
  expect(outcome.summary).toContain(`andy; ${ADA.id} may write`);
  expect(discord.connections).toBe(0);
  const asked = new Set(discord.calls.map(({ method, path }) => `${method} ${path}`));
  expect([...asked]).toEqual(['GET /users/@me', 'GET /applications/@me']);
  expect(setup.currentState(written, '/nowhere/data')).toBe(`a token, and ${ADA.id} may write`);
});

test('a missing intent is told at once; an owner who leaves has nothing written', async () => {
  await using discord = await startServer();
  discord.readsMessages = false;
  const { env, context, said, written } = owner({ DISCORD_API_URL: discord.url }, [TOKEN]);
  await expect(setup.run(env, context)).rejects.toThrow('left');
  expect(said[1]).toContain('switch on MESSAGE CONTENT INTENT');
  expect(written).toEqual({});
});
