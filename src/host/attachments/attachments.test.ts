import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Attachment } from '../../channels/channel.ts';
import type { HostToolResult } from '../../sandbox/sandbox.ts';
import {
  type AgentScript,
  answers,
  type TestAssistant,
  TestProject,
  textsOf,
} from '../../testing/assistant.ts';
import { pruneMedia } from './media-shelf.ts';

const FAMILY = { jid: 'chat:family', isDirect: false, isOwner: false, chatName: 'Family' };
const CLUB = { ...FAMILY, jid: 'chat:club', chatName: 'Club' };
const PHOTO: Attachment = {
  kind: 'image',
  mimeType: 'image/jpeg',
  sizeBytes: 120_000,
  name: 'photo"] x.jpg',
};
const NAME = `${'ab'.repeat(32)}.png`;

/** An assistant in two groups, whose agent asks for the file that it is told to. */
async function startFetching(project: TestProject) {
  const results: HostToolResult[] = [];
  const prompts: string[] = [];
  const agent: AgentScript = async ({ folder, prompt }, { onTool }) => {
    prompts.push(prompt);
    const wanted = /get (\S+)/.exec(prompt)?.[1];
    if (wanted !== undefined) {
      results.push(await onTool({ folder, name: 'get_attachment', input: { message_id: wanted } }));
    }
    return answers('pong');
  };
  const assistant = await project.start({ agent });
  const { chat } = assistant;
  const dir = join(project.dir, 'data/far-end');
  chat.fetchAttachment = async (jid, messageId) => {
    if (messageId === 'gone') throw new Error('The file could not be fetched.');
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, NAME), `${jid} ${messageId}`, { mode: 0o600 });
    return { path: join(dir, NAME), mimeType: 'image/png', sizeBytes: 12, name: PHOTO.name };
  };
  for (const [index, place] of [FAMILY, CLUB].entries()) {
    await chat.meet(place.jid, place.chatName);
    await assistant.terminal.say(`/register ${place.chatName} always`);
    await vi.waitFor(() => expect(assistant.terminal.sent).toHaveLength(index + 1));
  }
  return { assistant, results, prompts };
}

async function ask({ chat }: TestAssistant, text: string, over: object): Promise<void> {
  const before = chat.sent.length;
  await chat.say(text, over);
  await vi.waitFor(() => expect(chat.sent).toHaveLength(before + 1));
}

test('a file is named to the agent, and fetched into a folder that its container reads', async () => {
  using project = new TestProject();
  const { assistant, prompts, results } = await startFetching(project);
  await ask(assistant, '', { ...FAMILY, id: 'm1', attachments: [PHOTO] });
  expect(prompts[0]).toMatch(/Ada: \[image "photo x\.jpg", 120 kB, id m1\]$/);
  await ask(assistant, 'get m1', FAMILY);
  const path = `/workspace/media/${NAME}`;
  expect(results).toEqual([
    { ok: true, value: { path, type: 'image/png', sizeBytes: 12, name: PHOTO.name } },
  ]);
  const shelf = join(project.dir, 'data/media');
  expect(readFileSync(join(shelf, 'family', NAME), 'utf8')).toBe('chat:family m1');
  // Whoever gets past the outer folder may read it: agents have a user of their own.
  expect(statSync(shelf).mode & 0o777).toBe(0o700);
  expect(statSync(join(shelf, 'family', NAME)).mode & 0o777).toBe(0o644);
  expect(readdirSync(join(project.dir, 'data/far-end'))).toEqual([]);
  await assistant.stop();
});

test('a file of another chat, none at all, and one that is gone are refused in words', async () => {
  using project = new TestProject();
  const { assistant, results } = await startFetching(project);
  await ask(assistant, '', { ...FAMILY, id: 'm1', attachments: [PHOTO] });
  await ask(assistant, 'without a file', { ...CLUB, id: 'm2' });
  await ask(assistant, 'look', { ...CLUB, id: 'gone', attachments: [PHOTO] });
  for (const id of ['m1', 'm2', 'gone']) await ask(assistant, `get ${id}`, CLUB);
  expect(results).toMatchObject([
    { ok: false, value: expect.stringContaining('No message of this chat with the id m1') },
    { ok: false, value: expect.stringContaining('id m2') },
    { ok: false, value: 'The file could not be fetched.' },
  ]);
  expect(existsSync(join(project.dir, 'data/media/club'))).toBe(false);
  await assistant.stop();
});

test('an agent that asks for many files at once gets one after the other', async () => {
  using project = new TestProject();
  const results: HostToolResult[] = [];
  const agent: AgentScript = async ({ folder }, { onTool }) => {
    const call = { folder, name: 'get_attachment', input: { message_id: 'm1' } };
    results.push(...(await Promise.all(Array.from({ length: 20 }, () => onTool(call)))));
    return answers('pong');
  };
  const assistant = await project.start({ agent });
  const { chat } = assistant;
  const dir = join(project.dir, 'data/far-end');
  mkdirSync(dir, { recursive: true });
  let underWay = 0;
  let most = 0;
  chat.fetchAttachment = async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise(setImmediate);
    underWay -= 1;
    writeFileSync(join(dir, NAME), 'x');
    return { path: join(dir, NAME), mimeType: 'image/png', sizeBytes: 1, name: null };
  };
  await ask(assistant, 'look', { isDirect: true, id: 'm1', attachments: [PHOTO] });
  expect(results.filter(({ ok }) => ok)).toHaveLength(20);
  expect(most).toBe(1);
  await assistant.stop();
});

test('a file that comes when its chat is gone is not kept', async () => {
  using project = new TestProject();
  const { assistant, results } = await startFetching(project);
  await ask(assistant, '', { ...FAMILY, id: 'm1', attachments: [PHOTO] });
  const fetch = assistant.chat.fetchAttachment;
  const arrived = Promise.withResolvers<void>();
  assistant.chat.fetchAttachment = async (jid, messageId) => {
    await arrived.promise;
    if (fetch === undefined) throw new Error('no channel with files');
    return await fetch(jid, messageId);
  };
  await assistant.chat.say('get m1', FAMILY);
  await assistant.terminal.say('/unregister Family delete');
  await vi.waitFor(() => expect(textsOf(assistant.terminal).at(-1)).toContain('Say yes or no'));
  await assistant.terminal.say('yes');
  await vi.waitFor(() => expect(textsOf(assistant.terminal).at(-1)).toContain('is deleted'));
  arrived.resolve();
  await vi.waitFor(() => expect(results).toHaveLength(1));
  expect(results[0]).toMatchObject({ ok: false });
  expect(existsSync(join(project.dir, 'data/media/family'))).toBe(false);
  await assistant.stop();
});

test('with a chat its files are deleted, and its channel forgets what it keeps of it', async () => {
  using project = new TestProject();
  const { assistant } = await startFetching(project);
  await ask(assistant, '', { ...FAMILY, id: 'm1', attachments: [PHOTO] });
  await ask(assistant, 'get m1', FAMILY);
  await assistant.terminal.say('/unregister Family delete');
  await vi.waitFor(() => expect(textsOf(assistant.terminal).at(-1)).toContain('Say yes or no'));
  await assistant.terminal.say('yes');
  await vi.waitFor(() => expect(textsOf(assistant.terminal).at(-1)).toContain('is deleted'));
  expect(existsSync(join(project.dir, 'data/media/family'))).toBe(false);
  expect(assistant.chat.forgotten).toEqual([FAMILY.jid]);
  expect(assistant.store.attachments.of(FAMILY.jid, 'm1')).toEqual([]);
  await assistant.stop();
});

test('files that nobody asked for in a month go, and the oldest of what is too much', () => {
  using project = new TestProject();
  const shelf = join(project.dir, 'data/media/family');
  mkdirSync(shelf, { recursive: true });
  for (const name of ['a', 'b', 'c']) writeFileSync(join(shelf, name), 'x'.repeat(10));
  const day = 24 * 60 * 60_000;
  pruneMedia(join(project.dir, 'data'), Date.now() + 29 * day);
  expect(readdirSync(shelf)).toHaveLength(3);
  pruneMedia(join(project.dir, 'data'), Date.now(), { keptMs: day, maxBytes: 25 });
  expect(readdirSync(shelf)).toHaveLength(2);
  pruneMedia(join(project.dir, 'data'), Date.now() + 31 * day);
  expect(readdirSync(shelf)).toEqual([]);
});
