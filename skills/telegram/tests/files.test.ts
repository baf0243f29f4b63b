import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { HostToolResult } from '../../../src/sandbox/sandbox.ts';
import { type AgentScript, answers, TestProject } from '../../../src/testing/assistant.ts';
import { type BotApi, startBotApi } from './bot-api.ts';
import {
  ADA,
  ADA_DIRECT,
  connectChannel,
  createChannel,
  EVE,
  EVE_DIRECT,
  FAMILY,
  HostEnd,
  inMemory,
  REAL_CLOCK,
  TOKEN,
} from './fixtures.ts';

const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]);
const JID = 'telegram:10011';

/** A connected channel with a data folder on disk, which goes with it. */
async function connectOnDisk(api: BotApi) {
  const dataDir = mkdtempSync(join(tmpdir(), 'claw-telegram-'));
  const openDatabase = inMemory();
  const connected = await connectChannel(api, {}, REAL_CLOCK, openDatabase, dataDir);
  const { channel } = connected;
  return {
    ...connected,
    dataDir,
    openDatabase,
    fetch: async (id: number) => channel.fetchAttachment?.(JID, String(id)),
    /** The code of the failure, and all that could be read of it anywhere. */
    failureOf: async (id: number) => {
      const error: unknown = await channel.fetchAttachment?.(JID, String(id)).catch((it) => it);
      if (!(error instanceof Error)) throw new Error('nothing failed');
      expect(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain(TOKEN);
      expect(JSON.stringify(connected.host.log)).not.toContain(TOKEN);
      return { code: 'code' in error ? error.code : null, message: error.message };
    },
    async [Symbol.asyncDispose]() {
      await channel.disconnect();
      rmSync(dataDir, { recursive: true });
    },
  };
}

test('each kind of file is described with its size, name and length; the caption is the text', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  const file = (name: string, size: number) =>
    api.files.upload({ name, content: Buffer.alloc(size) });
  api.sendPhoto(ADA, FAMILY, Buffer.alloc(2_000), '@andy_bot what is this?');
  const pdf = { file_name: 'bill.pdf', mime_type: 'application/pdf' };
  api.sendContent(ADA, FAMILY, { document: { ...file('d', 3), ...pdf } });
  api.sendContent(ADA, FAMILY, { document: { ...file('e', 4), mime_type: 'image/png' } });
  api.sendContent(ADA, FAMILY, { voice: { ...file('f', 5), duration: 3 } });
  api.sendContent(ADA, FAMILY, { audio: { ...file('g', 6), file_name: 'a.mp3' } });
  const clip = { ...file('h', 7), mime_type: 'video/mp4' };
  api.sendContent(ADA, FAMILY, { animation: clip, document: clip, caption: 'ha' });
  api.sendContent(ADA, FAMILY, { video_note: { file_id: 'of unknown size', duration: 9 } });
  await api.until(() => host.messages.length === 7);
  const [photo] = host.messages;
  expect(photo).toMatchObject({ text: '@andy_bot what is this?', isDirect: false });
  const files = host.messages.map(({ text, attachments }) => [text, ...(attachments ?? [])]);
  const unnamed = { mimeType: null, name: null };
  expect(files.slice(1)).toEqual([
    ['', { kind: 'document', mimeType: 'application/pdf', sizeBytes: 3, name: 'bill.pdf' }],
    ['', { kind: 'image', mimeType: 'image/png', sizeBytes: 4, name: null }],
    ['', { ...unnamed, kind: 'voice', sizeBytes: 5, seconds: 3 }],
    ['', { ...unnamed, kind: 'audio', sizeBytes: 6, name: 'a.mp3' }],
    ['ha', { kind: 'video', mimeType: 'video/mp4', sizeBytes: 7, name: null }],
    ['', { ...unnamed, kind: 'video', sizeBytes: null, seconds: 9 }],
  ]);
  expect(photo?.attachments).toEqual([
    { kind: 'image', mimeType: 'image/jpeg', sizeBytes: 2_000, name: null },
  ]);
  // Contents come when somebody asks for them.
  expect(api.calls.some(({ method }) => method === 'getFile')).toBe(false);
});

test('a caption that names the bot is a mention', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectChannel(api);
  const { host } = connected;
  api.sendContent(ADA, FAMILY, {
    photo: [{ ...api.files.upload({ name: 'p', content: JPEG }), width: 1, height: 1 }],
    caption: '@andy_bot what is this?',
    caption_entities: [{ type: 'mention', offset: 0, length: 9 }],
  });
  await api.until(() => host.messages.length === 1);
  expect(host.messages[0]?.mentionsAssistant).toBe(true);
});

test('the largest size of a photo is fetched, with the type of its content, also after a restart', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectOnDisk(api);
  const { host, channel, dataDir, openDatabase } = connected;
  const id = api.sendPhoto(ADA, ADA_DIRECT, JPEG);
  await api.until(() => host.messages.length === 1);
  await channel.disconnect();
  const settings = { TELEGRAM_ALLOW_FROM: '10011', TELEGRAM_API_ROOT: api.url };
  const env = { ...settings, TELEGRAM_BOT_TOKEN: TOKEN };
  const next = createChannel(env, new HostEnd(), REAL_CLOCK, openDatabase, dataDir);
  await next?.connect(new HostEnd());
  const file = await next?.fetchAttachment?.(JID, String(id));
  expect(file).toMatchObject({ mimeType: 'image/jpeg', sizeBytes: JPEG.length, name: null });
  expect(file?.path.startsWith(dataDir) && readFileSync(file.path)).toEqual(JPEG);
  expect(api.files.fetched).toEqual([expect.stringMatching(/^photos\/file \d\.jpg$/)]);
  next?.forgetChat?.(JID);
  await expect(next?.fetchAttachment?.(JID, String(id))).rejects.toMatchObject({
    code: 'FILE_UNKNOWN',
  });
  await next?.disconnect();
  await expect(channel.fetchAttachment?.(JID, '1')).rejects.toMatchObject({ code: 'FILE_UNKNOWN' });
});

test('what is too large is said, by the message, by Telegram, and by what comes', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectOnDisk(api);
  const { host, failureOf, dataDir } = connected;
  const content = Buffer.alloc(20_000_001);
  const document = api.files.upload({ name: 'large.bin', content });
  const known = api.sendContent(ADA, ADA_DIRECT, { document });
  const unknown = api.sendContent(ADA, ADA_DIRECT, { document: { file_id: document.file_id } });
  await api.until(() => host.messages.length === 2);
  const failure = {
    code: 'FILE_TOO_LARGE',
    message: 'The file is larger than 20 MB, the most that Telegram gives out to a bot.',
  };
  expect(await failureOf(known)).toEqual(failure);
  expect(api.calls.some(({ method }) => method === 'getFile')).toBe(false);
  expect(await failureOf(unknown)).toEqual(failure);
  expect(api.files.fetched).toEqual([]);
  const understated = api.sendPhoto(ADA, ADA_DIRECT, JPEG);
  await api.until(() => host.messages.length === 3);
  api.files.isUnderstating = true;
  expect(await failureOf(understated)).toEqual(failure);
  expect(api.files.fetched).toEqual([expect.stringMatching(/^photos\/file \d\.jpg$/)]);
  expect(existsSync(join(dataDir, 'telegram/media'))).toBe(false);
});

test('a file that is gone, a line that is cut, and another server are said without the token', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectOnDisk(api);
  const { host, failureOf, fetch } = connected;
  const id = api.sendPhoto(ADA, ADA_DIRECT, JPEG);
  const local = { name: '/var/lib/telegram-bot-api/photo.jpg', content: JPEG };
  const onDisk = api.sendContent(ADA, ADA_DIRECT, { document: api.files.upload(local) });
  await api.until(() => host.messages.length === 2);
  expect((await failureOf(onDisk)).message).toContain('--local');
  api.failNext('getFile', { error_code: 429, description: 'Too Many Requests: retry after 3' });
  expect(await failureOf(id)).toMatchObject({ code: 'UNREACHABLE' });
  api.loseNext('getFile');
  expect(await failureOf(id)).toMatchObject({ code: 'UNREACHABLE' });
  api.loseNext('file');
  expect(await failureOf(id)).toMatchObject({ code: 'UNREACHABLE' });
  // An address elsewhere is not followed: the token is in it.
  api.redirectNextFile();
  expect(await failureOf(id)).toMatchObject({ code: 'UNREACHABLE' });
  api.blockNext('file');
  expect((await failureOf(id)).message).toContain('error 502');
  expect(await fetch(id)).toMatchObject({ mimeType: 'image/jpeg' });
  api.failNext('file', { error_code: 404, description: 'Not Found' });
  expect(await failureOf(id)).toMatchObject({ code: 'FILE_GONE' });
  api.files.drop();
  const gone = await failureOf(id);
  expect(gone.code).toBe('FILE_GONE');
  expect(gone.message).toContain('Ask for it to be sent again.');
  await api.goDown();
  expect(await failureOf(id)).toMatchObject({ code: 'UNREACHABLE' });
});

test('the files of a stranger are neither fetched nor noted', async () => {
  await using api = await startBotApi({ token: TOKEN });
  await using connected = await connectOnDisk(api);
  const { host, channel, dataDir } = connected;
  const id = api.sendPhoto(EVE, EVE_DIRECT, JPEG, 'look');
  const there = api.sendPhoto(EVE, FAMILY, JPEG, 'look');
  api.sendText(ADA, ADA_DIRECT, 'hello');
  await api.until(() => host.messages.length === 1);
  for (const [jid, message] of [
    ['telegram:6666', id],
    ['telegram:-1001234', there],
  ] as const) {
    await expect(channel.fetchAttachment?.(jid, String(message))).rejects.toMatchObject({
      code: 'FILE_UNKNOWN',
    });
  }
  expect(api.calls.some(({ method }) => method === 'getFile')).toBe(false);
  expect(readdirSync(dataDir)).toEqual([]);
});

test('a photo with a caption reaches the folder that the agent reads', async () => {
  await using api = await startBotApi({ token: TOKEN });
  using project = new TestProject();
  const dataDir = join(project.dir, 'data');
  const env = {
    TELEGRAM_BOT_TOKEN: TOKEN,
    TELEGRAM_ALLOW_FROM: String(ADA.id),
    TELEGRAM_API_ROOT: api.url,
  };
  const telegram = createChannel(env, new HostEnd(), REAL_CLOCK, inMemory(), dataDir);
  if (telegram === null) throw new Error('the channel stayed silent');
  const prompts: string[] = [];
  const results: HostToolResult[] = [];
  const agent: AgentScript = async ({ folder, prompt }, { onTool }) => {
    prompts.push(prompt);
    const [, message_id] = /\[image, 1 kB, id (\d+)\]/.exec(prompt) ?? [];
    results.push(await onTool({ folder, name: 'get_attachment', input: { message_id } }));
    return answers('a cat');
  };
  const assistant = await project.start({ agent, over: { channels: [telegram] } });
  const id = api.sendPhoto(ADA, ADA_DIRECT, JPEG, 'what is this?');
  await api.until(() => api.sent.length > 0);
  expect(prompts[0]).toMatch(new RegExp(`what is this\\?\\n\\s*\\[image, 1 kB, id ${id}\\]$`));
  expect(results).toMatchObject([{ ok: true, value: { type: 'image/jpeg', sizeBytes: 7 } }]);
  const shelf = join(dataDir, 'media', `telegram-${ADA.id}`);
  await vi.waitFor(() => expect(readdirSync(shelf)).toHaveLength(1));
  expect(readFileSync(join(shelf, readdirSync(shelf)[0] ?? ''))).toEqual(JPEG);
  await assistant.stop();
});
