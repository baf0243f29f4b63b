import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { FAST, LinkedChannel } from '../../../testing/whatsapp/linked-channel.ts';
import {
  BERT,
  type LinkedToAnna,
  linkToAnna,
  unlink,
} from '../../../testing/whatsapp/linked-to-anna.ts';
import { openMedia } from '../../../testing/whatsapp/media.ts';
import { messageIdOf } from '../outbound/sent.ts';

/** Returns the keys of a kind as a crash would leave them: from a copy, since the channel has the file for itself. */
function keysOnDisk(dataDir: string, type: string): unknown {
  const copy = mkdtempSync(join(tmpdir(), 'claw-link-'));
  try {
    cpSync(join(dataDir, 'whatsapp'), copy, { recursive: true });
    const database = new Database(join(copy, 'link.db'));
    const keys = database.prepare('SELECT id, json FROM keys WHERE type = ?').all(type);
    database.close();
    return keys;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

let server: LinkedToAnna['server'];
let linked: LinkedToAnna['linked'];
let anna: LinkedToAnna['anna'];
beforeEach(async () => {
  ({ server, linked, anna } = await linkToAnna());
});
afterEach(() => unlink({ server, linked }));

test('Markdown is sent in WhatsApp’s dialect, under an id that was made before', async () => {
  await linked.channel.send({
    id: 'out-1',
    jid: anna.pn,
    text: '# Hi\n\n**all** is [well](https://a.b)',
  });
  expect(await anna.next()).toMatchObject({
    id: messageIdOf('out-1', 0),
    text: '*Hi*\n\n*all* is well (https://a.b)',
  });
});

test('a long answer comes in parts that end between paragraphs', async () => {
  const paragraphs = Array.from({ length: 9 }, (_, index) =>
    `${index} ${'word '.repeat(200)}`.trim(),
  );
  await linked.channel.send({ id: 'long', jid: anna.pn, text: paragraphs.join('\n\n') });
  const parts = anna.read.map(({ text }) => text);
  expect(parts.length).toBe(3);
  expect(parts.join('\n\n')).toBe(paragraphs.join('\n\n'));
});

test('a key that a message used up is on disk before the message leaves', async () => {
  const jid = '120363000000000001@g.us';
  server.group({ jid, subject: 'Family', addressing: 'lid', members: [anna] });
  const { send } = WebSocket.prototype;
  let leaves: (bytes: number) => void = () => {};
  const line = vi.spyOn(WebSocket.prototype, 'send').mockImplementation(function (
    this: WebSocket,
    ...given: Parameters<WebSocket['send']>
  ) {
    // The server's end of a line has no address.
    if (this.url) leaves(Buffer.byteLength(given[0] as Buffer));
    return send.apply(this, given);
  });
  await linked.restart();
  for (const [chat, type] of [
    [jid, 'sender-key'],
    [anna.pn, 'session'],
  ] as const) {
    const keys = () => keysOnDisk(linked.dataDir, type);
    // The first message of a chat brings keys along, which are not used up.
    await linked.channel.send({ id: `first ${type}`, jid: chat, text: 'hello' });
    const before = keys();
    let longest: { readonly bytes: number; readonly keys: unknown } = { bytes: 0, keys: null };
    leaves = (bytes) => {
      if (bytes > longest.bytes) longest = { bytes, keys: keys() };
    };
    await linked.channel.send({ id: `second ${type}`, jid: chat, text: 'all is well'.repeat(40) });
    leaves = () => {};
    expect(keys()).not.toEqual(before);
    expect(longest.keys).toEqual(keys());
  }
  line.mockRestore();
});

test('everybody in a group reads an answer, and so does somebody who wrote there first', async () => {
  const bert = server.person(BERT);
  const jid = '120363000000000001@g.us';
  const group = server.group({ jid, subject: 'Family', addressing: 'lid', members: [anna, bert] });
  await linked.channel.send({ id: 'a', jid, text: 'hello all' });
  await server.say(bert, 'hello assistant', { group });
  await linked.until(() => linked.messages.length === 1);
  await linked.channel.send({ id: 'b', jid, text: 'hello Bert' });
  for (const person of [anna, bert]) {
    expect(person.read.map(({ text }) => text)).toEqual(['hello all', 'hello Bert']);
  }
});

test('a message that could not be decrypted is sent again to its recipients, and to nobody else', async () => {
  const bert = server.person(BERT);
  await linked.channel.send({ id: 'out', jid: anna.pn, text: 'The safe opens with 1234' });
  const { id } = await anna.next();
  // The process that has sent it keeps it in its memory, too, and looks there first.
  await linked.restart();
  server.askAgain(bert.lid, id);
  server.askAgain(bert.pn, id);
  server.askAgain(anna.lid, id);
  expect(await anna.next()).toMatchObject({ id, text: 'The safe opens with 1234' });
  await linked.channel.send({ id: 'last', jid: bert.pn, text: 'hello Bert' });
  expect(await bert.next()).toMatchObject({ text: 'hello Bert' });
});

test('an answer reaches the owner’s own chat on the phone', async () => {
  await linked.channel.send({ id: 'note', jid: server.account.pn, text: 'noted' });
  expect(server.account.phone.heard).toMatchObject([{ to: server.account.pn, text: 'noted' }]);
});

test('a message without an answer from WhatsApp is not sent, and sent again it is the same one', async () => {
  await linked.close();
  linked = new LinkedChannel(server, {}, { pace: { ...FAST, ackMs: 4_000 } });
  server.account.paired = null;
  await linked.pair();
  await linked.connect();
  const message = { id: 'out', jid: anna.pn, text: 'are you there?' };
  server.isSilent = true;
  await expect(linked.channel.send(message)).rejects.toMatchObject({ code: 'UNCONFIRMED' });
  server.isSilent = false;
  await linked.channel.send(message);
  expect((await anna.next()).id).toBe(messageIdOf('out', 0));
  // The host may not have heard that it was taken, and asks once more after a crash.
  await linked.restart();
  await linked.channel.send(message);
  expect(anna.read).toHaveLength(1);
});

test('a file goes out as itself, a picture as a picture, and once, however often it is sent again', async () => {
  const path = (name: string) => join(linked.dataDir, name);
  const png = Buffer.concat([Buffer.from([0x89]), Buffer.from('PNG and so on')]);
  writeFileSync(path('a'), 'left, then right');
  writeFileSync(path('b'), png);
  const attachments = [
    { path: path('a'), name: 'way.txt', sizeBytes: 16 },
    { path: path('b'), name: 'map.png', sizeBytes: png.length },
  ];
  const message = { id: 'out', jid: anna.pn, text: 'The way', attachments };
  await linked.channel.send(message);
  await linked.restart();
  await linked.channel.send(message);
  expect(anna.read).toHaveLength(3);
  const [words, document, picture] = anna.read;
  expect(words?.text).toBe('The way');
  const { documentMessage } = document?.message ?? {};
  expect(documentMessage).toMatchObject({ fileName: 'way.txt', mimetype: 'text/plain' });
  expect(document?.id).toBe(messageIdOf('out', 'file 0'));
  const bytes = await openMedia(server.filesUrl, documentMessage ?? {}, 'document');
  expect(bytes.toString()).toBe('left, then right');
  const { imageMessage } = picture?.message ?? {};
  expect(imageMessage).toMatchObject({ mimetype: 'image/png' });
  expect(await openMedia(server.filesUrl, imageMessage ?? {}, 'image')).toEqual(png);
  // Who could not read it gets the file again, not its name.
  server.askAgain(anna.lid, document?.id ?? '');
  await expect.poll(() => anna.read.length).toBe(4);
  expect(anna.read[3]?.message.documentMessage).toMatchObject({ fileName: 'way.txt' });
});

test('a file that cannot be uploaded is not sent, and its text not twice when that is tried again', async () => {
  const path = join(linked.dataDir, 'late');
  const attachments = [{ path, name: 'late.txt', sizeBytes: 4 }];
  const message = { id: 'out', jid: anna.pn, text: 'The list', attachments };
  await expect(linked.channel.send(message)).rejects.toMatchObject({ code: 'UPLOAD_FAILED' });
  writeFileSync(path, '- tea');
  await linked.channel.send(message);
  expect(
    anna.read.map(({ message: { documentMessage }, text }) => documentMessage?.fileName ?? text),
  ).toEqual(['The list', 'late.txt']);
});

test('the message that is answered is quoted above the answer', async () => {
  const bert = server.person(BERT);
  const jid = '120363000000000001@g.us';
  server.group({ jid, subject: 'Family', addressing: 'lid', members: [anna, bert] });
  const replyTo = { id: '3EB0AA', sender: bert.lid, text: 'who cooks?' };
  const text = 'Anna does.';
  await linked.channel.send({ id: 'a', jid, text, replyTo });
  const { message } = await anna.next();
  expect(message.extendedTextMessage).toMatchObject({
    text,
    contextInfo: {
      stanzaId: '3EB0AA',
      participant: bert.lid,
      quotedMessage: { conversation: 'who cooks?' },
    },
  });
});

test('an emoji is put on the message, and a text in place of another', async () => {
  const id = await server.say(anna, 'thanks');
  await linked.until(() => linked.messages.length === 1);
  const [{ jid = '', sender = '' } = {}] = linked.messages;
  const reactsTo = { id, sender, text: 'thanks' };
  await linked.channel.send({ id: 'a', jid, text: '👍', reactsTo });
  const { reactionMessage } = (await anna.next()).message;
  expect(reactionMessage).toMatchObject({ text: '👍', key: { id, fromMe: false } });
  await linked.channel.send({ id: 'b', jid, text: '… one' });
  await linked.channel.send({ id: 'c', jid, text: '… one\n… two', replaces: 'b' });
  const [, shown, changed] = anna.read.map(({ message }) => message);
  expect(shown?.extendedTextMessage?.text).toBe('… one');
  const { protocolMessage } = changed ?? {};
  expect(protocolMessage?.key).toMatchObject({ id: messageIdOf('b', 0), fromMe: true });
  expect(protocolMessage?.editedMessage?.extendedTextMessage?.text).toBe('… one\n… two');
});

test('nothing is sent while the connection is away', async () => {
  await linked.channel.disconnect();
  const sending = linked.channel.send({ id: 'out', jid: anna.pn, text: 'hello' });
  await expect(sending).rejects.toMatchObject({ code: 'NOT_CONNECTED' });
});

test('the account is seen typing while an answer is made, and is online no longer than that', async () => {
  // An account's name is known from its own messages, and without one it cannot be online.
  await server.sayOnPhone('hello');
  await linked.until(() => linked.messages.length === 1);
  await linked.channel.setTyping(anna.pn, true);
  await linked.channel.setTyping(anna.pn, true);
  await linked.channel.setTyping(anna.pn, false);
  const shown = () =>
    server.sent.flatMap(({ tag, attrs, content }) => {
      if (tag === 'presence' && attrs['type']) return [attrs['type']];
      return tag === 'chatstate' && Array.isArray(content) ? content.map((child) => child.tag) : [];
    });
  await expect
    .poll(shown)
    .toEqual(['available', 'composing', 'composing', 'paused', 'unavailable']);
});

test('only so many people who are new are written to in a day, across restarts; others are all the same', async () => {
  await linked.close();
  const bert = server.person(BERT);
  linked = new LinkedChannel(server, {}, { pace: { ...FAST, newChatsADay: 1 } });
  await linked.pair();
  await linked.connect();
  await linked.channel.send({ id: 'a', jid: anna.pn, text: 'hello' });
  const toBert = () => linked.channel.send({ id: 'b', jid: bert.pn, text: 'hello' });
  await expect(toBert()).rejects.toMatchObject({ name: 'LaterDelivery' });
  await linked.channel.send({ id: 'c', jid: anna.pn, text: 'again' });
  await linked.channel.disconnect();
  const again = linked.withEndpoint({ pace: { ...FAST, newChatsADay: 1 } });
  await again.connect();
  const sending = again.channel.send({ id: 'b', jid: bert.pn, text: 'hello' });
  await expect(sending).rejects.toThrow('may block an account');
  await again.channel.disconnect();
  linked = linked.withEndpoint({ pace: { ...FAST, newChatsADay: 2 } });
  await linked.connect();
  await toBert();
});

test('no word of a deleted chat stays in the link’s file, connected or not', async () => {
  const { channel, dataDir } = linked;
  const file = join(dataDir, 'whatsapp/link.db');
  const isKept = (words: string) =>
    [file, `${file}-wal`].some((path) => existsSync(path) && readFileSync(path).includes(words));
  await channel.send({ id: 'a', jid: anna.pn, text: 'the first secret' });
  expect(isKept('the first secret')).toBe(true);
  channel.forgetChat(anna.pn);
  expect(isKept('the first secret')).toBe(false);
  await channel.send({ id: 'b', jid: anna.pn, text: 'the second secret' });
  linked.beforeStored = () => Promise.reject(new Error('the disk is full'));
  await server.say(anna, 'the third secret', { as: 'lid' });
  await expect.poll(() => isKept('the third secret')).toBe(true);
  await channel.disconnect();
  channel.forgetChat(anna.pn);
  expect(isKept('the second secret')).toBe(false);
  expect(isKept('the third secret')).toBe(false);
});
