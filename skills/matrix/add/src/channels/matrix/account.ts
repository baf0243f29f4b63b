import type { ChannelClock, ChannelEvents, ChannelLog, FetchedAttachment } from '../channel.ts';
import type { PartDelivery } from '../kit/part-delivery.ts';
import type { SentMessages } from '../kit/sent-messages.ts';
import { MatrixApi, pathOf } from './api.ts';
import { createDelivery, type Sending, takeBack, transactionOf } from './delivery.ts';
import { Encryption, KEYS_LOST } from './encryption/encryption.ts';
import { fetchFile } from './files.ts';
import { askWho, displayNameOf } from './identity.ts';
import { Inbox } from './inbound/inbox.ts';
import { Members } from './inbound/members.ts';
import { Rooms } from './inbound/rooms.ts';
import { roomIdOf } from './jid.ts';
import type { Books } from './records/books.ts';
import type { FileReference } from './records/file-references.ts';
import { openSession } from './session.ts';
import type { MatrixSettings } from './settings.ts';

const TYPING_MS = 30_000;

export type AccountOptions = {
  readonly settings: MatrixSettings;
  readonly assistantName: string;
  readonly log: ChannelLog;
  readonly clock: ChannelClock;
  readonly books: Books;
  readonly sent: SentMessages;
};

/** An account that is logged in, over all its connections. */
export type Account = {
  readonly delivery: PartDelivery<Sending>;
  readonly takeBack: (jid: string, id: string) => Promise<void>;
  readonly fetchFile: (file: FileReference, folder: string) => Promise<FetchedAttachment>;
  readonly showTyping: (jid: string, isTyping: boolean) => Promise<void>;
  /** Takes in what people write, until the signal is aborted or something fails. `detail` is for the owner. */
  readonly listen: (
    events: ChannelEvents,
    signal: AbortSignal,
  ) => Promise<{ readonly closed: Promise<void>; readonly detail: string | null }>;
  readonly close: () => Promise<void>;
};

/**
 * Asks the homeserver who the account is.
 *
 * @throws MatrixFailure
 */
export async function openAccount(options: AccountOptions): Promise<Account> {
  const { settings, assistantName, log, clock, books, sent } = options;
  const api = new MatrixApi(settings);
  const device = await askWho(api);
  const { userId } = device;
  const displayName = await displayNameOf(api, userId);
  const { isEncrypting: isOn } = settings;
  const encryption = new Encryption({ api, records: books.keys, device, isOn, log });
  const members = new Members(api);
  const rooms = new Rooms(api, books.rooms, members);
  const { questions, position, attempts } = books;
  const ways = { api, clock, sent, attempts, rooms, members, encryption, questions };
  const delivery = createDelivery(ways);
  const parts = { api, settings, rooms, encryption };
  const say = teller({ api, rooms, members, encryption, log });
  const me = { userId, displayName, assistantName };
  return {
    delivery,
    takeBack: (jid, id) => takeBack(ways, { jid, id }, delivery.signal),
    fetchFile: (file, folder) =>
      fetchFile({ api, encryption, folder, signal: delivery.signal }, file),
    async showTyping(jid, isTyping) {
      const roomId = roomIdOf(jid);
      if (roomId === null) return;
      const body = isTyping ? { typing: true, timeout: TYPING_MS } : { typing: false };
      const { signal } = delivery;
      await api.call('PUT', pathOf`/rooms/${roomId}/typing/${userId}`, { body, signal });
    },
    async listen(events, signal) {
      // Keys that are there are used from the first answer on.
      if (books.keys.device() !== null || books.rooms.hasEncrypted()) await encryption.open();
      const inbox = new Inbox({ ...parts, events, me, log, clock, books, members, sent, say });
      const account = `${settings.homeserver} ${userId} ${device.deviceId}`;
      const more = { events, userId, account, position, inbox, signal };
      const { closed } = await openSession({ ...parts, ...more });
      return { closed, detail: isOn && encryption.problem !== null ? KEYS_LOST : null };
    },
    async close() {
      await delivery.close();
      await encryption.close();
    },
  };
}

/** Says a line of the channel's own in a room, once. Never rejects: it is a courtesy. */
function teller({
  api,
  rooms,
  members,
  encryption,
  log,
}: {
  readonly api: MatrixApi;
  readonly rooms: Rooms;
  readonly members: Members;
  readonly encryption: Encryption;
  readonly log: ChannelLog;
}) {
  return async (roomId: string, id: string, text: string): Promise<void> => {
    const content = { msgtype: 'm.notice', body: text };
    try {
      const { isEncrypted } = rooms.of(roomId);
      const machine = isEncrypted ? await encryption.machine() : null;
      // In the clear goes only that an encrypted room cannot be read.
      if (isEncrypted && machine === null && encryption.problem === null) return;
      const event = { type: 'm.room.message', content };
      const locked = await machine?.encrypt(roomId, event, await members.of(roomId));
      const type = locked === undefined ? event.type : 'm.room.encrypted';
      const path = pathOf`/rooms/${roomId}/send/${type}/${transactionOf(id)}`;
      await api.call('PUT', path, { body: locked ?? content });
    } catch (error) {
      log.warn('a line could not be said in a room', { cause: String(error) });
    }
  };
}
