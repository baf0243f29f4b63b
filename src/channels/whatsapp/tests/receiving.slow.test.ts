import { readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LinkedChannel } from '../../../testing/whatsapp/linked-channel.ts';
import {
  BERT,
  type LinkedToAnna,
  linkToAnna,
  unlink,
} from '../../../testing/whatsapp/linked-to-anna.ts';

const PNG = Buffer.concat([Buffer.from([0x89]), Buffer.from('PNG and so on')]);

let server: LinkedToAnna['server'];
let linked: LinkedToAnna['linked'];
let anna: LinkedToAnna['anna'];
beforeEach(async () => {
  ({ server, linked, anna } = await linkToAnna({ isConnected: false }));
});
afterEach(() => unlink({ server, linked }));

async function heard(count: number) {
  await linked.until(() => linked.messages.length >= count);
  return linked.messages;
}

test('the owner’s chat with themselves is heard, under either address, and is one chat', async () => {
  await linked.connect();
  await server.sayOnPhone('hello', server.account.pn);
  await server.sayOnPhone('again', server.account.lid, { as: 'lid' });
  const place = { jid: server.account.pn, sender: server.account.pn, isDirect: true };
  expect(linked.chats).toEqual([
    { jid: server.account.pn, name: 'Me', isDirect: true, isOwners: true },
  ]);
  expect(await heard(2)).toMatchObject([
    { ...place, isOwner: true, text: 'hello', isContext: false },
    { ...place, isOwner: true, text: 'again', isContext: false },
  ]);
});

test('a person is one person and one chat, by phone number and by LID, also after a restart', async () => {
  await linked.connect();
  await server.say(anna, 'one', { as: 'lid' });
  await server.say(anna, 'two', { as: 'pn' });
  await server.say(anna, 'three', { as: 'lid', isAlone: true });
  await heard(3);
  await linked.restart();
  await server.say(anna, 'four', { as: 'lid', isAlone: true });
  const place = { jid: anna.pn, sender: anna.pn, senderName: 'Anna', isOwner: false };
  expect(await heard(4)).toMatchObject(
    ['one', 'two', 'three', 'four'].map((text) => ({ ...place, text })),
  );
});

test('a person with two addresses counts as one from the first message that shows it, also across a restart', async () => {
  await linked.connect();
  await server.say(anna, 'as one', { as: 'lid', isAlone: true });
  await server.say(anna, 'as another', { as: 'pn', isAlone: true });
  expect(await heard(2)).toMatchObject([{ jid: anna.lid }, { jid: anna.pn }]);
  let failures = 1;
  linked.beforeMerged = async () => {
    if (failures-- > 0) throw new Error('busy');
  };
  await server.say(anna, 'as both', { as: 'lid' });
  expect(await heard(3)).toMatchObject([{}, {}, { jid: anna.pn, sender: anna.pn }]);
  expect(linked.merged).toEqual([{ from: anna.lid, to: anna.pn }]);
  await server.say(anna, 'again', { as: 'lid', isAlone: true });
  expect((await heard(4))[3]).toMatchObject({ jid: anna.pn });
  await linked.restart();
  expect(linked.merged).toHaveLength(1);

  const bert = server.person(BERT);
  await server.say(bert, 'as one', { as: 'lid', isAlone: true });
  await server.say(bert, 'as another', { as: 'pn', isAlone: true });
  await heard(6);
  linked.beforeMerged = () => Promise.reject(new Error('the disk is full'));
  const members = [anna, bert];
  server.group({ jid: '1@g.us', subject: 'Both', addressing: 'lid', members });
  server.cut();
  await expect.poll(() => linked.logged.join()).toContain('were not made one');
  linked.beforeMerged = async () => {};
  await linked.restart();
  expect(linked.merged.slice(1)).toEqual([{ from: bert.lid, to: bert.pn }]);
});

test('messages of a group carry who wrote them and what the group is called', async () => {
  const bert = server.person(BERT);
  const group = server.group({
    jid: '120363000000000001@g.us',
    subject: 'Family Chat',
    addressing: 'lid',
    members: [anna, bert],
  });
  await linked.connect();
  await linked.until(() => linked.chats.length > 1);
  expect(linked.chats).toContainEqual({ jid: group.jid, name: 'Family Chat', isDirect: false });
  await server.say(anna, '@Andy what is for dinner?', { group });
  await server.say(bert, 'soup', { group, as: 'pn' });
  await server.sayOnPhone('fine', group.jid, { group, as: 'lid' });
  const place = { jid: group.jid, chatName: 'Family Chat', isDirect: false, isContext: false };
  expect(await heard(3)).toMatchObject([
    { ...place, sender: anna.pn, senderName: 'Anna', isOwner: false },
    { ...place, sender: bert.pn, text: 'soup' },
    { ...place, sender: server.account.pn, isOwner: true },
  ]);
});

test('a group that is renamed is told under its new name, at once and after a pause', async () => {
  const jid = '120363000000000001@g.us';
  const group = server.group({ jid, subject: 'Family', addressing: 'lid', members: [anna] });
  await linked.connect();
  const names = () => linked.chats.filter((chat) => chat.jid === jid).map(({ name }) => name);
  await linked.until(() => names().length === 1);
  server.rename(group, 'The family', anna);
  await linked.until(() => names().length === 2);
  await linked.channel.disconnect();
  server.rename(server.groups.find((each) => each.jid === jid) ?? group, 'Home', anna);
  await linked.restart();
  await linked.until(() => names().includes('Home'));
  expect(names()).toEqual(['Family', 'The family', 'Home']);
});

test('a mention of the account and an answer to the assistant are meant for it', async () => {
  await linked.connect();
  await server.say(anna, { extendedTextMessage: { text: 'hey' } });
  const mentionedJid = [server.account.lid, anna.pn];
  const text = `@${server.account.lidNumber} is @${anna.phoneNumber} here?`;
  await server.say(anna, { extendedTextMessage: { text, contextInfo: { mentionedJid } } });
  await linked.channel.send({ id: 'out', jid: anna.pn, text: 'What is it?' });
  const { id: stanzaId } = await anna.next();
  const quotedMessage = { conversation: 'What is it?' };
  const contextInfo = { stanzaId, participant: server.account.lid, quotedMessage };
  await server.say(anna, { extendedTextMessage: { text: 'nothing', contextInfo } });
  expect(await heard(3)).toMatchObject([
    { mentionsAssistant: false },
    { mentionsAssistant: true, text: '@Andy is @Anna here?' },
    {
      mentionsAssistant: true,
      text: 'nothing',
      notes: [expect.stringMatching(/^in answer to .*"What is it\?"$/)],
    },
  ]);
});

test('a message of one chat is not repeated in another, and nothing there answers it', async () => {
  await linked.connect();
  const bert = server.person(BERT);
  await linked.channel.send({ id: 'out', jid: anna.pn, text: 'The safe opens with 1234' });
  const { id: stanzaId } = await anna.next();
  const quotedMessage = { conversation: '' };
  const contextInfo = { stanzaId, participant: server.account.lid, quotedMessage };
  await server.say(bert, { extendedTextMessage: { text: 'what?', contextInfo } });
  const key = { remoteJid: bert.lid, id: stanzaId, fromMe: false };
  await server.say(bert, { reactionMessage: { key, text: '👍' } });
  const messages = await heard(2);
  expect(JSON.stringify(messages)).not.toContain('1234');
  expect(messages[0]).toMatchObject({ mentionsAssistant: false });
});

test('reactions and corrections are there to be known, not to be answered', async () => {
  await linked.connect();
  await linked.channel.send({ id: 'out', jid: anna.pn, text: 'Dinner\nat eight' });
  const { id } = await anna.next();
  const key = { remoteJid: server.account.pn, id, fromMe: false };
  await server.say(anna, { reactionMessage: { key, text: '👍' } });
  const editedMessage = { conversation: 'I meant this' };
  await server.say(anna, { protocolMessage: { type: 14, key, editedMessage } });
  expect(await heard(2)).toMatchObject([
    { notes: ['reacts with 👍', 'in answer to Andy: "Dinner at eight"'], isContext: true },
    { notes: ['corrected: an earlier message now says "I meant this"'], isContext: true },
  ]);
});

test('a picture is noted with its caption, and fetched when somebody asks for it', async () => {
  await linked.connect();
  const picture = await server.upload({ type: 'image', bytes: PNG, mimetype: 'image/jpeg' });
  const id = await server.say(anna, { imageMessage: { ...picture, caption: 'Look!' } });
  const [message] = await heard(1);
  expect(message).toMatchObject({
    text: 'Look!',
    attachments: [{ kind: 'image', mimeType: 'image/jpeg', sizeBytes: PNG.length, name: null }],
  });
  const file = await linked.channel.fetchAttachment(anna.pn, id);
  // The sender called it a JPEG.
  expect(file).toMatchObject({ mimeType: 'image/png', sizeBytes: PNG.length });
  expect(file.path).toMatch(/\/[0-9a-f]{64}\.png$/);
  expect(readFileSync(file.path)).toEqual(PNG);
  expect(statSync(file.path).mode & 0o777).toBe(0o600);
});

test('a file is refused that is too large, that is gone, or that is another one', async () => {
  await linked.connect();
  const file = { type: 'document' as const, mimetype: 'text/plain' };
  const large = await server.upload({ ...file, bytes: Buffer.alloc(1_500_000) });
  const small = await server.upload({ ...file, bytes: Buffer.from('a') });
  const other = await server.upload({ ...file, bytes: Buffer.from('b') });
  const refusals = [
    [{ ...large, fileName: 'large.txt' }, 'MEDIA_TOO_LARGE'],
    // Whoever sends it can say that it is small.
    [{ ...large, fileLength: 1 }, 'MEDIA_TOO_LARGE'],
    [{ ...small, directPath: '/nowhere' }, 'MEDIA_GONE'],
    [{ ...small, directPath: 'http://127.0.0.1:1/' }, 'MEDIA_GONE'],
    [{ ...small, fileSha256: other.fileSha256 }, 'MEDIA_GONE'],
  ] as const;
  for (const [documentMessage, code] of refusals) {
    const id = await server.say(anna, { documentMessage });
    await linked.until(() => linked.messages.at(-1)?.id === id);
    await expect(linked.channel.fetchAttachment(anna.pn, id)).rejects.toMatchObject({ code });
  }
  const nothing = linked.channel.fetchAttachment(anna.pn, 'never said');
  await expect(nothing).rejects.toMatchObject({ code: 'MEDIA_UNKNOWN' });
});

test('messages from the owner to other people are not for the assistant', async () => {
  await linked.connect();
  await server.sayOnPhone('see you at eight', anna.pn);
  expect(await heard(1)).toMatchObject([{ jid: anna.pn, isOwner: true, isContext: true }]);
});

test('if the account is the assistant’s own, the settings say who the owner is', async () => {
  const bert = server.person(BERT);
  await linked.close();
  linked = new LinkedChannel(server, { WHATSAPP_OWNER: `+49 151 22222222` });
  server.account.paired = null;
  await linked.pair();
  await linked.connect();
  expect(linked.chats).toMatchObject([{ jid: bert.pn, isOwners: true }]);
  await expect.poll(() => linked.channel.personOf(bert.lid)?.sender).toBe(bert.pn);
  await server.say(bert, '/status', { as: 'lid', isAlone: true });
  await server.sayOnPhone('typed on the assistant’s phone');
  expect(await heard(2)).toMatchObject([
    { sender: bert.pn, isOwner: true },
    { sender: server.account.pn, isOwner: false },
  ]);
});

test('a message that comes twice under one key is handed over once', async () => {
  await linked.connect();
  for (const text of ['one', 'one again']) await server.say(anna, text, { id: '3EB0AA' });
  await server.say(anna, 'two');
  expect((await heard(2)).map(({ text }) => text)).toEqual(['one', 'two']);
});

test('500 messages that waited arrive once and in order; the old ones are not answered', async () => {
  await linked.connect();
  await server.say(anna, 'first');
  await heard(1);
  await linked.channel.disconnect();
  const yesterday = Date.now() - 25 * 3_600_000;
  for (let index = 0; index < 500; index += 1) {
    const sentAt = index < 250 ? yesterday : Date.now();
    await server.say(anna, `message ${index}`, { sentAt, as: index % 3 === 0 ? 'pn' : 'lid' });
  }
  await linked.restart();
  await server.say(anna, 'last');
  await heard(502);
  const expected = Array.from({ length: 500 }, (_, index) => `message ${index}`);
  expect(linked.messages.map(({ text }) => text)).toEqual(['first', ...expected, 'last']);
  expect(linked.messages.filter(({ isContext }) => isContext)).toHaveLength(250);
  await expect.poll(() => server.mailbox.size).toBe(0);
});
