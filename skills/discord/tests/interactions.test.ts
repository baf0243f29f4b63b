import { expect, test } from 'vitest';
import type { ChatCommand, OutboundMessage } from '../../../src/channels/channel.ts';
import type { DiscordServer } from './discord-server.ts';
import {
  ADA,
  ADA_DIRECT,
  connectChannel,
  EVE,
  EVE_DIRECT,
  GENERAL,
  inMemory,
  startServer,
  stoppedClock,
} from './fixtures.ts';

const JID = `discord:${GENERAL}`;
const DIRECT_JID = `discord:${ADA_DIRECT}`;
const COMMANDS: readonly ChatCommand[] = [
  { name: 'add-<skill>', help: 'adds a skill', chats: 'main' },
  { name: 'role', help: 'x'.repeat(200), chats: 'all' },
  { name: 'good', help: 'that was good', chats: 'groups' },
];
const QUESTION: OutboundMessage = {
  id: 'm1',
  jid: JID,
  text: 'Really?',
  choices: {
    question: 'q:7',
    text: 'Really?',
    options: ['Yes', 'No', 'Later', 'Ask', 'Why', 'Never'].map((label) => ({
      word: label.toLowerCase(),
      label,
    })),
  },
};

test.concurrent('the host’s commands are registered, the owner’s for direct chats where there is an owner', async () => {
  await using discord = await startServer();
  const openDatabase = inMemory();
  const puts = () => discord.calls.filter(({ method }) => method === 'PUT').length;
  const given = { commands: COMMANDS, openDatabase, clock: stoppedClock() };
  const first = await connectChannel(discord, given);
  await discord.until(() => puts() === 1);
  expect(discord.commands.map(({ name, contexts }) => [name, contexts])).toEqual([
    ['role', [0, 1]],
    ['good', [0, 1]],
  ]);
  expect(String(discord.commands[0]?.['description'])).toHaveLength(100);
  await first.channel.disconnect();
  discord.endSession();
  const env = { DISCORD_OWNER: ADA.id };
  await using second = await connectChannel(discord, { ...given, env });
  await discord.until(() => puts() === 2);
  expect(discord.commands[0]).toMatchObject({ name: 'add', contexts: [1] });
  await second.channel.disconnect();
  discord.endSession();
  await using third = await connectChannel(discord, { ...given, env });
  await discord.until(() => third.channel.status().state === 'connected');
  discord.say(ADA, ADA_DIRECT, 'hello');
  await discord.until(() => third.host.messages.length === 1);
  expect(puts()).toBe(2);
});

test.concurrent('a slash command is acknowledged at once, arrives as it is typed, and its answer takes the place kept for it', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord, { env: { DISCORD_OWNER: ADA.id } });
  const { host, channel } = connected;
  const stored = Promise.withResolvers<void>();
  const store = host.onMessage;
  host.onMessage = (message) => stored.promise.then(() => store(message));
  discord.say(ADA, ADA_DIRECT, 'before');
  const id = discord.command(ADA, ADA_DIRECT, 'add', 'telegram');
  // While the message before it is still being stored.
  await discord.until(() => discord.acknowledged.get(id) === 5);
  expect(host.messages).toEqual([]);
  stored.resolve();
  await discord.until(() => host.messages.length === 2);
  expect(host.messages[1]).toMatchObject({
    id,
    jid: DIRECT_JID,
    text: '/add telegram',
    sender: ADA.id,
    isOwner: true,
    isDirect: true,
    mentionsAssistant: true,
  });
  expect(host.chats).toMatchObject([{ jid: DIRECT_JID, isOwners: true }]);
  const answer = { id: 'm1', jid: DIRECT_JID, answersTo: [id] };
  await channel.draft?.({ ...answer, text: 'Adding', activity: null });
  await channel.send({ ...answer, text: `Added. ${'x '.repeat(1_500)}` });
  expect(discord.posted).toHaveLength(2);
  expect(discord.posted[0]?.content).toMatch(/^Added\./);
  const posts = discord.calls.filter(
    ({ method, path }) => method === 'POST' && path === `/channels/${ADA_DIRECT}/messages`,
  );
  expect(posts).toHaveLength(1);
});

test.concurrent('a command without an answer leaves no sign that the bot thinks; one that is too old gets a message', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { host, channel } = connected;
  const silent = discord.command(ADA, GENERAL, 'good');
  await discord.until(() => host.messages.length === 1);
  const another = discord.command(ADA, GENERAL, 'good');
  await discord.until(() => host.messages.length === 2);
  channel.answered?.(JID, [silent, another]);
  const ended = ({ calls }: DiscordServer) => calls.filter(({ method }) => method === 'DELETE');
  await discord.until(() => ended(discord).length === 2);
  const late = discord.command(ADA, GENERAL, 'role');
  await discord.until(() => host.messages.length === 3);
  const unknown = { status: 404, body: { code: 10_015, message: 'Unknown Webhook' } };
  discord.failNext('PATCH', /@original$/, unknown);
  await channel.send({ id: 'm1', jid: JID, text: 'Here.', answersTo: [late] });
  expect(discord.posted).toMatchObject([{ channel: GENERAL, content: 'Here.' }]);
});

test.concurrent('a command that comes again after a crash, acknowledged before, is answered in its place', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { host, channel } = connected;
  const store = host.onMessage;
  let attempts = 0;
  host.onMessage = async (message) => {
    attempts += 1;
    if (attempts === 1) throw new Error('disk full');
    await store(message);
  };
  const id = discord.command(ADA, GENERAL, 'role', 'cook');
  await discord.until(() => host.messages.length === 1);
  await channel.send({ id: 'm1', jid: JID, text: 'Here.', answersTo: [id] });
  expect(host.texts).toEqual(['/role cook']);
  expect(discord.posted).toHaveLength(1);
  expect(discord.calls.filter(({ path }) => path.endsWith('@original'))).toHaveLength(1);
});

test.concurrent('a stranger’s command and press are not acknowledged; a direct one is counted', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { host, channel } = connected;
  await channel.send(QUESTION);
  const [question] = discord.posted;
  if (question === undefined) throw new Error('there is no question');
  discord.command(EVE, GENERAL, 'role');
  discord.command(EVE, EVE_DIRECT, 'role');
  discord.press(EVE, question, 'Yes');
  discord.say(ADA, GENERAL, 'last');
  await discord.until(() => host.messages.length === 1);
  expect(host.strangers).toEqual([EVE.id]);
  expect(host.choices).toEqual([]);
  expect(discord.acknowledged.size).toBe(0);
});

test.concurrent('choices are buttons; a press is told, and the buttons go', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord, { env: { DISCORD_OWNER: ADA.id } });
  const { host, channel } = connected;
  await channel.send(QUESTION);
  const [question] = discord.posted;
  if (question === undefined) throw new Error('there is no question');
  expect(question.components.map(({ components }) => components.length)).toEqual([5, 1]);
  const id = discord.press(ADA, question, 'Never');
  await discord.until(() => question.components.length === 0);
  expect(host.choices).toEqual([
    { jid: JID, sender: ADA.id, isOwner: true, question: 'q:7', word: '6' },
  ]);
  expect(discord.acknowledged.get(id)).toBe(6);
  expect(question.content).toBe('Really?');
});

test.concurrent('a press on another person’s question keeps the buttons, and only the one who pressed is told', async () => {
  await using discord = await startServer();
  await using connected = await connectChannel(discord);
  const { host, channel } = connected;
  await channel.send(QUESTION);
  const [question] = discord.posted;
  if (question === undefined) throw new Error('there is no question');
  host.outcome = 'not-asked';
  discord.press(ADA, question, 'Yes');
  await discord.until(() => discord.whispered.length === 1);
  expect(discord.whispered).toEqual(['This question is for another person.']);
  expect(question.components).toHaveLength(2);
  host.outcome = 'closed';
  discord.press(ADA, question, 'Yes');
  await discord.until(() => discord.whispered.length === 2 && question.components.length === 0);
});
