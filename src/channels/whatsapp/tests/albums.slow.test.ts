import { afterEach, beforeEach, expect, test } from 'vitest';
import { sendAlbum } from '../../../testing/whatsapp/content.ts';
import {
  BERT,
  type LinkedToAnna,
  linkToAnna,
  unlink,
} from '../../../testing/whatsapp/linked-to-anna.ts';

let server: LinkedToAnna['server'];
let linked: LinkedToAnna['linked'];
let anna: LinkedToAnna['anna'];
beforeEach(async () => {
  ({ server, linked, anna } = await linkToAnna());
});
afterEach(() => unlink({ server, linked }));

async function heard(count: number) {
  await linked.until(() => linked.messages.length >= count);
  return linked.messages.map(({ sender, text, isContext = false, attachments = [] }) => ({
    ...{ sender, text, isContext, files: attachments.length },
  }));
}

test('an album is one turn: its words ask, with all pictures before them, and what is said next comes after', async () => {
  await sendAlbum(server, anna, ['', 'which one?', '']);
  await server.say(anna, 'well?');
  const picture = { sender: anna.pn, text: '', isContext: true, files: 1 };
  expect(await heard(4)).toEqual([
    picture,
    picture,
    { ...picture, text: 'which one?', isContext: false },
    { sender: anna.pn, text: 'well?', isContext: false, files: 0 },
  ]);
  await sendAlbum(server, anna, ['', '']);
  expect((await heard(6)).slice(4)).toEqual([picture, { ...picture, isContext: false }]);
});

test('the pictures of two people at the same moment are two albums', async () => {
  const bert = server.person(BERT);
  const group = server.group({
    jid: '120363000000000009@g.us',
    subject: 'Trip',
    addressing: 'lid',
    members: [anna, bert],
  });
  const parentMessageKey = { id: '3EB0SAME', remoteJid: group.jid, fromMe: false };
  const part = (caption: string) => ({
    imageMessage: {
      mimetype: 'image/png',
      caption,
      directPath: '/x',
      mediaKey: new Uint8Array(32),
    },
    messageContextInfo: { messageAssociation: { associationType: 1, parentMessageKey } },
  });
  const announcement = { albumMessage: { expectedImageCount: 1, expectedVideoCount: 1 } };
  await server.say(anna, announcement, { group, id: '3EB0SAME' });
  await server.say(anna, part('ours'), { group });
  // Somebody else names the same announcement.
  await server.say(bert, part('mine'), { group });
  await server.say(anna, part(''), { group });
  const all = await heard(3);
  expect(all.map(({ sender, text, isContext }) => [sender, text, isContext])).toEqual([
    [anna.pn, '', true],
    [anna.pn, 'ours', false],
    [bert.pn, 'mine', false],
  ]);
});

test('an album of which a part never comes is handed over as far as it is there, before what follows', async () => {
  await sendAlbum(server, anna, ['', 'two of three'], 3);
  await server.say(anna, 'done');
  expect((await heard(3)).map(({ text, isContext }) => [text, isContext])).toEqual([
    ['', true],
    ['two of three', false],
    ['done', false],
  ]);
});

test('an album that the host could not store is whole again after a restart', async () => {
  const tried = Promise.withResolvers<void>();
  linked.beforeStored = async () => {
    tried.resolve();
    throw new Error('the disk is full');
  };
  await sendAlbum(server, anna, ['', 'which one?']);
  await tried.promise;
  await linked.channel.disconnect();
  linked.beforeStored = async () => {};
  await linked.restart();
  expect((await heard(2)).map(({ text, isContext }) => [text, isContext])).toEqual([
    ['', true],
    ['which one?', false],
  ]);
});
