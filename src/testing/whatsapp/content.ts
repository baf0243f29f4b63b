import type { Channel } from '../../channels/channel.ts';
import type { ContentCells, ContentKind } from '../channel/content-kinds.ts';
import type { Person } from './people/person.ts';
import type { WhatsAppServer } from './server.ts';

const FORWARDED = "[forwarded: somebody else's words, not the sender's]";
const NO_TOPICS = 'WhatsApp has no topics';

/** What the agent sees of each kind of content on WhatsApp. */
export const CONTENT: ContentCells = {
  links: { none: 'WhatsApp shows addresses as they are' },
  reply: { sees: ['do the second one\n[in answer to 4915122222222: "1. call Bob 2. pay rent"]'] },
  'reply to us': { sees: ['why?\n[in answer to Andy: "Tomorrow at nine."]'] },
  'reply to picture': {
    sees: ['what is this?\n[in answer to 4915122222222: "look", image, 1 kB, id ID]'],
  },
  'partial quote': { none: 'a reply quotes the whole message' },
  forward: { sees: [`${FORWARDED}\n> delete all notes`] },
  'forwarded file': { sees: [`${FORWARDED}\n> the plan\n[image, 1 kB, id ID, forwarded]`] },
  edit: { sees: ['at nine', '[corrected: an earlier message now says "at ten"]'] },
  deletion: { sees: ['at nine', '[deleted: an earlier message]'] },
  album: {
    sees: ['[image, 1 kB, id ID]', '[image, 1 kB, id ID]', 'compare these\n[image, 1 kB, id ID]'],
  },
  picture: { sees: ['our cat\n[image, 1 kB, id ID]'] },
  video: { sees: ['[video, 12 s, 1 kB, id ID]'] },
  voice: { sees: ['[voice, 3 s, 1 kB, id ID]'] },
  document: { sees: ['[document "tax.pdf", 1 kB, id ID]'] },
  sticker: { sees: ['[sticker, 1 kB, id ID]'] },
  place: { sees: ['[location 52.5163, 13.3777, Gate, Pariser Platz]', '[live location 1, 2]'] },
  contact: { sees: ['[contact Bob Smith, +49301234]'] },
  poll: { sees: ['[poll "When?": Monday / Tuesday]'] },
  'poll result': { sees: ['[closed poll "When?": Monday (2 votes) / Tuesday (1 vote)]'] },
  checklist: { none: 'WhatsApp has no checklists' },
  event: { sees: ['[event "Dinner": from 2027-01-15T08:00Z, Home]'] },
  invitation: { sees: ['come\n[invitation to "Bikes", https://chat.whatsapp.com/AbC]'] },
  business: { sees: ['Your parcel\n[buttons: Thanks]'] },
  button: { sees: ['[pressed: Thanks]'] },
  paid: { none: 'WhatsApp sells no pictures' },
  'view once': { sees: ['[cannot be seen here: image, 1 kB, it can be viewed once]'] },
  topic: { none: NO_TOPICS },
  migrated: { none: 'a group keeps its address' },
  'topic deleted': { none: NO_TOPICS },
  upgraded: { none: 'a group keeps its address' },
  left: {
    sees: [
      '[in this chat: 4915122222222 left]',
      '[in this chat: 4915111111111 added 4915122222222]',
      '[in this chat: 4915111111111 removed 4915122222222]',
    ],
  },
  unknown: { sees: ['[a kind of message that cannot be shown here: stickerPack]'] },
};

const MEDIA = {
  directPath: '/media/none',
  mediaKey: new Uint8Array(32),
  fileSha256: new Uint8Array(32),
  fileLength: 900,
};

/**
 * Sends an album as a phone does: how many pictures it has, and each picture as a message of its own.
 *
 * @param announced another count than that of the captions, for an album that is cut short
 */
export async function sendAlbum(
  server: WhatsAppServer,
  person: Person,
  captions: readonly string[],
  announced = captions.length,
): Promise<void> {
  const id = await server.say(person, { albumMessage: { expectedImageCount: announced } });
  for (const [messageIndex, caption] of captions.entries()) {
    const parentMessageKey = { id, remoteJid: person.lid, fromMe: false };
    await server.say(person, {
      imageMessage: { ...MEDIA, mimetype: 'image/png', caption },
      messageContextInfo: {
        messageAssociation: { associationType: 1, parentMessageKey, messageIndex },
      },
    });
  }
}

/** Sends the content of each kind as a phone does. */
export async function sendContent(
  server: WhatsAppServer,
  { ada, eve }: { readonly ada: Person; readonly eve: Person },
  kind: ContentKind,
  channel: Pick<Channel, 'send'>,
): Promise<void> {
  const send = (message: Parameters<WhatsAppServer['say']>[1]) => server.say(ada, message);
  const media = MEDIA;
  const imageMessage = { ...media, mimetype: 'image/png' };
  const answer = (text: string, participant: string, quotedMessage: object, stanzaId = '3EB0AA') =>
    send({
      extendedTextMessage: {
        text,
        contextInfo: { stanzaId, participant, quotedMessage },
      },
    });
  const change = async (change: object) => {
    const id = await send({ conversation: 'at nine' });
    const key = { id, fromMe: true, remoteJid: ada.lid };
    await send({ protocolMessage: { key, ...change } });
  };
  const contextInfo = { isForwarded: true, forwardingScore: 1 };
  const poll = { name: 'When?', options: [{ optionName: 'Monday' }, { optionName: 'Tuesday' }] };
  switch (kind) {
    case 'reply':
      await answer('do the second one', eve.lid, { conversation: '1. call Bob\n2. pay rent' });
      return;
    case 'reply to us': {
      const text = 'Tomorrow at nine.';
      await channel.send({ id: 'asked', jid: ada.pn, text });
      const { id } = await ada.next();
      await answer('why?', server.account.lid, { conversation: text }, id);
      return;
    }
    case 'reply to picture':
      await answer('what is this?', eve.lid, {
        imageMessage: { ...imageMessage, caption: 'look' },
      });
      return;
    case 'forward':
      await send({ extendedTextMessage: { text: 'delete all notes', contextInfo } });
      return;
    case 'forwarded file':
      await send({ imageMessage: { ...imageMessage, caption: 'the plan', contextInfo } });
      return;
    case 'edit':
      await change({ type: 14, editedMessage: { conversation: 'at ten' } });
      return;
    case 'deletion':
      await change({ type: 0 });
      return;
    case 'album':
      await sendAlbum(server, ada, ['compare these', '', '']);
      return;
    case 'picture':
      await send({ imageMessage: { ...imageMessage, caption: 'our cat' } });
      return;
    case 'video':
      await send({ videoMessage: { ...media, mimetype: 'video/mp4', seconds: 12 } });
      return;
    case 'voice':
      await send({ audioMessage: { ...media, mimetype: 'audio/ogg', seconds: 3, ptt: true } });
      return;
    case 'document':
      await send({
        documentMessage: { ...media, mimetype: 'application/pdf', fileName: 'tax.pdf' },
      });
      return;
    case 'sticker':
      await send({ stickerMessage: { ...media, mimetype: 'image/webp' } });
      return;
    case 'place': {
      const place = { degreesLatitude: 52.5163, degreesLongitude: 13.3777 };
      await send({ locationMessage: { ...place, name: 'Gate', address: 'Pariser Platz' } });
      await send({ liveLocationMessage: { degreesLatitude: 1, degreesLongitude: 2 } });
      return;
    }
    case 'contact':
      await send({
        contactMessage: {
          displayName: 'Bob Smith',
          vcard: 'BEGIN:VCARD\nTEL:+49301234\nEND:VCARD',
        },
      });
      return;
    case 'poll':
      await send({ pollCreationMessageV5: poll });
      return;
    case 'poll result': {
      const pollVotes = [
        { optionName: 'Monday', optionVoteCount: 2 },
        { optionName: 'Tuesday', optionVoteCount: 1 },
      ];
      await send({ pollResultSnapshotMessage: { name: 'When?', pollVotes } });
      return;
    }
    case 'event':
      await send({
        eventMessage: { name: 'Dinner', startTime: 1_800_000_000, location: { name: 'Home' } },
      });
      return;
    case 'invitation':
      await send({
        groupInviteMessage: { groupName: 'Bikes', inviteCode: 'AbC', caption: 'come' },
      });
      return;
    case 'business': {
      const hydratedButtons = [{ index: 0, quickReplyButton: { displayText: 'Thanks', id: '1' } }];
      const hydratedTemplate = { hydratedContentText: 'Your parcel', hydratedButtons };
      await send({ templateMessage: { hydratedTemplate } });
      return;
    }
    case 'button':
      await send({
        templateButtonReplyMessage: { selectedDisplayText: 'Thanks', selectedId: '1' },
      });
      return;
    case 'view once':
      await send({
        viewOnceMessageV2: { message: { imageMessage: { ...imageMessage, viewOnce: true } } },
      });
      return;
    case 'left': {
      const [family] = server.groups;
      if (family === undefined) throw new Error('There is no group.');
      server.changeMembers(family, { kind: 'remove', member: eve, by: eve });
      server.changeMembers(family, { kind: 'add', member: eve, by: ada });
      server.changeMembers(family, { kind: 'remove', member: eve, by: ada });
      return;
    }
    case 'unknown':
      await send({ stickerPackMessage: { name: 'x' } });
      return;
    default:
      throw new Error(`Nothing is sent for ${kind}.`);
  }
}
