import { z } from 'zod';
import { readPhoneNumber, type TypedNumber } from '../lib/phone-number.ts';
import { PhoneNumber } from '../lib/setting-values.ts';
import {
  type Channel,
  type ChannelCapabilities,
  type ChannelClock,
  type ChannelEvents,
  type ChannelLog,
  type ChannelStatus,
  defineChannel,
  type FetchedAttachment,
  type OutboundMessage,
  type Pairing,
  type Person,
} from './channel.ts';
import { WhatsAppError } from './whatsapp/failure.ts';
import { addressOf } from './whatsapp/inbound/addresses.ts';
import { LONGEST_OPTION, MOST_OPTIONS } from './whatsapp/outbound/poll-limits.ts';
import type { Endpoint } from './whatsapp/session/endpoint.ts';
import { forgetChat, hasLinkDatabase, openLinkDatabase } from './whatsapp/session/link-database.ts';
import { UNPAIRED } from './whatsapp/session/outcome.ts';
import type { Link, LinkSettings } from './whatsapp/session/session.ts';

const Environment = z.object({
  // The owner's phone number, where the WhatsApp account is the assistant's own.
  WHATSAPP_OWNER: PhoneNumber.optional(),
});

/** WhatsApp as a device linked to the owner's phone. Silent until `claw setup whatsapp` has paired it. */
export const channel = defineChannel({
  name: 'whatsapp',
  settings: Environment,
  create: ({ settings: { WHATSAPP_OWNER: owner }, assistantName, dataDir, log, clock }) => {
    const settings = { assistantName, dataDir, owner: owner ?? null };
    return new WhatsAppChannel({ settings, log, clock }, null);
  },
});

type Context = {
  readonly settings: LinkSettings;
  readonly log: ChannelLog;
  readonly clock: ChannelClock;
};

const IN_USE_MS = 10_000;

/** WhatsApp takes more; what the host sends is smaller. */
const CAPABILITIES: ChannelCapabilities = {
  attachments: { maxBytes: 100_000_000 },
  replyTo: true,
  choices: { most: MOST_OPTIONS, longest: LONGEST_OPTION, isBesideText: true },
  reactions: true,
  edits: true,
};

const PAIRING: Pairing = {
  title: 'WhatsApp',
  optionsOf: (typed) => (typed === '' ? [] : [`--phone=${typed}`]),
  wrongUse: (typed) =>
    `“${typed}” is not a phone number with its country code. Say \`/pair\` for a QR code, or \`/pair +49 151 23456789\` for a code to type.`,
};

/**
 * `unpaired` and `refused` stay until the owner has done something and restarted; in `connecting` and
 * `failed` the channel goes on trying by itself.
 */
export class WhatsAppChannel implements Channel {
  readonly name = 'whatsapp';
  readonly isOpen = true;
  readonly pairing = PAIRING;
  readonly greetingHint = '/pair links WhatsApp';
  readonly capabilities = CAPABILITIES;
  readonly #context: Context;
  readonly #endpoint: Endpoint | null;
  #status: ChannelStatus = UNPAIRED;
  #link: Link | null = null;
  #again: NodeJS.Timeout | undefined;
  #closing: Promise<void> = Promise.resolve();

  /** @param endpoint another endpoint than WhatsApp's own, for tests */
  constructor(context: Context, endpoint: Endpoint | null) {
    this.#context = context;
    this.#endpoint = endpoint;
  }

  async connect(events: ChannelEvents): Promise<void> {
    const { settings } = this.#context;
    if (this.#link !== null || !hasLinkDatabase(settings.dataDir)) return;
    const { promise: isDecided, resolve } = Promise.withResolvers<void>();
    const onStatus = (status: ChannelStatus): void => {
      this.#report(events, status);
      if (status.state !== 'connecting' || status.detail !== null) resolve();
    };
    onStatus({ state: 'connecting', detail: null });
    await this.#open(events, onStatus);
    await isDecided;
  }

  async #open(events: ChannelEvents, onStatus: (status: ChannelStatus) => void): Promise<void> {
    const { settings, log, clock } = this.#context;
    try {
      const { openLink } = await import('./whatsapp/session/link.ts');
      this.#link = await openLink({
        settings,
        endpoint: this.#endpoint,
        events: { ...events, onStatus },
        log,
        clock,
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      onStatus({ state: 'failed', detail: reason });
      // The former assistant may still be closing, or a pairing may be under way.
      const isTransient = error instanceof WhatsAppError && error.code === 'IN_USE';
      const waitMs = IN_USE_MS * (this.#endpoint?.timeScale ?? 1);
      if (isTransient) this.#again = setTimeout(() => void this.#open(events, onStatus), waitMs);
    }
  }

  async disconnect(): Promise<void> {
    clearTimeout(this.#again);
    await this.#closing;
    const link = this.#link;
    if (link === null) return;
    this.#link = null;
    await link.close();
    this.#status = { state: 'stopped', detail: null };
  }

  async send(message: OutboundMessage): Promise<void> {
    await this.#opened().send(message);
  }

  async setTyping(jid: string, isTyping: boolean): Promise<void> {
    await this.#link?.setTyping(jid, isTyping);
  }

  async fetchAttachment(jid: string, messageId: string): Promise<FetchedAttachment> {
    return await this.#opened().fetchAttachment(jid, messageId);
  }

  forgetChat(jid: string): void {
    const { settings, clock } = this.#context;
    const { dataDir } = settings;
    if (this.#link !== null) this.#link.forgetChat(jid);
    else if (hasLinkDatabase(dataDir)) {
      const linkDatabase = openLinkDatabase(dataDir, clock.now);
      try {
        forgetChat(linkDatabase, jid);
      } finally {
        linkDatabase.close();
      }
    }
  }

  ownsJid(jid: string): boolean {
    return /^[^:@]+@(g\.us|s\.whatsapp\.net|lid)$/.test(jid);
  }

  personOf(typed: string): Person | null {
    const number = this.#numberIn(typed);
    const jid = number.kind === 'number' ? addressOf(number.digits) : typed.trim();
    if (!this.ownsJid(jid) || jid.endsWith('@g.us')) return null;
    const sender = this.#link?.chatOf(jid) ?? jid;
    return { sender, chat: sender };
  }

  missingIn(typed: string): string | null {
    const number = this.#numberIn(typed);
    return number.kind === 'no country' ? number.problem : null;
  }

  status(): ChannelStatus {
    return this.#status;
  }

  #numberIn(typed: string): TypedNumber {
    return readPhoneNumber(typed, this.#context.settings.owner ?? this.#link?.ownNumber() ?? null);
  }

  /** Closes the link, so that the next pairing can open its files. */
  #letGo(): void {
    const link = this.#link;
    this.#link = null;
    if (link === null) return;
    this.#closing = link.close().catch((error: unknown) => {
      this.#context.log.warn('the link to WhatsApp was not closed', { error: String(error) });
    });
  }

  #opened(): Link {
    if (this.#link !== null) return this.#link;
    throw new WhatsAppError('NOT_CONNECTED', 'WhatsApp is not connected.');
  }

  #report(events: ChannelEvents, status: ChannelStatus): void {
    const { state, detail } = this.#status;
    if (state === status.state && detail === status.detail) return;
    this.#status = status;
    if (status.state === 'unpaired') this.#letGo();
    // A channel that was never paired is no trouble, even if a pairing was broken off.
    if (status !== UNPAIRED) events.onStatus(status);
  }
}
