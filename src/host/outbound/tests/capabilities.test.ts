import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { ChannelCapabilities } from '../../../channels/channel.ts';
import { type AgentScript, answers, TestProject, textsOf } from '../../../testing/assistant.ts';
import { FAMILY, isIdle, startWithFamily, toolCaller } from '../../../testing/turn/tasks.ts';

const ALL: ChannelCapabilities = {
  attachments: { maxBytes: 1_000 },
  replyTo: true,
  thread: true,
  reactions: true,
  edits: true,
};

/** Two chats whose agents send files: the family's channel can send them, the terminal cannot. */
async function startSending(project: TestProject) {
  const tools = toolCaller();
  const assistant = await startWithFamily(project, tools.agent);
  const { chat } = assistant;
  chat.capabilities = ALL;
  const contents: string[] = [];
  const send = chat.send.bind(chat);
  chat.send = async (message) => {
    await send(message);
    for (const { path } of message.attachments ?? []) contents.push(readFileSync(path, 'utf8'));
  };
  const folder = join(project.dir, 'groups/family');
  mkdirSync(join(folder, 'maps'), { recursive: true });
  writeFileSync(join(folder, 'maps/way.txt'), 'left, then right');
  const family = (...attachments: string[]) =>
    tools.call(assistant, 'family', ['send_message', { text: 'The way', attachments }]);
  const main = (...attachments: string[]) =>
    tools.call(assistant, 'main', ['send_message', { text: 'The way', attachments }]);
  const copies = () => {
    const shelf = join(project.dir, 'data/outgoing');
    return existsSync(shelf) ? readdirSync(shelf) : [];
  };
  return { assistant, tools, folder, family, main, contents, copies };
}

test('a file of the group goes out as it was when it was sent, and its copy is kept', async () => {
  using project = new TestProject();
  const { assistant, folder, family, contents, copies } = await startSending(project);
  const { chat, store } = assistant;
  chat.become({ state: 'connecting', detail: null });
  const called = family('/workspace/group/maps/way.txt', 'maps/../maps/way.txt');
  await vi.waitFor(() => expect(store.turns.counts().unsent).toBe(2));
  expect(copies()).toHaveLength(2);
  writeFileSync(join(folder, 'maps/way.txt'), 'straight on');
  chat.become({ state: 'connected', detail: null });
  expect((await called)[0]).toMatchObject({ ok: true });
  expect(contents).toEqual(['left, then right', 'left, then right']);
  expect(chat.sent[0]).toMatchObject({
    text: 'The way',
    attachments: [
      { name: 'way.txt', sizeBytes: 16 },
      { name: 'way.txt', sizeBytes: 16 },
    ],
  });
  // They are kept to be looked at.
  expect(copies()).toHaveLength(2);
  await assistant.stop();
});

test('a channel that sends no files, or none so large, says where each is and why it is not sent', async () => {
  using project = new TestProject();
  const { assistant, folder, family, main, contents, copies } = await startSending(project);
  writeFileSync(join(folder, 'large.txt'), 'x'.repeat(1_001));
  await family('large.txt', 'maps/way.txt');
  expect(contents).toEqual(['left, then right']);
  expect(textsOf(assistant.chat)[0]).toBe(
    'The way\n\n- File `groups/family/large.txt` (2 kB) is not sent, as this channel sends files up to 1 kB. It is in that place on the assistant’s computer.',
  );
  const own = join(project.dir, 'groups/main');
  writeFileSync(join(own, 'list.md'), '- tea');
  expect(await main('list.md')).toEqual([
    {
      ok: true,
      value: 'Queued for Terminal. Its channel cannot send files: the message says where they are.',
    },
  ]);
  expect(textsOf(assistant.terminal)[0]).toBe(
    'The way\n\n- File `groups/main/list.md` (1 kB) is not sent, as this channel cannot send files. It is in that place on the assistant’s computer.',
  );
  expect(assistant.terminal.sent[0]).not.toHaveProperty('attachments');
  // Whoever looks at the history elsewhere than on the channel finds them.
  expect(copies()).toHaveLength(3);
  await assistant.stop();
});

test('a path that is no file of the group’s own folder is refused in words, and nothing is sent', async () => {
  using project = new TestProject({ 'groups/club/secret.txt': 'of the club' });
  const { assistant, folder, family, copies } = await startSending(project);
  symlinkSync('../club/secret.txt', join(folder, 'link.txt'));
  symlinkSync('../club', join(folder, 'club'));
  writeFileSync(join(folder, 'huge.bin'), '');
  truncateSync(join(folder, 'huge.bin'), 20_000_001);
  const refused = async (path: string) => {
    const [result] = await family('maps/way.txt', path);
    expect(result?.ok).toBe(false);
    return result?.value;
  };
  expect(await refused('link.txt')).toContain('it is a link or below one');
  expect(await refused('club/secret.txt')).toContain('it is a link or below one');
  expect(await refused('../club/secret.txt')).toContain('only files of this chat');
  expect(await refused('/etc/passwd')).toContain('only files of this chat');
  expect(await refused('maps/none.txt')).toContain('there is no such file');
  expect(await refused('maps')).toContain('it is not a file');
  expect(await refused('huge.bin')).toContain('it is larger than 20 MB');
  expect(textsOf(assistant.chat).filter((text) => text !== 'ok')).toEqual([]);
  expect(copies()).toEqual([]);
  await assistant.stop();
});

test('a copy that a crash left is deleted at the next start, and one that waits is not', async () => {
  using project = new TestProject();
  const first = await startSending(project);
  first.assistant.chat.become({ state: 'connecting', detail: null });
  void first.family('maps/way.txt').catch(() => {});
  await vi.waitFor(() => expect(first.copies()).toHaveLength(1));
  await vi.waitFor(() => expect(first.assistant.store.turns.counts().unsent).toBe(2));
  const [copy = ''] = first.copies();
  linkSync(join(project.dir, 'data/outgoing', copy), join(project.dir, 'data/outgoing/left'));
  await first.assistant.stop();
  const second = await project.start({ over: {} });
  await isIdle(second);
  expect(textsOf(second.chat)[0]).toContain('is not sent, as this channel cannot send files');
  expect(readdirSync(join(project.dir, 'data/outgoing'))).toEqual([copy]);
  await second.stop();
});

test('if others have written in a group meanwhile, the answer shows which message it is for', async () => {
  using project = new TestProject();
  const asked = Promise.withResolvers<void>();
  const agent: AgentScript = async ({ prompt }) => {
    if (prompt.includes('slow')) await asked.promise;
    return answers('pong');
  };
  const assistant = await startWithFamily(project, agent);
  const { chat } = assistant;
  chat.capabilities = ALL;
  const say = (text: string, id: string, over = {}) =>
    chat.say(text, { jid: FAMILY, isDirect: false, id, ...over });
  await say('@Andy quick', 'q1', { thread: 't7' });
  await isIdle(assistant);
  expect(chat.sent.at(-1)).not.toHaveProperty('replyTo');
  expect(chat.sent.at(-1)).toMatchObject({ text: 'pong', thread: 't7' });
  await say('@Andy slow', 'q2', { sender: 'bob' });
  await say('nice weather', 'q3');
  asked.resolve();
  await isIdle(assistant);
  expect(chat.sent.at(-1)).toMatchObject({
    text: 'pong',
    replyTo: { id: 'q2', sender: 'bob', text: '@Andy slow' },
  });
  expect(chat.sent.at(-1)).not.toHaveProperty('thread');
  expect(chat.sent.at(-1)).not.toHaveProperty('isAgents');
  chat.capabilities = { ...ALL, speech: true };
  await say('@Andy quick', 'q5');
  await isIdle(assistant);
  expect(chat.sent.at(-1)).toMatchObject({ text: 'pong', isAgents: true });
  // Work on it that costs money is charged to the group of the chat, up to its limit.
  const spent = () => assistant.store.usage.of('family', '2026-11-21').microUsd;
  const before = spent();
  expect(chat.sent.at(-1)?.pay?.({ name: 'voice', microUsd: 5_000_000 })).toBe(true);
  expect(spent() - before).toBe(5_000_000);
  expect(chat.sent.at(-1)?.pay?.({ name: 'voice', microUsd: 1 })).toBe(false);
  expect(spent() - before).toBe(5_000_000);
  // A channel that names no capability gets none of it.
  delete chat.capabilities;
  await say('@Andy quick', 'q4', { thread: 't8' });
  await isIdle(assistant);
  expect(Object.keys(chat.sent.at(-1) ?? {}).sort()).toEqual(['id', 'jid', 'text']);
  await assistant.stop();
});

test('an emoji is put on the message that is answered, and is a message where that cannot be', async () => {
  using project = new TestProject();
  const { assistant, tools } = await startSending(project);
  const { chat } = assistant;
  const react = (text: string, over = {}) =>
    tools.call(assistant, 'family', ['send_message', { text, as_reaction: true, ...over }]);
  expect(await react('👍🏽')).toMatchObject([{ ok: true }]);
  const [reaction] = chat.sent;
  const reactsTo = { id: expect.any(String), sender: 'ada', text: '@Andy do it' };
  expect(reaction).toEqual({ id: reaction?.id, jid: FAMILY, text: '👍🏽', reactsTo });
  expect((await react('well done'))[0]).toMatchObject({ ok: false });
  expect((await react('👍', { attachments: ['maps/way.txt'] }))[0]).toMatchObject({ ok: false });
  const [elsewhere] = await tools.call(assistant, 'main', [
    'send_message',
    { text: '👍', as_reaction: true, group: 'family' },
  ]);
  expect(elsewhere?.value).toContain('There is no message to react to');
  chat.sent.length = 0;
  delete chat.capabilities;
  await react('👍');
  expect(chat.sent.map(({ id: _, ...rest }) => rest)[0]).toEqual({ jid: FAMILY, text: '👍' });
  await assistant.stop();
});

test('how far a command is stays one message where its text can be changed, until something else is said', async () => {
  using project = new TestProject();
  const { assistant } = await startSending(project);
  const { terminal, store, clock } = assistant;
  terminal.capabilities = ALL;
  const say = async (messageId: string, text: string, isProgress = true) => {
    const about = { jid: 'terminal:main', turnId: 't', isProgress };
    store.outbox.add({ messageId, text, ...about }, clock.now());
    terminal.become({ state: 'connected', detail: null });
    await vi.waitFor(() => expect(store.outbox.hasUnsent('terminal:main')).toBe(false));
  };
  await say('a', '… one');
  await say('b', '… two');
  await say('c', '… three');
  await say('d', 'Done.', false);
  await say('e', '… four');
  clock.pass(11 * 60_000);
  await say('f', '… five');
  const shown = terminal.sent
    .filter(({ id }) => /^[a-f]$/.test(id))
    .map(({ text, replaces }) => [text, replaces]);
  expect(shown).toEqual([
    ['… one', undefined],
    ['… one\n… two', 'a'],
    ['… one\n… two\n… three', 'a'],
    ['Done.', undefined],
    ['… four', undefined],
    ['… five', undefined],
  ]);
  await assistant.stop();
});
