import { mkdtempDisposableSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  ADA,
  ADA_DIRECT,
  BOT_TOKEN,
  connectChannel,
  inMemory,
  settingsOf,
  startWorkspace,
} from './fixtures.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const JID = `slack:${ADA_DIRECT}`;
const share = (...files: object[]) => ({ subtype: 'file_share', files });

test('each file is described and fetched, of several each by its own message, also after a restart', async () => {
  await using slack = await startWorkspace();
  using folder = mkdtempDisposableSync(join(tmpdir(), 'slack-'));
  const disk = inMemory();
  const image = slack.share('F1', { info: { name: 'a.png', mimetype: 'image/png' }, bytes: PNG });
  const note = slack.share('F2', {
    info: { name: 'n.m4a', mimetype: 'audio/mp4', subtype: 'slack_audio', duration_ms: 4_200 },
    bytes: Buffer.from('sound'),
  });
  const gone = { id: 'F3', mode: 'tombstone' };
  const drive = { id: 'F4', mode: 'external', name: 'Plan', mimetype: 'text/html' };
  let ids: string[];
  {
    await using first = await connectChannel(slack, {}, undefined, disk, folder.path);
    const { host } = first;
    slack.sendText(ADA, ADA_DIRECT, 'look', share(image, gone, note, drive));
    await slack.until(() => host.messages.length === 2);
    ids = host.messages.map(({ id }) => id);
    const [extra, whole] = host.messages;
    expect(extra).toMatchObject({ text: '', isContext: true, mentionsAssistant: false });
    expect(extra?.attachments).toEqual([
      { kind: 'voice', mimeType: 'audio/mp4', sizeBytes: 5, name: 'n.m4a', seconds: 4 },
    ]);
    expect(whole?.text).toBe('look');
    expect(whole?.notes).toEqual([
      'cannot be seen here: a file, it was deleted',
      'cannot be seen here: the file Plan, it is kept elsewhere',
    ]);
    expect(whole?.attachments).toEqual([
      { kind: 'image', mimeType: 'image/png', sizeBytes: 16, name: 'a.png' },
    ]);
  }
  await using again = await connectChannel(slack, {}, undefined, disk, folder.path);
  const [voice = '', picture = ''] = ids;
  const fetched = await again.channel.fetchAttachment?.(JID, picture);
  expect(fetched).toMatchObject({ mimeType: 'image/png', sizeBytes: 16, name: 'a.png' });
  expect(readFileSync(fetched?.path ?? '')).toEqual(PNG);
  expect(fetched?.path.startsWith(join(folder.path, 'slack', 'media'))).toBe(true);
  expect((await again.channel.fetchAttachment?.(JID, voice))?.sizeBytes).toBe(5);
  // What is put on a message with several files is put on the one that Slack has.
  const reactsTo = { id: voice, sender: ADA, isAssistants: false } as never;
  await again.channel.send({ id: 'm1', jid: JID, text: '👍', reactsTo });
  expect(slack.reactions).toEqual([`${picture} +1`]);
  again.channel.forgetChat?.(JID);
  await expect(again.channel.fetchAttachment?.(JID, picture)).rejects.toThrow('not known any more');
});

test('the token goes to Slack alone, and what cannot be fetched is said in words', async () => {
  await using slack = await startWorkspace();
  using folder = mkdtempDisposableSync(join(tmpdir(), 'slack-'));
  const asked: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.end('stolen');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}/x`;
  await using connected = await connectChannel(slack, {}, undefined, inMemory(), folder.path);
  const { channel, host } = connected;
  const fetching = async (file: object) => {
    const before = host.messages.length;
    const ts = slack.sendText(ADA, ADA_DIRECT, '', share(file));
    await slack.until(() => host.messages.length > before);
    return channel.fetchAttachment?.(JID, ts).then(
      () => 'fetched',
      (error: Error) => error.message,
    );
  };
  const text = (id: string, more: object = {}, info: object = {}) =>
    slack.share(id, { info: { name: id, mimetype: 'text/plain', ...info }, ...more });
  const bytes = Buffer.from('hello');
  expect(await fetching(text('F1', { movedTo: elsewhere }))).toContain('kept elsewhere');
  expect(await fetching(text('F2', {}, { url_private_download: elsewhere }))).toContain(
    'elsewhere',
  );
  for (const address of [
    'http://169.254.169.254/',
    'file:///etc/passwd',
    'https://slack.com.evil.test/',
  ]) {
    expect(await fetching(text('F3', { movedTo: address }))).toContain('kept elsewhere');
  }
  expect(asked).toEqual([]);
  text('F4', { bytes });
  const moved = new URL('/files/F4', slack.url).href;
  expect(await fetching(text('F5', { movedTo: moved }))).toBe('fetched');
  text('F6', { movedTo: new URL('/files/F6', slack.url).href });
  expect(await fetching({ id: 'F6' })).toContain('too many redirects');
  expect(await fetching(text('F7', {}, { size: 2_000_000_000 }))).toContain('larger than 50 MB');
  const lying = text('F8', { bytes: Buffer.alloc(50_000_001) }, { size: 10 });
  expect(await fetching(lying)).toContain('larger than 50 MB');
  expect(await fetching({ id: 'F9' })).toContain('gone from Slack');
  slack.failNext('download', { status: 500, body: {} });
  expect(await fetching(text('F10', { bytes }))).toContain('error 500');
  slack.lacking.add('files:read');
  const refused = await fetching(text('F11', { bytes }));
  expect(refused).toContain('files:read');
  expect(`${refused}${JSON.stringify(host.log)}`).not.toContain(BOT_TOKEN);
  expect(settingsOf(slack)['SLACK_API_URL']).toBe(slack.url);
  other.close();
});
