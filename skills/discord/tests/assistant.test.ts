import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AgentScript, answers, TestProject } from '../../../src/testing/assistant.ts';
import type { DiscordServer } from './discord-server.ts';
import {
  ADA,
  ADA_DIRECT,
  createChannel,
  EVE,
  GENERAL,
  HostEnd,
  inMemory,
  settingsOf,
  startServer,
  THREAD,
} from './fixtures.ts';

const YES_OR_NO = [
  { word: 'yes', label: 'Yes' },
  { word: 'no', label: 'No' },
];

/** Asks before it does what the message says, where that is “go”. */
const AGENT: AgentScript = async ({ prompt }, { onAsk }) => {
  if (!prompt.endsWith('go')) return answers('pong');
  const reply = await onAsk?.({ text: 'Really?', choices: YES_OR_NO });
  return answers(`so ${reply?.word}`);
};

async function startOn(discord: DiscordServer, project: TestProject, openDatabase = inMemory()) {
  const env = { ...settingsOf(discord), DISCORD_OWNER: ADA.id, DISCORD_ALLOW_FROM: EVE.id };
  const dataDir = join(project.dir, 'data');
  const channel = createChannel(env, new HostEnd(), { openDatabase, dataDir });
  if (channel === null) throw new Error('the channel stayed silent');
  return await project.start({ agent: AGENT, over: { channels: [channel] } });
}

const contents = ({ posted }: DiscordServer) => posted.map(({ content }) => content);

test('the owner commands and is asked in their own chat: a button or a thumb answers', async () => {
  await using discord = await startServer();
  using project = new TestProject();
  const assistant = await startOn(discord, project);
  discord.command(ADA, ADA_DIRECT, 'status');
  await discord.until(() => contents(discord).join().includes('channel discord: connected'));
  discord.say(ADA, ADA_DIRECT, 'go');
  const question = () => discord.posted.find(({ components }) => components.length > 0);
  await discord.until(() => question() !== undefined);
  const asked = question();
  if (asked === undefined) throw new Error('there is no question');
  expect(asked.content).toContain('Really?');
  discord.press(ADA, asked, 'Yes');
  // The button goes apart from the answer, and either may be first.
  await discord.until(() => contents(discord).includes('so yes') && question() === undefined);
  discord.say(ADA, ADA_DIRECT, 'go');
  await discord.until(() => question() !== undefined);
  discord.push('MESSAGE_REACTION_ADD', {
    user_id: ADA.id,
    channel_id: ADA_DIRECT,
    message_id: question()?.id,
    emoji: { id: null, name: '👍' },
  });
  await discord.until(() => contents(discord).filter((words) => words === 'so yes').length === 2);
  await assistant.stop();
});

test('a channel is registered by the owner; the bot answers there to its name, in the thread of the question', async () => {
  await using discord = await startServer();
  using project = new TestProject();
  const assistant = await startOn(discord, project);
  discord.say(EVE, GENERAL, 'hello');
  discord.say(ADA, ADA_DIRECT, '/groups');
  await discord.until(() => contents(discord).join().includes('Acme #general'));
  discord.command(ADA, ADA_DIRECT, 'register', 'Acme #general as acme');
  await discord.until(() => contents(discord).join().includes('is registered'));
  discord.say(EVE, THREAD, `<@${discord.bot.id}> ping`);
  await discord.until(() => contents(discord).includes('pong'));
  expect(discord.posted.find(({ content }) => content === 'pong')?.channel).toBe(THREAD);
  await assistant.stop();
});

test('an assistant that is started again answers what was said meanwhile, once', async () => {
  await using discord = await startServer();
  using project = new TestProject();
  const disk = inMemory();
  const first = await startOn(discord, project, disk);
  discord.say(ADA, ADA_DIRECT, 'ping');
  await discord.until(() => contents(discord).length === 1);
  await first.stop();
  discord.say(ADA, ADA_DIRECT, 'ping again');
  const second = await startOn(discord, project, disk);
  await discord.until(() => contents(discord).length === 2);
  discord.say(ADA, ADA_DIRECT, 'and now');
  await discord.until(() => contents(discord).length === 3);
  expect(contents(discord)).toEqual(['pong', 'pong', 'pong']);
  await second.stop();
});
