import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pngOf } from '../../../src/testing/pictures.ts';
import {
  ADA,
  ADA_DIRECT,
  BOT,
  connectChannel,
  HALL,
  startServer,
  stoppedClock,
} from './fixtures.ts';
import type { MatrixServer } from './matrix-server.ts';

const jid = `matrix:${ADA_DIRECT}`;

const contents = (server: MatrixServer, room = ADA_DIRECT) =>
  server
    .events(room)
    .filter(({ sender, state_key }) => sender === BOT && state_key === undefined)
    .map(({ type, content }) => ({ type, ...content }));

test('an answer is plain text and HTML, in the thread, to the message that it answers; plain words have no HTML', async () => {
  await using server = await startServer();
  await using account = await connectChannel(server);
  const { channel } = account;
  const replyTo = { id: '$q:test', sender: ADA, text: 'what?' };
  const text =
    '# Plan\n\nFirst **this**,\nthen `that`:\n\n```sh\nls <a>\n\ndate\n```\n- [page](https://example.org/?a=1&b=2)\n- [odd](javascript:alert)';
  await channel.send({ id: 'm1', jid, text, replyTo, thread: '$root:test' });
  await channel.send({ id: 'm2', jid, text: 'Plain & simple', replyTo });
  const [rich, plain] = contents(server);
  expect(rich).toMatchObject({ body: text, format: 'org.matrix.custom.html' });
  expect(rich).toHaveProperty(
    'formatted_body',
    '<strong>Plan</strong><br><br>First <strong>this</strong>,<br>then <code>that</code>:<br><br>' +
      '<pre><code class="language-sh">ls &lt;a&gt;\n\ndate</code></pre>' +
      '• <a href="https://example.org/?a=1&amp;b=2">page</a><br>• odd (javascript:alert)',
  );
  expect(rich).toHaveProperty('m.relates_to', {
    rel_type: 'm.thread',
    event_id: '$root:test',
    'm.in_reply_to': { event_id: '$q:test' },
    is_falling_back: false,
  });
  const inReply = { 'm.in_reply_to': { event_id: '$q:test' } };
  expect(plain).toEqual({
    type: 'm.room.message',
    msgtype: 'm.text',
    body: 'Plain & simple',
    'm.relates_to': inReply,
  });
});

test('a draft that the server has refused is not shown later, before the answer that replaces it', async () => {
  await using server = await startServer();
  await using account = await connectChannel(server);
  const { channel } = account;
  const limited = {
    errcode: 'M_LIMIT_EXCEEDED',
    error: 'Too Many Requests',
    retry_after_ms: 60_000,
  };
  for (const [at, answer] of [
    { status: 429, body: limited },
    { status: 403, body: { errcode: 'M_FORBIDDEN', error: 'not now' } },
  ].entries()) {
    server.failNext(/send\/m\.room\.message/, answer);
    const id = `d${at}`;
    await expect(channel.draft?.({ id, jid, text: 'It', activity: null })).rejects.toThrow();
    await channel.send({ id: `m${at}`, jid, text: `It is ${at}.`, replaces: id });
  }
  expect(contents(server).map((content) => (content as Record<string, unknown>)['body'])).toEqual([
    'It is 0.',
    'It is 1.',
  ]);
});

test('a draft is one message that is edited, and taken back; an emoji on a message that is gone is said', async () => {
  await using server = await startServer();
  await using account = await connectChannel(server);
  const { channel } = account;
  await channel.draft?.({ id: 'd1', jid, text: 'It', activity: null });
  await channel.draft?.({ id: 'd1', jid, text: 'It is', activity: 'reading files' });
  await channel.send({ id: 'm1', jid, text: 'It is so.', replaces: 'd1' });
  await channel.send({ id: 'm1', jid, text: 'It is so.', replaces: 'd1' });
  const [first, ...edits] = contents(server);
  expect(first).toMatchObject({ body: 'It …' });
  expect(edits.map((edit) => (edit as Record<string, unknown>)['m.new_content'])).toEqual([
    { msgtype: 'm.text', body: 'It is\n\n… reading files' },
    { msgtype: 'm.text', body: 'It is so.' },
  ]);
  await channel.draft?.({ id: 'd2', jid, text: 'No', activity: null });
  await channel.takeBack?.(jid, 'd2');
  expect(server.events(ADA_DIRECT).at(-1)?.type).toBe('m.room.redaction');
  const reactsTo = { id: '$gone:test', sender: ADA, text: 'x' };
  const refusal = { status: 400, body: { errcode: 'M_UNKNOWN', error: 'no such event' } };
  server.failNext(/m\.reaction/, refusal);
  await channel.send({ id: 'r1', jid, text: '👀', reactsTo });
  await channel.send({ id: 'r2', jid, text: '👀', reactsTo });
  expect(contents(server).slice(-2)).toMatchObject([{ body: '👀' }, { type: 'm.reaction' }]);
});

test('files go out and come in; one that the homeserver does not take, or that is gone, is said', async () => {
  await using server = await startServer();
  const folder = mkdtempSync(join(tmpdir(), 'claw-matrix-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await using account = await connectChannel(server, { dataDir: folder });
  const { channel, host } = account;
  const path = join(folder, 'a.png');
  writeFileSync(path, Buffer.from('89504e470d0a1a0a', 'hex'));
  const attachments = [{ path, name: 'turtle.png', sizeBytes: 8 }];
  await channel.send({ id: 'm1', jid, text: 'Look:', attachments });
  const [, file] = contents(server);
  expect(file).toMatchObject({
    msgtype: 'm.image',
    filename: 'turtle.png',
    url: 'mxc://test/file0',
  });
  expect(server.files.get('mxc://test/file0')?.type).toBe('image/png');
  const picture = pngOf({ width: 64, height: 48 });
  writeFileSync(path, picture);
  const pictures = [{ path, name: 'sea.png', sizeBytes: picture.length }];
  await channel.send({ id: 'm3', jid, text: '', attachments: pictures });
  expect(contents(server).at(-1)).toMatchObject({
    info: { mimetype: 'image/png', size: picture.length, w: 64, h: 48 },
  });
  server.maxUpload = 4;
  await channel.send({ id: 'm2', jid, text: '', attachments });
  expect(contents(server).at(-1)).toMatchObject({
    body: 'The file turtle.png is not sent: it is larger than the homeserver takes.',
  });
  const voice = { msgtype: 'm.audio', url: 'mxc://test/file0', info: { duration: 2_500 } };
  server.say(ADA_DIRECT, ADA, 'Voice message', { ...voice, 'org.matrix.msc3245.voice': {} });
  const captioned = { msgtype: 'm.image', filename: 'x.png', url: 'mxc://test/none' };
  server.say(ADA_DIRECT, ADA, 'what is this?', captioned);
  await server.until(() => host.messages.length === 2);
  const [spoken, shown] = host.messages;
  expect(spoken).toMatchObject({ text: '', attachments: [{ kind: 'voice', seconds: 3 }] });
  expect(shown?.text).toBe('what is this?');
  const fetched = await channel.fetchAttachment?.(jid, spoken?.id ?? '');
  expect(readFileSync(fetched?.path ?? '')).toHaveLength(8);
  await expect(channel.fetchAttachment?.(jid, shown?.id ?? '')).rejects.toThrow(
    'gone from its server',
  );
  await expect(channel.fetchAttachment?.(jid, '$other')).rejects.toThrow('not known any more');
});

test('a pause is kept that only the header names; a room that is left is said; typing is shown', async () => {
  await using server = await startServer();
  const clock = stoppedClock();
  await using account = await connectChannel(server, { clock });
  const { channel } = account;
  const limited = { status: 429, body: {}, headers: { 'retry-after': '7' } };
  server.failNext(/\/send\//, limited);
  await channel.send({ id: 'm1', jid, text: 'late' });
  expect(clock.pauses).toContain(7_000);
  await channel.setTyping(jid, true);
  expect(server.calls.at(-1)).toMatchObject({
    path: `/rooms/${ADA_DIRECT}/typing/${BOT}`,
    body: { typing: true },
  });
  server.leave(HALL, BOT);
  const sending = channel.send({ id: 'm2', jid: `matrix:${HALL}`, text: 'anyone?' });
  await expect(sending).rejects.toThrow('not in the room any more');
});
