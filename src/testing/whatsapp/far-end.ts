import type { Channel, ChannelContext } from '../../channels/channel.ts';
import { pair } from '../../channels/whatsapp/session/pairing.ts';
import { WhatsAppChannel } from '../../channels/whatsapp.ts';
import type { FarEnd, Person as Who } from '../channel/far-end.ts';
import { sendContent } from './content.ts';
import { CLOCK, endpointOf } from './linked-channel.ts';
import type { Person } from './people/person.ts';
import { startWhatsAppServer, type WhatsAppServer } from './server.ts';

const FAMILY = '120363000000000001@g.us';

/** Starts WhatsApp with an account that is paired, for the rules that every channel keeps. */
export async function startWhatsAppFarEnd(dataDir: string): Promise<FarEnd> {
  const server = await startWhatsAppServer();
  const person = (phoneNumber: string, lidNumber: string, name: string) =>
    server.person({ phoneNumber, lidNumber, name });
  const ada = person('4915111111111', '100000000001', 'Ada');
  const eve = person('4915122222222', '100000000002', 'Eve');
  const members = [ada, eve];
  server.group({ jid: FAMILY, subject: 'Family', addressing: 'lid', members });
  await link(server, dataDir);
  return farEndOf(server, { ada, eve });
}

async function link(server: WhatsAppServer, dataDir: string): Promise<void> {
  await pair({
    dataDir,
    method: {
      kind: 'qr',
      show: (qr) => void server.pairing().then((pairing) => pairing.scan(qr)),
    },
    log: { info: () => {}, warn: () => {} },
    clock: CLOCK,
    signal: new AbortController().signal,
    isAgain: false,
    endpoint: endpointOf(server),
  });
}

type People = { readonly ada: Person; readonly eve: Person };

function farEndOf(server: WhatsAppServer, { ada, eve }: People): FarEnd {
  const family = server.groups.find(({ jid }) => jid === FAMILY);
  let last = Promise.resolve('');
  const say: WhatsAppServer['say'] = (speaker, message, saying) => {
    last = server.say(speaker, message, saying);
    return last;
  };
  const changed = async (type: 0 | 14, text: string) => {
    const key = { id: await last, fromMe: true, remoteJid: ada.lid };
    const editedMessage = type === 14 ? { editedMessage: { conversation: text } } : {};
    await server.say(ada, { protocolMessage: { type, key, ...editedMessage } });
  };
  return {
    create: (context) => channelAt(server, context),
    friendTyped: ['+49 (151) 1111-1111', '4915111111111', ada.pn, ada.lid],
    jidOf: (place) => (place === 'direct' ? ada.pn : FAMILY),
    sendText: (from: Who, place, text) =>
      say(from === 'friend' ? ada : eve, text, {
        ...(place === 'group' && family !== undefined ? { group: family } : {}),
      }),
    // A phone shows what comes twice under one id once.
    sent: () =>
      [...new Map(ada.read.map((message) => [message.id, message])).values()].map(
        ({ to, text }) => ({ place: to === FAMILY ? 'group' : 'direct', text }),
      ),
    waiting: () => server.mailbox.size,
    goDown: async () => {
      server.isAway = true;
    },
    comeUp: async () => {
      server.isAway = false;
    },
    revoke: () => server.logOut(),
    loseNext: () => {
      server.losesNext = true;
    },
    sendHalf: () => server.sendHalf(),
    // Protobuf writes half a character as three bytes that are no UTF-8.
    sendInvalid: () => server.say(ada, 'broken \ud83d here'),
    forward: (text) =>
      server.say(ada, {
        extendedTextMessage: { text, contextInfo: { isForwarded: true, forwardingScore: 1 } },
      }),
    sendContent: (kind, channel) => sendContent(server, { ada, eve }, kind, channel),
    edit: (text) => changed(14, text),
    remove: () => changed(0, ''),
    sendFile: (fileName, fileLength) =>
      server.say(ada, {
        documentMessage: { fileName, fileLength, mimetype: 'video/mp4', directPath: '/media/none' },
      }),
    async [Symbol.asyncDispose]() {
      await server.close();
    },
  };
}

function channelAt(server: WhatsAppServer, context: ChannelContext): Channel {
  const { assistantName, dataDir, log, clock } = context;
  const settings = { assistantName, dataDir, owner: null };
  return new WhatsAppChannel({ settings, log, clock }, endpointOf(server, { timeScale: 1 }));
}
