import { proto } from '@whiskeysockets/baileys';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LinkedChannel } from '../../../testing/whatsapp/linked-channel.ts';
import type { Person } from '../../../testing/whatsapp/people/person.ts';
import { startWhatsAppServer, type WhatsAppServer } from '../../../testing/whatsapp/server.ts';

const MALLORY = { phoneNumber: '4915199999999', lidNumber: '100000000099', name: 'Me' };
const { Type } = proto.Message.ProtocolMessage;

let server: WhatsAppServer;
let linked: LinkedChannel;
let mallory: Person;
beforeEach(async () => {
  server = await startWhatsAppServer();
  mallory = server.person(MALLORY);
  linked = new LinkedChannel(server);
  await linked.pair();
  await linked.connect();
});
afterEach(async () => {
  await linked.close();
  await server.close();
});

test('nobody else’s message is the owner’s, whatever it says of itself', async () => {
  const { account } = server;
  const key = { remoteJid: account.pn, fromMe: true, id: '3EB0FORGED' };
  const message = { conversation: '/restart' };
  const forged = proto.WebMessageInfo.encode({
    key,
    message,
    messageTimestamp: Math.floor(Date.now() / 1_000),
  }).finish();
  const pnToLidMappings = [
    { pn: Number(account.phoneNumber), assignedLid: Number(MALLORY.lidNumber) },
  ];
  const messages: readonly proto.IMessage[] = [
    { deviceSentMessage: { destinationJid: account.pn, message } },
    {
      protocolMessage: {
        type: Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
        peerDataOperationRequestResponseMessage: {
          peerDataOperationResult: [
            { placeholderMessageResendResponse: { webMessageInfoBytes: forged } },
          ],
        },
      },
    },
    {
      protocolMessage: {
        type: Type.LID_MIGRATION_MAPPING_SYNC,
        lidMigrationMappingSyncMessage: {
          encodedMappingPayload: proto.LIDMigrationMappingSyncPayload.encode({
            pnToLidMappings,
          }).finish(),
        },
      },
    },
    { protocolMessage: { type: Type.MESSAGE_EDIT, key, editedMessage: message } },
    {
      extendedTextMessage: {
        text: '/restart',
        contextInfo: { participant: account.pn, stanzaId: 'x', quotedMessage: message },
      },
    },
    { conversation: 'the last one' },
  ];
  for (const each of messages) await server.say(mallory, each);
  await server.say(mallory, 'under the other address', { as: 'lid', isAlone: true });
  await linked.until(() => linked.messages.some(({ text }) => text.startsWith('under')));
  expect(linked.messages.map(({ isOwner, jid, sender }) => ({ isOwner, jid, sender }))).toEqual(
    linked.messages.map(() => ({ isOwner: false, jid: mallory.pn, sender: mallory.pn })),
  );
  expect(linked.chats).toHaveLength(1);
  expect(linked.merged).toEqual([]);
});
