import { expect, test, vi } from 'vitest';
import { answers, TestProject, textsOf } from '../../testing/assistant.ts';
import { ContributionFolder } from '../../testing/contributions.ts';
import { FAMILY, isIdle, commands as says, startWithFamily } from '../../testing/turn/tasks.ts';
import { discoverCommands, openCommands } from '../contracts/command.ts';
import { inChats } from '../contracts/match-command.ts';

const IMPORTS = `import { z } from 'zod';
import { defineCommand } from 'src/host/contracts/command.ts';\n`;

const MEMBERS = `${IMPORTS}
export const command = defineCommand({
  scope: 'members',
  name: 'weather',
  help: 'what the weather will be',
  settings: z.object({ WEATHER_PLACE: z.string().optional() }),
  needs: ['WEATHER_PLACE'],
  run: async (context, argument) => JSON.stringify({
    keys: Object.keys(context).sort(),
    own: context.own,
    from: context.sender.id,
    isOwner: context.sender.isOwner,
    where: context.group.folder,
    argument,
  }),
});`;

const FORGET = `${IMPORTS}
export const command = defineCommand({
  scope: 'members',
  name: 'forget',
  help: 'begins again here',
  chats: 'groups',
  async run({ beginConversation, group }) {
    beginConversation();
    if (group.folder !== 'family') throw new Error('elsewhere');
    return 'Forgotten.';
  },
});`;

const OWNERS = (name: string, chats: string) => `${IMPORTS}
export const command = defineCommand({
  scope: 'owner',
  name: '${name}',
  help: 'asks',
  ${chats}
  run: async ({ group }) => ({ kind: 'ask', text: 'Sure?', data: group.folder, declined: 'Left.' }),
  confirm: async (context, data) => ({ kind: 'answer', text: 'Done in ' + data + ', ' + Object.keys(context).sort() }),
});`;

async function commandsOf(folder: ContributionFolder, environment: Record<string, string> = {}) {
  return openCommands(await discoverCommands(folder.dir), environment);
}

/** A group beside the main chat, where `say` is somebody's word and `owner` the owner's. */
async function withFamily(project: TestProject, folder: ContributionFolder) {
  const { commands } = await commandsOf(folder, { WEATHER_PLACE: 'Kiel' });
  const agent = async () => answers('talk');
  const assistant = await startWithFamily(project, agent, undefined, { commands });
  const hear = async (text: string, isOwner: boolean): Promise<string> => {
    const before = assistant.chat.sent.length;
    const sender = isOwner ? 'ada' : 'bob';
    await assistant.chat.say(text, { jid: FAMILY, isDirect: false, sender, isOwner });
    await isIdle(assistant);
    return textsOf(assistant.chat).slice(before).join('\n');
  };
  return {
    ...assistant,
    say: (text: string) => hear(text, false),
    owner: (text: string) => hear(text, true),
  };
}

test('everybody in a registered chat gives members’ commands, which hold that chat and nothing else', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({ 'weather.ts': MEMBERS });
  const assistant = await withFamily(project, folder);
  const told = JSON.parse(await assistant.say('/weather on Sunday'));
  expect(told).toEqual({
    keys: [
      'ask',
      'assistantName',
      'beginConversation',
      'costs',
      'group',
      'newId',
      'now',
      'openDatabase',
      'own',
      'say',
      'sender',
      'stopAgent',
      'timeZone',
    ],
    own: { WEATHER_PLACE: 'Kiel' },
    from: 'bob',
    isOwner: false,
    where: 'family',
    argument: 'on Sunday',
  });
  expect(JSON.parse(await says(assistant, '/weather'))).toMatchObject({
    where: 'main',
    isOwner: true,
  });
  await assistant.stop();
});

test('a member who may not call the assistant gives no command, and neither does an unregistered chat', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({ 'weather.ts': MEMBERS });
  const assistant = await withFamily(project, folder);
  assistant.store.senders.limitGroup(FAMILY, ['ada']);
  expect(await assistant.say('/weather')).toBe('');
  expect(await assistant.owner('/weather')).toContain('"isOwner":true');
  await assistant.chat.say('/weather', { jid: 'chat:other', isDirect: false });
  await isIdle(assistant);
  expect(assistant.chat.sent.filter(({ jid }) => jid === 'chat:other')).toEqual([]);
  await assistant.stop();
});

test('a members’ command acts on its chat, and only in the chats that it works in', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({ 'forget.ts': FORGET });
  const assistant = await withFamily(project, folder);
  await assistant.say('@Andy hello');
  const before = assistant.store.sessions.get('family');
  expect(await assistant.say('/forget')).toBe('Forgotten.');
  expect(assistant.store.sessions.get('family')).not.toBe(before);
  expect(await says(assistant, '/forget')).toContain('There is no command `/forget`');
  await assistant.stop();
});

test('the owner’s commands are the owner’s: in main by default, elsewhere where they say so', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({
    'here.ts': OWNERS('here', ''),
    'anywhere.ts': OWNERS('anywhere', "chats: 'all',"),
  });
  const assistant = await withFamily(project, folder);
  for (const text of ['/here', '/anywhere']) {
    expect(await assistant.say(text)).toBe('');
    expect(await assistant.say(`@Andy ${text}`)).toBe('talk');
  }
  expect(await assistant.owner('/here')).toBe('');
  expect(await assistant.owner('/anywhere')).toBe('Sure? Say yes or no.');
  expect(await assistant.say('yes')).toBe('');
  const done = await assistant.owner('yes');
  expect(done).toContain('Done in family');
  expect(await says(assistant, '/here')).toBe('Sure? Say yes or no.');
  expect(await says(assistant, 'yes')).toContain('Done in main');
  await assistant.stop();
});

test('an owner’s command holds what its contract names, and not the host’s own means', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({ 'here.ts': OWNERS('here', '') });
  const assistant = await withFamily(project, folder);
  await says(assistant, '/here');
  const [, keys = ''] = (await says(assistant, 'yes')).split(', ');
  expect(keys.split(',')).toEqual([
    'ask',
    'budgets',
    'callService',
    'cancelCommand',
    'cancelTurns',
    'channels',
    'claw',
    'commands',
    'drawsCodes',
    'engines',
    'git',
    'group',
    'isSet',
    'keep',
    'machines',
    'memory',
    'message',
    'model',
    'models',
    'newId',
    'now',
    'openDatabase',
    'own',
    'pages',
    'peopleOf',
    'progressMs',
    'projectDir',
    'registry',
    'retryFailed',
    'runningCode',
    'sandbox',
    'say',
    'sayProgress',
    'services',
    'settings',
    'settingsProblem',
    'showProgress',
    'signal',
    'silentChannels',
    'silentParts',
    'store',
    'tasks',
    'tools',
    'version',
  ]);
  await assistant.stop();
});

test('a command that fails says so in its chat; one without its settings is not there, and says why', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({
    'forget.ts': FORGET.replace("chats: 'groups',", ''),
    'weather.ts': MEMBERS,
  });
  const { commands, silent } = await commandsOf(folder);
  expect(commands.map(({ name }) => name)).toEqual(['forget']);
  expect(silent).toEqual([{ name: 'weather', needs: ['WEATHER_PLACE'], wrong: [] }]);
  const assistant = await withFamily(project, folder);
  expect(await says(assistant, '/forget')).toBe('`/forget` failed: elsewhere');
  await vi.waitFor(() => expect(assistant.store.turns.counts().running).toBe(0));
  await assistant.stop();
});

test('two files that define one command refuse the start, whatever their scopes', async () => {
  using folder = new ContributionFolder({
    'a.ts': MEMBERS,
    'b.ts': OWNERS('weather', ''),
  });
  await expect(commandsOf(folder)).rejects.toThrow(/a\.ts and .*b\.ts are both called "weather"/);
});

test('channels are told in which chats each command works', async () => {
  using folder = new ContributionFolder({
    'forget.ts': FORGET,
    'weather.ts': MEMBERS,
    'lights.ts': OWNERS('lights', "chats: 'all',"),
  });
  const environment = { WEATHER_PLACE: 'Oslo' };
  const { commands } = openCommands(await discoverCommands(folder.dir), environment);
  expect(commands.map(inChats)).toEqual([
    { name: 'forget', help: 'begins again here', chats: 'groups' },
    { name: 'lights', help: expect.any(String), chats: 'all' },
    { name: 'weather', help: 'what the weather will be', chats: 'all' },
  ]);
});

test('help says which commands are for everybody', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({ 'weather.ts': MEMBERS });
  const [own, members] = [
    await commandsOf(folder, { WEATHER_PLACE: 'Kiel' }),
    openCommands(await discoverCommands(), {}),
  ];
  const commands = [...members.commands, ...own.commands];
  const assistant = await project.start({ over: { commands } });
  const text = await says(assistant, '/help all');
  expect(text).toContain('- `/restart`: ');
  expect(text).toContain('- `/weather` (for everybody in a chat): what the weather will be');
  await assistant.stop();
});
