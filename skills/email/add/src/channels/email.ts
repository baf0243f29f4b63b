import { join } from 'node:path';
import {
  type Channel,
  type ChannelCapabilities,
  type ChannelContext,
  type ChannelEvents,
  type ChannelStatus,
  defineChannel,
  type FetchedAttachment,
  type OutboundMessage,
  type Person,
} from './channel.ts';
import { accountProblem } from './email/access.ts';
import { chatIn, jidOf, tagOf } from './email/addresses.ts';
import { EmailError, explainImap } from './email/failure.ts';
import type { Mailbox } from './email/mailbox.ts';
import { openRecords, type Records } from './email/records.ts';
import { accountOf, type EmailAccount, EmailEnvironment } from './email/settings.ts';
import { Connection } from './kit/connection.ts';
import { dropFetched } from './kit/fetched-file.ts';
import type { PartDelivery } from './kit/part-delivery.ts';

/** Mail, by an account of the assistant's own. Silent until address, password and servers are set. */
export const channel = defineChannel({
  name: 'email',
  needs: ['EMAIL_ADDRESS', 'EMAIL_PASSWORD', 'EMAIL_IMAP', 'EMAIL_SMTP'],
  settings: EmailEnvironment,
  create({ settings, openDatabase, ...context }) {
    const account = accountOf(settings);
    if (account === null) return null;
    return new EmailChannel(account, context, openRecords(openDatabase, context.clock.now));
  },
});

type Context = Pick<ChannelContext, 'assistantName' | 'clock' | 'dataDir' | 'log'>;

/** One account: its mailbox, and its server for outgoing mail. */
class EmailChannel implements Channel {
  readonly name = 'email';
  readonly allowSetting = 'EMAIL_ALLOW_FROM';
  readonly capabilities: ChannelCapabilities;
  readonly #account: EmailAccount;
  readonly #context: Context;
  readonly #records: Records;
  readonly #connection: Connection;
  readonly #folder: string;
  #mailbox: Mailbox | null = null;
  #events: ChannelEvents | null = null;
  #delivery: PartDelivery<OutboundMessage> | null = null;

  constructor(account: EmailAccount, context: Context, records: Records) {
    this.#account = account;
    this.#context = context;
    this.#records = records;
    this.#folder = join(context.dataDir, 'email', 'media');
    this.capabilities = {
      attachments: { maxBytes: account.maxFileBytes },
      thread: true,
      replyTo: true,
    };
    this.#connection = new Connection({
      title: 'The mail server',
      clock: context.clock,
      problem: accountProblem(account),
      explain: (error) => explainImap(error, account.imap),
      open: (events, signal) => this.#open(events, signal),
    });
  }

  async connect(events: ChannelEvents): Promise<void> {
    dropFetched(this.#folder);
    await this.#connection.connect(events);
  }

  async disconnect(): Promise<void> {
    await this.#delivery?.close();
    this.#delivery = null;
    await this.#connection.disconnect();
  }

  status(): ChannelStatus {
    return this.#connection.status();
  }

  async send(message: OutboundMessage): Promise<void> {
    const { state, detail } = this.#connection.status();
    if (state === 'stopped' || state === 'refused') {
      throw new EmailError(
        'NOT_CONNECTED',
        detail ?? 'The mail account is not connected; nothing was sent.',
      );
    }
    if (this.#delivery === null) {
      const { openDelivery } = await import('./email/outbound/delivery.ts');
      const { assistantName, clock } = this.#context;
      this.#delivery ??= openDelivery({
        account: this.#account,
        records: this.#records,
        clock,
        assistantName,
      });
    }
    await this.#delivery.send(message);
  }

  /** A mail has no sign for it. */
  async setTyping(_jid: string, _isTyping: boolean): Promise<void> {}

  ownsJid(jid: string): boolean {
    return chatIn(jid) !== null;
  }

  personOf(typed: string): Person | null {
    const address = typed
      .trim()
      .toLowerCase()
      .replace(/^email:/, '');
    const isMail = /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+$/.test(address);
    // The assistant's own address, and those of its groups, are nobody's.
    if (!isMail || tagOf(this.#account.address, address) !== null) return null;
    return { sender: address, chat: jidOf({ kind: 'person', address }) };
  }

  async fetchAttachment(jid: string, messageId: string): Promise<FetchedAttachment> {
    const place = this.#records.file(jid, messageId);
    const { fetchFile, gone } = await import('./email/fetch-file.ts');
    if (place === null) throw gone();
    const mailbox = this.#mailbox;
    const client = mailbox?.client ?? null;
    if (mailbox === null || client === null) {
      throw new EmailError('NOT_CONNECTED', 'The mail server is not connected. Try again later.');
    }
    if (place.uidValidity !== mailbox.uidValidity) throw gone();
    return await fetchFile(client, this.#folder, place);
  }

  forgetChat(jid: string): void {
    this.#records.forgetChat(jid);
  }

  async #open(events: ChannelEvents, signal: AbortSignal) {
    // The library takes a moment to load, which nobody without mail should wait for.
    const { Mailbox: Box } = await import('./email/mailbox.ts');
    const { log, clock } = this.#context;
    const others = { account: this.#account, records: this.#records, log, clock };
    this.#mailbox ??= new Box({
      ...others,
      take: async (mail, client) => {
        // What reads a mail is a third of the channel's memory: it is there from the first mail on.
        const { takeMail } = await import('./email/inbound/take-mail.ts');
        return await takeMail({ ...others, events: this.#events ?? events }, mail, client);
      },
    });
    this.#events = events;
    return await this.#mailbox.open(signal);
  }
}
