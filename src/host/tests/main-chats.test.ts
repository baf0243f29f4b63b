import { expect, test, vi } from 'vitest';
import type { TurnRequest } from '../../sandbox/sandbox.ts';
import { answers, TestChannel, TestProject, textsOf } from '../../testing/assistant.ts';

const OWN = 'chat:me';
const fromOwner = { jid: OWN, chatName: 'Me', isOwner: true };

test('the owner’s own chat on a channel is main beside the terminal, with the same rights', async () => {
  using project = new TestProject();
  const requests: TurnRequest[] = [];
  const results: unknown[] = [];
  const assistant = await project.start({
    agent: async (request, { onTool }) => {
      requests.push(request);
      const { folder } = request;
      results.push(await onTool({ folder, name: 'send_message', input: { text: 'here' } }));
      return answers('pong');
    },
  });
  const { chat, terminal } = assistant;
  await chat.meet(OWN, 'Me', { isDirect: true, isOwners: true });
  await chat.say('/groups', fromOwner);
  await vi.waitFor(() =>
    expect(textsOf(chat)[0]).toContain(
      '1. Terminal (groups/main, one of your own chats)\n2. Me (groups/main, one of your own chats)',
    ),
  );
  await chat.say('from the phone', fromOwner);
  await vi.waitFor(() => expect(textsOf(chat).slice(1)).toEqual(['here', 'pong']));
  expect(terminal.sent).toEqual([]);
  await terminal.say('from the terminal');
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual(['here', 'pong']));
  expect(requests).toMatchObject([
    { folder: 'main', isMain: true, session: null, prompt: 'from the phone' },
    { folder: 'main', isMain: true, session: 's1', prompt: 'from the terminal' },
  ]);
  expect(results).toMatchObject([{ ok: true }, { ok: true }]);
  await assistant.stop();
});

test('chats of one name are told apart by their channel, in the list and for the agent', async () => {
  using project = new TestProject();
  const results: unknown[] = [];
  const assistant = await project.start({
    agent: async ({ folder }, { onTool }) => {
      results.push((await onTool({ folder, name: 'list_groups', input: {} })).value);
      return answers('done');
    },
  });
  const { store, terminal } = assistant;
  for (const channel of ['telegram', 'signal']) {
    const chat = { jid: `${channel}:1`, channel, name: 'Ada', isDirect: true };
    store.chats.see(chat, 1);
    const own = { jid: chat.jid, folder: 'main', name: 'Ada', isMain: true };
    store.groups.register({ ...own, needsTrigger: false, triggerWord: null }, 1);
  }
  store.chats.see({ jid: 'mail:ada', channel: 'email', name: 'ada', isDirect: true }, 1);
  await terminal.say('/groups');
  await vi.waitFor(() => expect(textsOf(terminal)).toHaveLength(1));
  const [list = ''] = textsOf(terminal);
  expect(list).toContain('. Terminal (groups/main, one of your own chats)');
  expect(list).toContain('. Ada on telegram (groups/main, one of your own chats');
  expect(list).toContain('. Ada on signal (groups/main, one of your own chats');
  expect(list).toContain('. ada on email (mail:ada)');
  await terminal.say('which chats are there?');
  await vi.waitFor(() => expect(results).toHaveLength(1));
  expect(JSON.stringify(results[0])).toMatch(/"Ada on telegram".*"Ada on signal".*"ada on email"/);
  await terminal.say('/budget');
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toContain('- Your own chats: '));
  expect(textsOf(terminal).at(-1)).not.toContain('Ada');
  await assistant.stop();
});

test('the owner’s chats work on one conversation, one after the other', async () => {
  using project = new TestProject();
  const first = Promise.withResolvers<ReturnType<typeof answers>>();
  const sessions: (string | null)[] = [];
  const assistant = await project.start({
    agent: ({ session }) => {
      sessions.push(session);
      return sessions.length === 1 ? first.promise : Promise.resolve(answers('second'));
    },
  });
  const { chat, terminal } = assistant;
  await chat.meet(OWN, 'Me', { isDirect: true, isOwners: true });
  await terminal.say('one');
  await chat.say('two', fromOwner);
  await vi.waitFor(() =>
    expect(assistant.store.turns.counts()).toMatchObject({ queued: 1, running: 1 }),
  );
  first.resolve(answers('first'));
  await vi.waitFor(() => expect(textsOf(chat)).toEqual(['second']));
  expect(sessions).toEqual([null, 's1']);
  await assistant.stop();
});

test('a notice goes to the chat in which the owner wrote last', async () => {
  using project = new TestProject();
  const first = await project.start();
  await first.chat.meet(OWN, 'Me', { isDirect: true, isOwners: true });
  await first.chat.say('hello', fromOwner);
  await vi.waitFor(() => expect(textsOf(first.chat)).toEqual(['pong']));
  await first.stop();
  const second = await project.start({}, 'It ended with code 1.');
  await vi.waitFor(() =>
    expect(textsOf(second.chat)).toEqual(['The new version was taken back: It ended with code 1.']),
  );
  expect(second.terminal.sent).toEqual([]);
  await second.stop();
});

test('without a terminal the owner is told on another channel, wherever they wrote last', async () => {
  using project = new TestProject();
  const first = await project.start();
  await first.chat.meet(OWN, 'Me', { isDirect: true, isOwners: true });
  await first.terminal.say('hello');
  await vi.waitFor(() => expect(textsOf(first.terminal)).toEqual(['pong']));
  await first.stop();
  const chat = new TestChannel('chat');
  const headless = await project.start({ over: { channels: [chat] } }, 'It ended with code 1.');
  await vi.waitFor(() => expect(textsOf(chat)[0]).toContain('The new version was taken back'));
  expect(headless.store.groups.byFolder('main')?.jid).toBe(OWN);
  await headless.stop();
  const third = await project.start();
  expect(third.store.groups.byFolder('main')?.jid).toBe('terminal:main');
  await third.stop();
});

test('a chat that another pairing made the owner’s takes the rights of the one before', async () => {
  using project = new TestProject();
  const requests: TurnRequest[] = [];
  const assistant = await project.start({
    agent: async (request) => {
      requests.push(request);
      return answers('pong');
    },
  });
  const { chat, store } = assistant;
  chat.isOpen = true;
  await chat.meet(OWN, 'Me', { isDirect: true, isOwners: true });
  await chat.meet('chat:new', 'Me', { isDirect: true, isOwners: true });
  await chat.say('/help', { ...fromOwner, isOwner: false, sender: 'somebody' });
  await chat.say('/groups', fromOwner);
  expect(store.groups.mains().map(({ jid }) => jid)).toEqual(['terminal:main', 'chat:new']);
  expect(requests).toEqual([]);
  expect(chat.sent).toEqual([]);
  await assistant.stop();
});
