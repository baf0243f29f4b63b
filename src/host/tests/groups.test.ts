import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Person } from '../../channels/channel.ts';
import { answers, type TestAssistant, TestProject, textsOf } from '../../testing/assistant.ts';

const FAMILY = 'chat:family';
const CLUB = 'chat:club';
const inFamily = { jid: FAMILY, isDirect: false, isOwner: false };

/** An assistant that has seen two chats and takes part in neither. */
async function startWithChats(
  project: TestProject,
  parts: Parameters<TestProject['start']>[0] = {},
): Promise<TestAssistant> {
  const assistant = await project.start(parts);
  await assistant.chat.meet(FAMILY, 'Family Chat');
  await assistant.chat.meet(CLUB, 'Club');
  return assistant;
}

/** Says something in the terminal and returns the answer. */
async function ask({ terminal }: TestAssistant, text: string): Promise<string> {
  const before = terminal.sent.length;
  await terminal.say(text);
  await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before));
  return terminal.sent[before]?.text ?? '';
}

test('a chat is registered by name, with a folder that has memory and logs, and answers when called', async () => {
  using project = new TestProject();
  const assistant = await startWithChats(project);
  expect(await ask(assistant, '/register Family Chat')).toBe(
    'Family Chat is registered, with the folder groups/family-chat. Andy answers to @Andy there.',
  );
  const folder = join(project.dir, 'groups/family-chat');
  expect(readdirSync(folder).toSorted()).toEqual(['CLAUDE.md', 'logs']);
  expect(readFileSync(join(folder, 'CLAUDE.md'), 'utf8')).toContain('# Memory of this chat');
  await assistant.chat.say('hello all', inFamily);
  await assistant.chat.say('@Andy hello', inFamily);
  await vi.waitFor(() => expect(textsOf(assistant.chat)).toEqual(['pong']));
  await assistant.stop();
});

test('folder, trigger and always are said with it, in any order, quotes around a name or none', async () => {
  using project = new TestProject();
  const assistant = await startWithChats(project);
  await ask(assistant, '/register "Family Chat" trigger hey you as Home');
  expect(assistant.store.groups.byJid(FAMILY)).toMatchObject({
    folder: 'home',
    needsTrigger: true,
    triggerWord: 'hey you',
  });
  expect(await ask(assistant, '/register Club always')).toContain('answers always there');
  expect(assistant.store.groups.byJid(CLUB)).toMatchObject({ folder: 'club', needsTrigger: false });
  await assistant.stop();
});

test('a name may hold the words of the options', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  await assistant.chat.meet(CLUB, 'Same as always');
  await ask(assistant, '/register same as always as club');
  expect(assistant.store.groups.byJid(CLUB)).toMatchObject({ folder: 'club', needsTrigger: true });
  await assistant.stop();
});

test('numbers mean the same chats until the next list, whatever happens in between', async () => {
  using project = new TestProject();
  const assistant = await startWithChats(project);
  const listed = await ask(assistant, '/groups');
  const [, number] = /(\d)\. Family Chat/.exec(listed) ?? [];
  await ask(assistant, '/register Club');
  await assistant.chat.meet('chat:newer', 'Newer');
  expect(await ask(assistant, `/register ${number}`)).toContain('Family Chat is registered');
  expect(await ask(assistant, '/groups')).toContain(
    '1. Terminal (groups/main, your own chat)\n2. Club (groups/club, answers to @Andy)',
  );
  await assistant.stop();
});

test('a chat whose channel was taken out again is listed as that, and can be left', async () => {
  using project = new TestProject();
  const assistant = await startWithChats(project);
  const { store } = assistant;
  store.chats.see({ jid: 'pager:1', channel: 'pager', name: 'Pager', isDirect: true }, 1);
  const group = { jid: 'pager:1', folder: 'pager', name: 'Pager', isMain: false };
  store.groups.register({ ...group, needsTrigger: false, triggerWord: null }, 1);
  expect(await ask(assistant, '/groups pager')).toContain(
    'Pager (groups/pager, its channel pager is not in the code)',
  );
  store.chats.see({ jid: 'pager:2', channel: 'pager', name: 'Mine', isDirect: true }, 1);
  const own = { jid: 'pager:2', folder: 'main', name: 'Mine', isMain: true };
  store.groups.register({ ...own, needsTrigger: false, triggerWord: null }, 1);
  expect(await ask(assistant, '/groups mine')).toContain(
    'Mine (groups/main, one of your own chats, whose channel pager is not in the code)',
  );
  expect(await ask(assistant, '/unregister pager')).toContain('Pager');
  expect(store.groups.byJid('pager:1')).toBeNull();
  await assistant.stop();
});

test('a chat cannot pass for another one in the list by what it calls itself', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  await assistant.chat.meet(CLUB, 'Club\n3. \u202eBoss (chat:boss)');
  await assistant.chat.meet('chat:fun', ` 👨‍👩‍👧 ${'x'.repeat(200)}`);
  const listed = await ask(assistant, '/groups');
  expect(listed).toContain('. Club 3. Boss (chat:boss) (chat:club)');
  expect(listed).toContain(`. 👨‍👩‍👧 ${'x'.repeat(91)} (chat:fun)`);
  expect(listed.split('\n').filter((line) => /^\d+\./.test(line))).toHaveLength(3);
  await assistant.stop();
});

test('the list follows what a chat is called, and can be searched', async () => {
  using project = new TestProject();
  const assistant = await startWithChats(project);
  await ask(assistant, '/register Club');
  await assistant.chat.meet(CLUB, 'Chess Club');
  const listed = await ask(assistant, '/groups chess');
  expect(listed).toContain('2. Chess Club (groups/club, answers to @Andy)');
  expect(listed).not.toContain('Family');
  expect(await ask(assistant, '/groups fam')).toContain('3. Family Chat (chat:family)');
  await assistant.stop();
});

test('a person who has never written is registered by number; where two channels know it, one is chosen', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  expect(await ask(assistant, '/register +1 234 567 as ada')).toContain(
    'Several chats fit +1 234 567. Which one?',
  );
  expect(await ask(assistant, 'chat:1234567')).toContain('is registered');
  const ada = { folder: 'ada', needsTrigger: false };
  expect(assistant.store.groups.byJid('chat:1234567')).toMatchObject(ada);
  expect(await ask(assistant, '/register +1 234 567')).toContain('registered already');
  expect(await ask(assistant, '/trigger +1 234 567 hey you')).toContain('hey you');
  expect(await ask(assistant, '/unregister +1 234 567')).toContain('chat:1234567');
  expect(assistant.store.groups.byJid('chat:1234567')).toBeNull();
  await assistant.stop();
});

test('a person is registered by any address that their channel knows', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  const people: Readonly<Record<string, Person>> = {
    'ada@example.org': { sender: 'ada@example.org', chat: 'chat:ada@example.org' },
    '@bob:example.org': { sender: '@bob:example.org', chat: null },
    npub1qqs: { sender: 'npub1qqs', chat: 'chat:npub1qqs' },
  };
  assistant.chat.personOf = (typed) => people[typed] ?? null;
  expect(await ask(assistant, '/register ada@example.org as ada')).toContain('is registered');
  expect(assistant.store.groups.byJid('chat:ada@example.org')).toMatchObject({
    folder: 'ada',
    needsTrigger: false,
  });
  expect(await ask(assistant, '/register npub1qqs always')).toContain('is registered');
  // The address of this chat says nothing of its person: it is found once they have written.
  expect(await ask(assistant, '/register @bob:example.org')).toContain('No chat is called');
  const bob = { jid: 'chat:room-7', isDirect: true, sender: '@bob:example.org' };
  assistant.store.chats.see({ ...bob, channel: 'chat', name: 'Bob', person: bob.sender }, 1);
  expect(await ask(assistant, '/register @bob:example.org')).toContain('Bob is registered');
  expect(assistant.store.groups.byJid('chat:room-7')).toMatchObject({ folder: 'bob' });
  await assistant.stop();
});

test('digits that can be a phone number mean a person only if they have written; else the owner is told what to type', async () => {
  using project = new TestProject();
  const assistant = await startWithChats(project);
  const { chat, store } = assistant;
  const guess = { sender: '2125550123', chat: 'chat:2125550123', isGuess: true } as const;
  const missing = 'If it is a user id, type chat:2125550123.';
  Object.assign(chat, {
    isOpen: true,
    allowSetting: 'CHAT_ALLOW_FROM',
    personOf: (typed: string) => (typed === '2125550123' ? guess : null),
    missingIn: (typed: string) => (typed === '2125550123' ? missing : null),
  });
  const said = async (text: string) => await ask(assistant, text);
  await said('/register Club');
  expect(await said('/register 2125550123')).toBe(missing);
  expect(await said('/allow Club 2125550123')).toBe(missing);
  expect(store.senders.ofGroup(CLUB)).toEqual([]);
  expect(await said('/allow chat 2125550123')).toContain(missing);
  chat.isOpen = false;
  expect(await said('/allow chat 2125550123')).toBe(
    `${missing} Who may write on chat is the setting CHAT_ALLOW_FROM in \`.env\`.`,
  );
  const bob = { jid: guess.chat, isDirect: true, person: guess.sender };
  store.chats.see({ ...bob, channel: 'chat', name: 'Bob' }, 1);
  expect(await said('/allow Club 2125550123')).toContain('2125550123');
  expect(store.senders.ofGroup(CLUB)).toEqual(['2125550123']);
  expect(await said('/register 2125550123')).toContain('Bob is registered');
  await assistant.stop();
});

test('if something does not fit, the answer says so, and nothing is registered', async () => {
  using project = new TestProject();
  const assistant = await startWithChats(project);
  await assistant.chat.meet('chat:club-2', 'Club');
  const said = async (text: string) => await ask(assistant, text);
  expect(await said('/register')).toContain('Say `/register 3`');
  expect(await said('/register Nobody as x')).toContain('No chat is called Nobody.');
  expect(await said('/register 99')).toContain('There is no chat with the number 99.');
  expect(await said('/trigger 99 x')).toContain('No registered chat has the number 99.');
  expect(await said('/register Club')).toContain('Several chats fit Club. Which one?');
  expect(await said('no')).toBe('`/register Club` was not run.');
  expect(await said('/register Family Chat loudly')).toContain('“loudly” is not understood');
  for (const name of ['main', 'GLOBAL', 'con', 'LPT1']) {
    expect(await said(`/register Family Chat as ${name}`)).toContain('is reserved');
  }
  expect(await said('/register Family Chat as ../x')).toContain('Try `as x`');
  expect(await said('/register Family Chat as Füchse 2')).toContain('Try `as fuchse-2`');
  expect(await said(`/register Family Chat trigger ${'x'.repeat(65)}`)).toContain('64 characters');
  expect(await said('/trigger Family Chat')).toContain('No registered chat is called Family.');
  expect(assistant.store.groups.all()).toHaveLength(1);
  expect(readdirSync(join(project.dir, 'groups'))).toEqual(['global', 'main']);
  await assistant.stop();
});

test('a second chat cannot take a folder, in any case', async () => {
  using project = new TestProject();
  const assistant = await startWithChats(project);
  await ask(assistant, '/register Family Chat as home');
  expect(await ask(assistant, '/register Club as HOME')).toBe(
    'groups/home belongs to Family Chat. Choose another folder.',
  );
  await assistant.chat.meet('chat:b', 'Home');
  expect(await ask(assistant, '/register Home')).toContain('2. Family Chat (groups/home)');
  await ask(assistant, '1');
  expect(assistant.store.groups.byJid('chat:b')?.folder).toBe('home-2');
  await assistant.stop();
});

test('a folder that was left is for its chat alone, unless the owner gives it away', async () => {
  using project = new TestProject({ 'groups/Old/notes.md': 'private\n' });
  const assistant = await startWithChats(project);
  await ask(assistant, '/register Family Chat as home');
  await ask(assistant, '/unregister home');
  expect(existsSync(join(project.dir, 'groups/home/CLAUDE.md'))).toBe(true);

  expect(await ask(assistant, '/register Club as home')).toContain('of an earlier chat');
  expect(await ask(assistant, 'no')).toContain('Club was not registered.');
  expect(await ask(assistant, '/register Club as old')).toContain('of an earlier chat');
  expect(await ask(assistant, 'no')).toContain('Club was not registered.');

  expect(await ask(assistant, '/register Family Chat')).toContain('the folder groups/home');
  await ask(assistant, '/unregister home');
  assistant.store.sessions.set('home', 'of the family', 1);
  mkdirSync(join(project.dir, 'data/sessions/home/.claude'), { recursive: true });
  await ask(assistant, '/register Club as home');
  expect(await ask(assistant, 'yes')).toContain('Club is registered, with the folder groups/home');
  expect(assistant.store.sessions.get('home')).toBeNull();
  expect(existsSync(join(project.dir, 'data/sessions/home'))).toBe(false);
  await ask(assistant, '/register Family Chat');
  expect(assistant.store.groups.byJid(FAMILY)?.folder).toBe('family-chat');
  await assistant.stop();
});

test('an unregistered chat is heard no more, not even one that had registered itself', async () => {
  using project = new TestProject();
  const assistant = await startWithChats(project);
  const direct = { jid: 'chat:42', isOwner: false, chatName: 'Bob' };
  await assistant.chat.say('hi', direct);
  await vi.waitFor(() => expect(textsOf(assistant.chat)).toEqual(['pong']));
  expect(await ask(assistant, '/unregister Bob')).toContain('Bob is not listened to any more');
  await assistant.chat.say('hello?', direct);
  expect(assistant.store.groups.byJid('chat:42')).toBeNull();
  expect(assistant.store.strangers.counted()).toMatchObject({ senders: 1, messages: 1 });
  expect(await ask(assistant, '/register Bob')).toContain('the folder groups/chat-42');
  await assistant.chat.say('hi again', direct);
  await vi.waitFor(() => expect(textsOf(assistant.chat)).toEqual(['pong', 'pong']));
  await assistant.stop();
});

test('a turn in progress ends with its group, unheard', async () => {
  using project = new TestProject();
  const waiting = Promise.withResolvers<ReturnType<typeof answers>>();
  const assistant = await startWithChats(project, {
    agent: ({ folder }) => (folder === 'main' ? Promise.resolve(answers('x')) : waiting.promise),
  });
  await ask(assistant, '/register Club always');
  await assistant.chat.say('hello', { jid: CLUB, isDirect: false });
  await vi.waitFor(() => expect(assistant.store.turns.counts().running).toBe(1));
  await ask(assistant, '/unregister Club');
  waiting.resolve(answers('too late'));
  await ask(assistant, '/groups');
  expect(assistant.chat.sent).toEqual([]);
  await assistant.stop();
});

test('delete asks, and then nothing of the group is left, and nothing beside it is touched', async () => {
  using project = new TestProject({ 'precious.txt': 'keep me\n', 'groups/other/a.md': 'a\n' });
  const assistant = await startWithChats(project);
  await ask(assistant, '/register Club always');
  await assistant.chat.say('hello', { jid: CLUB, isDirect: false, chatName: 'Club' });
  await vi.waitFor(() => expect(textsOf(assistant.chat)).toEqual(['pong']));
  const folder = join(project.dir, 'groups/club');
  symlinkSync(join(project.dir, 'precious.txt'), join(folder, 'link'));
  symlinkSync(join(project.dir, 'groups/other'), join(folder, 'logs', 'linked'));
  mkdirSync(join(project.dir, 'data/sessions/club/.claude'), { recursive: true });
  writeFileSync(join(project.dir, 'data/sessions/club/.claude/s1.json'), '[]');

  expect(await ask(assistant, '/unregister Club delete')).toContain(
    'This deletes everything of Club',
  );
  expect(await ask(assistant, 'no')).toBe('Nothing of Club was deleted.');
  expect(existsSync(folder)).toBe(true);
  await ask(assistant, '/unregister Club delete');
  expect(await ask(assistant, 'yes')).toBe('Everything of Club is deleted.');
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(join(project.dir, 'data/sessions/club'))).toBe(false);
  expect(readFileSync(join(project.dir, 'precious.txt'), 'utf8')).toBe('keep me\n');
  expect(existsSync(join(project.dir, 'groups/other/a.md'))).toBe(true);
  const { store } = assistant;
  expect(store.messages.countBetween({ jid: CLUB, from: 0, upto: 99 })).toBe(0);
  expect(store.sessions.get('club')).toBeNull();
  expect(await ask(assistant, '/unregister Club delete')).toBe('Nothing is kept of Club.');
  await assistant.stop();
});

test('files that an unregistered chat left behind can be deleted later', async () => {
  using project = new TestProject();
  const assistant = await startWithChats(project);
  await ask(assistant, '/register Family Chat as home');
  await ask(assistant, '/unregister Family Chat');
  await ask(assistant, '/unregister home delete');
  await ask(assistant, 'yes');
  expect(existsSync(join(project.dir, 'groups/home'))).toBe(false);
  await assistant.stop();
});

test('the owner’s own chat can be neither taken out nor deleted', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  for (const text of ['/unregister main', '/unregister Terminal delete', '/unregister 1 delete']) {
    expect(await ask(assistant, text)).toBe('Your own chat cannot be taken out.');
  }
  expect(existsSync(join(project.dir, 'groups/main/CLAUDE.md'))).toBe(true);
  await assistant.stop();
});

test('first memories come from the templates of the project, and what is there is never replaced', async () => {
  using project = new TestProject({
    'groups/global/CLAUDE.md': 'We speak English.\n',
    'container/memory/global.md': 'of all\n',
    'container/memory/main.md': 'of the owner\n',
    'container/memory/group.md': 'of a group\n',
  });
  const assistant = await startWithChats(project);
  await ask(assistant, '/register Club');
  const memory = (folder: string) =>
    readFileSync(join(project.dir, 'groups', folder, 'CLAUDE.md'), 'utf8');
  expect(memory('club')).toBe('of a group\n');
  expect(memory('main')).toBe('of the owner\n');
  expect(memory('global')).toBe('We speak English.\n');
  await assistant.stop();
});

test('a folder is completed, and nothing is written through a link that an agent left there', async () => {
  using project = new TestProject({ 'precious.txt': 'keep me\n' });
  const assistant = await startWithChats(project);
  const folder = join(project.dir, 'groups/club');
  await ask(assistant, '/register Club');
  await ask(assistant, '/unregister Club');
  rmSync(join(folder, 'CLAUDE.md'));
  rmSync(join(folder, 'logs'), { recursive: true });
  symlinkSync(join(project.dir, 'made-by-the-host.txt'), join(folder, 'CLAUDE.md'));
  symlinkSync(join(project.dir, 'precious.txt'), join(folder, 'logs'));
  await ask(assistant, '/register Club');
  expect(existsSync(join(project.dir, 'made-by-the-host.txt'))).toBe(false);
  expect(lstatSync(join(folder, 'logs')).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(project.dir, 'precious.txt'), 'utf8')).toBe('keep me\n');
  await assistant.stop();
});

test('a direct chat that registers itself gets memory and logs as well, also after a crash in between', async () => {
  using project = new TestProject();
  const first = await project.start();
  await first.chat.say('hi', { jid: 'chat:42', isOwner: false });
  await vi.waitFor(() => expect(textsOf(first.chat)).toEqual(['pong']));
  const folder = join(project.dir, 'groups/chat-42');
  expect(readdirSync(folder).toSorted()).toEqual(['CLAUDE.md', 'logs']);
  await first.stop();
  rmSync(folder, { recursive: true });
  const second = await project.start();
  expect(readdirSync(folder).toSorted()).toEqual(['CLAUDE.md', 'logs']);
  await second.stop();
});
