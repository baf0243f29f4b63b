import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { DiscordServer } from './discord-server.ts';
import { ADA, connectChannel, GENERAL, inMemory, startServer } from './fixtures.ts';

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2, 3]);
const JID = `discord:${GENERAL}`;

async function connectOnDisk(discord: DiscordServer) {
  const dataDir = mkdtempSync(join(tmpdir(), 'claw-discord-'));
  const openDatabase = inMemory();
  const connected = await connectChannel(discord, { dataDir, openDatabase });
  const { channel } = connected;
  return {
    ...connected,
    dataDir,
    openDatabase,
    fetch: async (id: string) => channel.fetchAttachment?.(JID, id),
    codeOf: async (id: string) => {
      const error: unknown = await channel.fetchAttachment?.(JID, id).catch((it) => it);
      return error instanceof Error && 'code' in error ? error.code : null;
    },
    async [Symbol.asyncDispose]() {
      await channel.disconnect();
      rmSync(dataDir, { recursive: true });
    },
  };
}

test('files are described; of several the others come before the message, to be known about', async () => {
  await using discord = await startServer();
  await using connected = await connectOnDisk(discord);
  const { host } = connected;
  const attachments = [
    discord.addFile('a.png', PNG, { content_type: 'image/png' }),
    discord.addFile('b.pdf', Buffer.from('%PDF-1'), { content_type: 'application/pdf' }),
    discord.addFile('c.ogg', Buffer.from('OggS'), {
      content_type: 'audio/ogg',
      duration_secs: 2.6,
    }),
  ];
  const id = discord.say(ADA, GENERAL, 'look', { attachments });
  await discord.until(() => host.messages.length === 3);
  expect(host.messages).toMatchObject([
    {
      id: `${id}-2`,
      text: '',
      isContext: true,
      attachments: [{ kind: 'document', name: 'b.pdf', sizeBytes: 6 }],
    },
    {
      id: `${id}-3`,
      text: '',
      isContext: true,
      attachments: [{ kind: 'voice', mimeType: 'audio/ogg', seconds: 3 }],
    },
    { id, text: 'look', attachments: [{ kind: 'image', mimeType: 'image/png', sizeBytes: 7 }] },
  ]);
  const fetched = await connected.fetch(id);
  expect(fetched).toMatchObject({ mimeType: 'image/png', sizeBytes: 7, name: 'a.png' });
  expect(readFileSync(fetched?.path ?? '')).toEqual(PNG);
  expect(await connected.fetch(`${id}-2`)).toMatchObject({ mimeType: 'application/pdf' });
});

test('a file of 2 GB is refused before a byte is fetched; one that says too little, while it comes', async () => {
  await using discord = await startServer();
  await using connected = await connectOnDisk(discord);
  const { host } = connected;
  const huge = { ...discord.addFile('film.mp4', PNG), size: 2_000_000_000 };
  const liar = { ...discord.addFile('small.bin', Buffer.alloc(50_000_001)), size: 3 };
  const first = discord.say(ADA, GENERAL, '', { attachments: [huge] });
  const second = discord.say(ADA, GENERAL, '', { attachments: [liar] });
  await discord.until(() => host.messages.length === 2);
  expect(await connected.codeOf(first)).toBe('FILE_TOO_LARGE');
  expect(discord.calls.some(({ path }) => path.startsWith('/attachments'))).toBe(false);
  expect(await connected.codeOf(second)).toBe('FILE_TOO_LARGE');
});

test('a file that is gone, cut off or never known is told; forgetting a chat forgets its files', async () => {
  await using discord = await startServer();
  await using connected = await connectOnDisk(discord);
  const { host, channel } = connected;
  const say = () => discord.say(ADA, GENERAL, '', { attachments: [discord.addFile('a.png', PNG)] });
  const [deleted, cut, gone] = [say(), say(), say()];
  await discord.until(() => host.messages.length === 3);
  discord.deleteMessage(deleted);
  expect(await connected.codeOf(deleted)).toBe('FILE_GONE');
  discord.failNext('GET', /^\/attachments/, { status: 503 });
  expect(await connected.codeOf(cut)).toBe('UNREACHABLE');
  expect(await connected.fetch(cut)).toMatchObject({ sizeBytes: 7 });
  discord.failNext('GET', /^\/attachments/, { status: 404 });
  expect(await connected.codeOf(gone)).toBe('FILE_GONE');
  expect(await connected.codeOf('1')).toBe('FILE_UNKNOWN');
  channel.forgetChat?.(JID);
  expect(await connected.codeOf(cut)).toBe('FILE_UNKNOWN');
});

test('files of messages that came before a restart are still known', async () => {
  await using discord = await startServer();
  await using connected = await connectOnDisk(discord);
  const { host, dataDir, openDatabase } = connected;
  const id = discord.say(ADA, GENERAL, '', { attachments: [discord.addFile('a.png', PNG)] });
  await discord.until(() => host.messages.length === 1);
  await connected.channel.disconnect();
  await using second = await connectChannel(discord, { dataDir, openDatabase });
  expect(await second.channel.fetchAttachment?.(JID, id)).toMatchObject({ mimeType: 'image/png' });
});
