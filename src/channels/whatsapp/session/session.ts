import type { AuthenticationState, BinaryNode, WASocket } from '@whiskeysockets/baileys';
import type {
  ChannelClock,
  ChannelEvents,
  ChannelLog,
  FetchedAttachment,
  OutboundMessage,
} from '../../channel.ts';
import { type Addresses, addressOf, openAddresses } from '../inbound/addresses.ts';
import { InboundQueue } from '../inbound/inbound-queue.ts';
import type { Inbox } from '../inbound/inbox.ts';
import { type Media, openMedia } from '../inbound/media.ts';
import { chatMerger } from '../inbound/merge-chats.ts';
import type { Reader } from '../inbound/message.ts';
import { Names } from '../inbound/names.ts';
import { readReaction } from '../inbound/reaction.ts';
import { readVote } from '../inbound/vote.ts';
import type { CommitBeforeSend } from '../outbound/commit-before-send.ts';
import { Delivery } from '../outbound/delivery.ts';
import { openPolls, type Polls } from '../outbound/poll.ts';
import { openSent, type Sent, type SentContent } from '../outbound/sent.ts';
import { Typing } from '../outbound/typing.ts';
import type { Baileys } from './baileys.ts';
import { stayConnected } from './connection.ts';
import { type Credentials, openCredentials } from './credentials.ts';
import { type Endpoint, WHATSAPP } from './endpoint.ts';
import { forgetChat, type LinkDatabase } from './link-database.ts';
import { REMOVED } from './outcome.ts';
import { openSocket } from './socket.ts';
import { keepVersion, readVersion } from './version.ts';

/** The open link of a paired assistant, from `connect` to `disconnect`. */
export interface Link {
  send(message: OutboundMessage): Promise<void>;
  setTyping(jid: string, isTyping: boolean): Promise<void>;
  fetchAttachment(jid: string, messageId: string): Promise<FetchedAttachment>;
  /** Drops what is kept of a chat beside its address. */
  forgetChat(jid: string): void;
  /** The address that a person goes by, or the given one. */
  chatOf(jid: string): string;
  /** The number of the linked account, in digits; null where WhatsApp has not told it. */
  ownNumber(): string | null;
  close(): Promise<void>;
}

/** Settings of the link. */
export type LinkSettings = {
  readonly assistantName: string;
  readonly dataDir: string;
  /** The owner's phone number in digits, where the account is the assistant's own; null else. */
  readonly owner: string | null;
};

export type LinkOptions = {
  readonly settings: LinkSettings;
  /** Null for WhatsApp's own. */
  readonly endpoint: Endpoint | null;
  readonly events: ChannelEvents;
  readonly log: ChannelLog;
  readonly clock: ChannelClock;
};

const CLOSE_MS = 5_000;

type Parts = LinkOptions & {
  readonly linkDatabase: LinkDatabase;
  readonly baileys: Baileys;
  readonly inbox: Inbox;
  /** Messages that an earlier run decrypted, and that were not stored before it ended. */
  readonly notYetStored: BinaryNode[];
};

/** All that is kept of a pairing, and one connection after the other. */
export class WhatsAppSession implements Link {
  readonly #parts: Parts;
  readonly #endpoint: Endpoint;
  readonly #credentials: Credentials;
  readonly #auth: AuthenticationState;
  readonly #commits: CommitBeforeSend;
  readonly #addresses: Addresses;
  readonly #sent: Sent;
  readonly #polls: Polls;
  readonly #media: Media;
  readonly #names: Names;
  readonly #mergeChats: () => Promise<void>;
  readonly #inboundQueue: InboundQueue;
  readonly #delivery: Delivery;
  readonly #typing: Typing;
  readonly #stop = new AbortController();
  #socket: WASocket | null = null;
  #connecting: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    const { linkDatabase, baileys, inbox, events, log, clock } = parts;
    this.#parts = parts;
    this.#endpoint = parts.endpoint ?? WHATSAPP;
    this.#credentials = openCredentials(linkDatabase, baileys);
    const { auth, commits } = this.#credentials.gatheredState(inbox, log);
    this.#auth = auth;
    this.#commits = commits;
    this.#addresses = openAddresses(linkDatabase);
    this.#sent = openSent(linkDatabase);
    this.#polls = openPolls(linkDatabase);
    this.#media = openMedia(linkDatabase, baileys, this.#endpoint.media);
    this.#mergeChats = chatMerger(this.#addresses, events);
    const note = (what: string) => (error: unknown) => log.warn(what, { error: String(error) });
    this.#names = new Names(
      this.#addresses,
      (chat) => void events.onChat(chat).catch(note('the name of a group was not stored')),
      () => void this.#mergeChats().catch(note('two chats of one person were not made one')),
    );
    this.#inboundQueue = new InboundQueue({
      events,
      inbox,
      mergeChats: this.#mergeChats,
      media: this.#media,
      reader: () => this.#reader(),
      reactionIn: (raw) => readReaction(raw, this.#reader(), this.#sent),
      voteIn: (raw) => readVote(raw, this.#voteReader()),
      phoneOf: (lid) => this.#phoneOf(lid),
      clock,
      log,
      signal: this.#stop.signal,
    });
    const socket = (): WASocket | null => this.#socket;
    this.#delivery = new Delivery({
      socket,
      baileys,
      isSelf: (jid) => jid === this.#reader().self,
      sent: this.#sent,
      polls: this.#polls,
      pace: this.#endpoint.pace,
      clock,
    });
    this.#typing = new Typing(socket);
  }

  /** The owner's chat is known to the host before the first message in it. */
  async introduceOwner(): Promise<void> {
    const { owner: jid, self } = this.#reader();
    await this.#mergeChats();
    const name = jid === self ? 'Me' : 'Owner';
    await this.#parts.events.onChat({ jid, name, isDirect: true, isOwners: true });
  }

  start(): void {
    this.#connecting = stayConnected({
      signal: this.#stop.signal,
      open: () => this.#open(),
      use: (socket) => this.#use(socket),
      report: this.#parts.events.onStatus,
      refreshVersion: () => this.#refreshVersion(),
      markRemoved: () => {
        this.#credentials.markRemoved();
        this.#parts.log.info(REMOVED.detail ?? '');
      },
      timeScale: this.#endpoint.timeScale,
      clock: this.#parts.clock,
    });
  }

  send(message: OutboundMessage): Promise<void> {
    return this.#delivery.send(message);
  }

  setTyping(jid: string, isTyping: boolean): Promise<void> {
    return this.#typing.set(jid, isTyping);
  }

  fetchAttachment(jid: string, messageId: string): Promise<FetchedAttachment> {
    return this.#media.fetch(jid, messageId);
  }

  forgetChat(jid: string): void {
    this.#commits.flush();
    forgetChat(this.#parts.linkDatabase, jid);
  }

  chatOf(jid: string): string {
    return this.#addresses.find(jid) ?? jid;
  }

  ownNumber(): string | null {
    return /^(\d+)(?::\d+)?@s\.whatsapp\.net$/.exec(this.#auth.creds.me?.id ?? '')?.[1] ?? null;
  }

  async close(): Promise<void> {
    await this.#delivery.close(CLOSE_MS);
    this.#commits.flush();
    this.#stop.abort();
    await this.#connecting;
    await this.#inboundQueue.handedOver();
    this.#commits.close();
    this.#parts.inbox.flush();
    this.#parts.linkDatabase.close();
  }

  #open(): WASocket {
    const { linkDatabase, baileys, inbox, log, notYetStored } = this.#parts;
    const socket = openSocket({
      baileys,
      url: this.#endpoint.socketUrl,
      version: readVersion(linkDatabase, baileys),
      auth: this.#auth,
      inbox,
      commits: this.#commits,
      log,
      contentFor: (jid, id) => this.#contentFor(jid, id),
      uploadAgent: this.#endpoint.uploadAgent,
      membersOf: (jid) => this.#names.membersOf(jid),
    });
    socket.ev.on('creds.update', () => {
      // What the credentials count on is on disk before them.
      this.#commits.flush();
      this.#credentials.save(this.#auth.creds);
    });
    socket.ev.on('messages.upsert', ({ messages }) => {
      this.#inboundQueue.take(
        messages.filter(({ key }) => this.#sent.textOf(key.id ?? '') === null),
      );
    });
    this.#names.follow(socket);
    // Before anything that WhatsApp has for us: what was left over is older.
    socket.ws.once('CB:success', () => {
      for (const node of notYetStored.splice(0)) socket.ws.emit(`CB:${node.tag}`, node);
    });
    socket.ws.on('CB:notification', (node: BinaryNode) => inbox.keepNotice(node));
    return socket;
  }

  #use(socket: WASocket | null): void {
    this.#socket = socket;
    if (socket === null) return;
    const note = (error: unknown): void =>
      this.#parts.log.info('WhatsApp did not say who is who', { error: String(error) });
    // The names of groups arrive as an event.
    socket.groupFetchAllParticipating().catch(note);
    this.#learnOwner(socket).catch(note);
  }

  /** Learns the owner's other address, under which they may write from another account. */
  async #learnOwner({ signalRepository }: WASocket): Promise<void> {
    const { owner } = this.#parts.settings;
    if (owner === null) return;
    const phone = addressOf(owner);
    const lid = await signalRepository.lidMapping.getLIDForPN(phone);
    if (lid !== null) this.#addresses.join(phone, lid);
  }

  async #phoneOf(lid: string): Promise<string | null> {
    return (await this.#socket?.signalRepository.lidMapping.getPNForLID(lid)) ?? null;
  }

  /** Returns our message for a recipient that asks again, only to the chat that it was sent to. */
  async #contentFor(asking: string, id: string): Promise<SentContent | null> {
    const phone = asking.endsWith('@lid') ? await this.#phoneOf(asking) : null;
    if (phone !== null) this.#addresses.join(phone, asking);
    return this.#sent.contentIn(this.chatOf(asking), id);
  }

  async #refreshVersion(): Promise<boolean> {
    const { linkDatabase, baileys } = this.#parts;
    const version = await this.#endpoint.fetchVersion(baileys).catch(() => null);
    if (version === null || version[2] <= readVersion(linkDatabase, baileys)[2]) return false;
    keepVersion(linkDatabase, version);
    return true;
  }

  #voteReader() {
    const { id = '', lid } = this.#auth.creds.me ?? {};
    return {
      reader: this.#reader(),
      baileys: this.#parts.baileys,
      sent: this.#sent,
      polls: this.#polls,
      own: lid ? [id, lid] : [id],
    };
  }

  #reader(): Reader {
    const { id = '', lid } = this.#auth.creds.me ?? {};
    const { assistantName, owner } = this.#parts.settings;
    const self = this.#addresses.chatOf(id, lid);
    return {
      addresses: this.#addresses,
      self,
      owner: owner === null ? self : this.#addresses.chatOf(addressOf(owner)),
      assistantName,
      nameOf: (person) => this.#names.personOf(person),
      chatNameOf: (chat) => this.#names.groupOf(chat),
      ourText: this.#sent.textIn,
      unwrap: this.#parts.baileys.normalizeMessageContent,
    };
  }
}
