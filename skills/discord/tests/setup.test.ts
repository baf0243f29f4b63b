import { expect, test } from 'vitest';
import { ownerAtKeyboard } from '../../../src/testing/owner/owner-at-keyboard.ts';
import { ADA, setup, startServer, TOKEN } from './fixtures.ts';

test('the token is tried with Discord before anything is written, and the way into a server is told', async () => {
  await using discord = await startServer();
  const typed = ['12345', 'not.the.one', TOKEN, 'ada', ADA.id, 'ada', ADA.id];
  const env = { DISCORD_API_URL: discord.url };
  const { context, problems, said, written } = ownerAtKeyboard(typed);
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
  const env = { DISCORD_API_URL: discord.url };
  const { context, said, written } = ownerAtKeyboard([TOKEN]);
  await expect(setup.run(env, context)).rejects.toThrow('left');
  expect(said[1]).toContain('switch on MESSAGE CONTENT INTENT');
  expect(written).toEqual({});
});
