import type { WASocket } from '@whiskeysockets/baileys';
import type { Settings } from '../../config.ts';
import type { ChannelEvents, ChannelLog, FetchedAttachment, OutboundMessage } from '../channel.ts';
import { addressesIn, addressOf } from './addresses.ts';
import { Arrivals } from './arrivals.ts';
import { type Baileys, loadBaileys } from './baileys.ts';
import { stayConnected } from './connection.ts';
import { credentialsIn, hasPairing } from './credentials.ts';
import { DELIVERY_PACE, Delivery, type DeliveryPace } from './delivery.ts';
import { inboxIn } from './inbox.ts';
import { type MediaOptions, mediaIn } from './media.ts';
import type { Reader } from './message.ts';
import { Names } from './names.ts';
import { UNPAIRED } from './outcome.ts';
import { sentIn } from './sent.ts';
import { openSocket, WHATSAPP_SOCKET } from './socket.ts';
import { Typing } from './typing.ts';
import { openVault } from './vault.ts';
import { fetchVersion, keepVersion, versionIn, type WebVersion } from './version.ts';

/** The far end, and how fast we are with it. */
export type FarEnd = {
  readonly socketUrl: string;
  readonly media: MediaOptions;
  readonly pace: DeliveryPace;
  readonly fetchVersion: (baileys: Baileys) => Promise<WebVersion | null>;
  /** Scales the pauses between attempts to connect. */
  readonly slowness: number;
};

/** What exists from `connect` to `disconnect`, once the assistant is paired. */
export interface Link {
  send(message: OutboundMessage): Promise<void>;
  setTyping(jid: string, isTyping: boolean): Promise<void>;
  fetchAttachment(jid: string, messageId: string): Promise<FetchedAttachment>;
  /** The address that a person goes by, or the given one. */
  chatOf(jid: string): string;
  close(): Promise<void>;
}

export type LinkOptions = {
  readonly settings: Pick<Settings, 'dataDir' | 'whatsappOwner'>;
  /** Null for WhatsApp's own. */
  readonly far: FarEnd | null;
  readonly events: ChannelEvents;
  readonly log: ChannelLog;
};

const CLOSE_MS = 5_000;

const WHATSAPP: FarEnd = {
  socketUrl: WHATSAPP_SOCKET,
  media: { url: 'https://mmg.whatsapp.net', limitBytes: 20_000_000 },
  pace: DELIVERY_PACE,
  fetchVersion,
  slowness: 1,
};

/**
 * Opens what is kept of the pairing and begins to connect; how that goes is told by status.
 *
 * @returns null where there is no pairing, which the status says
 * @throws WhatsAppError IN_USE
 */
export async function openLink(options: LinkOptions): Promise<Link | null> {
  const { settings, events, log } = options;
  const far = options.far ?? WHATSAPP;
  const vault = openVault(settings.dataDir, Date.now());
  if (!hasPairing(vault)) {
    vault.close();
    events.onStatus(UNPAIRED);
    return null;
  }
  const baileys = await loadBaileys();
  const credentials = credentialsIn(vault, baileys);
  const stop = new AbortController();
  const inbox = inboxIn(vault, baileys);
  const addresses = addressesIn(vault);
  const sent = sentIn(vault);
  const media = mediaIn(vault, baileys, far.media);
  const auth = credentials.state(inbox);
  const names = new Names(addresses, (chat) => {
    events.onChat(chat).catch((error: unknown) => {
      log.warn('the name of a group was not stored', { error: String(error) });
    });
  });
  const arrivals = new Arrivals({
    events,
    inbox,
    media,
    reader,
    phoneOf: async (lid) => (await current?.signalRepository.lidMapping.getPNForLID(lid)) ?? null,
    log,
    signal: stop.signal,
  });
  let current: WASocket | null = null;
  const left = await inbox.unsettled();
  const delivery = new Delivery({ socket: () => current, sent, pace: far.pace });
  const typing = new Typing(() => current);

  function reader(): Reader {
    const { id = '', lid } = auth.creds.me ?? {};
    const self = addresses.chatOf(id, lid);
    return {
      addresses,
      self,
      owner:
        settings.whatsappOwner === null
          ? self
          : addresses.chatOf(addressOf(settings.whatsappOwner)),
      nameOf: (person) => names.personOf(person),
      chatNameOf: (chat) => names.groupOf(chat),
      ourText: sent.textOf,
      unwrap: baileys.normalizeMessageContent,
    };
  }

  function open(): WASocket {
    const version = versionIn(vault, baileys);
    const { socketUrl: url } = far;
    const { textOf } = sent;
    const membersOf = (jid: string) => names.membersOf(jid);
    const socket = openSocket({ baileys, url, version, auth, inbox, log, textOf, membersOf });
    socket.ev.on('creds.update', () => credentials.save(auth.creds));
    socket.ev.on('messages.upsert', ({ messages }) => {
      arrivals.take(messages.filter(({ key }) => sent.textOf(key.id ?? '') === null));
    });
    names.follow(socket);
    // Before anything that WhatsApp has for us: what was left over is older.
    socket.ws.once('CB:success', () => {
      for (const node of left.splice(0)) socket.ws.emit('CB:message', node);
    });
    return socket;
  }

  function use(socket: WASocket | null): void {
    current = socket;
    if (socket === null) return;
    // Names arrive as an event.
    socket.groupFetchAllParticipating().catch((error: unknown) => {
      log.info('the names of groups were not fetched', { error: String(error) });
    });
    learnOwner(socket).catch((error: unknown) => {
      log.info('the owner’s LID was not fetched', { error: String(error) });
    });
  }

  /** An owner with another account may write under an address that nobody has heard of. */
  async function learnOwner({ signalRepository }: WASocket): Promise<void> {
    if (settings.whatsappOwner === null) return;
    const phone = addressOf(settings.whatsappOwner);
    const lid = await signalRepository.lidMapping.getLIDForPN(phone);
    if (lid !== null) addresses.join(phone, lid);
  }

  async function refreshVersion(): Promise<boolean> {
    const version = await far.fetchVersion(baileys).catch(() => null);
    if (version === null || version[2] <= versionIn(vault, baileys)[2]) return false;
    keepVersion(vault, version);
    return true;
  }

  const { owner, self } = reader();
  await events.onChat({
    jid: owner,
    name: owner === self ? 'Me' : 'Owner',
    isDirect: true,
    isOwners: true,
  });
  const connecting = stayConnected({
    signal: stop.signal,
    open,
    use,
    report: events.onStatus,
    refreshVersion,
    markRemoved: () => credentials.markRemoved(),
    slowness: far.slowness,
  });

  return {
    send: (message) => delivery.send(message),
    setTyping: (jid, isTyping) => typing.set(jid, isTyping),
    fetchAttachment: (jid, messageId) => media.fetch(jid, messageId),
    chatOf: (jid) => addresses.find(jid) ?? jid,
    async close() {
      await delivery.close(CLOSE_MS);
      stop.abort();
      await connecting;
      await arrivals.settled();
      inbox.flush();
      vault.close();
    },
  };
}
