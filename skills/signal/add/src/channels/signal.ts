import { z } from 'zod';
import {
  type Channel,
  type ChannelContext,
  type ChannelEvents,
  type ChannelStatus,
  defineChannel,
  type FetchedAttachment,
  type OutboundMessage,
  type Person,
} from './channel.ts';
import { backoffMs } from './kit/backoff.ts';
import { Connection } from './kit/connection.ts';
import { dropFetched } from './kit/fetched-file.ts';
import type { PartDelivery } from './kit/part-delivery.ts';
import { allowListProblem } from './signal/access.ts';
import { CAPABILITIES, createDelivery, receiverOf, type Sending } from './signal/delivery.ts';
import { type EventStream, openEvents } from './signal/event-stream.ts';
import { explainConnect, SignalError } from './signal/failure.ts';
import { fetchedFolder, fetchFile } from './signal/files.ts';
import { Inbox } from './signal/inbox.ts';
import { addressIn, directJid, receiverIn } from './signal/jid.ts';
import type { Me } from './signal/people.ts';
import { openRecords, type Records } from './signal/records.ts';
import { type CallRpc, rpcAt } from './signal/rpc.ts';
import { accountOf, SignalEnvironment, type SignalSettings } from './signal/settings.ts';

const QUICK_MS = 10_000;

/** Signal through a signal-cli of the owner's. Silent until SIGNAL_ACCOUNT is set. */
export const channel = defineChannel({
  name: 'signal',
  needs: ['SIGNAL_ACCOUNT'],
  settings: SignalEnvironment,
  create({ settings, openDatabase, ...context }) {
    const account = accountOf(settings);
    if (account === null) return null;
    const records = openRecords(openDatabase, context.clock.now);
    return new SignalChannel(account, { ...context, records });
  },
});

type Parts = Pick<ChannelContext, 'assistantName' | 'log' | 'clock' | 'dataDir'> & {
  readonly records: Records;
};

/** In every state but `stopped` the channel goes on trying by itself, unless the allow-list is wrong. */
class SignalChannel implements Channel {
  readonly name = 'signal';
  readonly allowSetting = 'SIGNAL_ALLOW_FROM';
  readonly capabilities = CAPABILITIES;
  readonly #settings: SignalSettings;
  readonly #parts: Parts;
  readonly #call: CallRpc;
  /** For what may go without an answer. */
  readonly #ask: CallRpc;
  readonly #me: Me;
  readonly #inbox: Inbox;
  readonly #connection: Connection;
  #delivery: PartDelivery<Sending> | null = null;
  #stop = new AbortController();

  constructor(settings: SignalSettings, parts: Parts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#call = rpcAt(settings.url);
    this.#ask = rpcAt(settings.url, QUICK_MS);
    this.#me = { account: settings.account, uuid: null };
    this.#inbox = new Inbox({ ...parts, settings, me: this.#me });
    this.#connection = new Connection({
      title: 'signal-cli',
      clock: parts.clock,
      problem: allowListProblem(settings.allowFrom),
      explain: (error) => explainConnect(settings.account, error),
      open: (events, signal) => this.#open(events, signal),
    });
  }

  async connect(events: ChannelEvents): Promise<void> {
    dropFetched(fetchedFolder(this.#parts.dataDir));
    this.#stop = new AbortController();
    this.#delivery ??= this.#createDelivery();
    await this.#connection.connect(events);
  }

  async disconnect(): Promise<void> {
    const delivery = this.#delivery;
    this.#delivery = null;
    this.#stop.abort();
    await Promise.all([this.#connection.disconnect(), delivery?.close()]);
  }

  async send(message: OutboundMessage): Promise<void> {
    if (this.#delivery === null) throw notConnected();
    await this.#delivery.send(message);
  }

  /** Apps show it for 15 seconds. */
  async setTyping(jid: string, isTyping: boolean): Promise<void> {
    if (this.#delivery === null || this.#connection.status().state !== 'connected') return;
    const { account } = this.#settings;
    const { notifySelf: _, ...receiver } = receiverOf(jid, account);
    await this.#ask('sendTyping', { account, ...receiver, stop: !isTyping }, this.#stop.signal);
  }

  ownsJid(jid: string): boolean {
    return receiverIn(jid) !== null;
  }

  /** By their UUID, which stays theirs: under it they write, whatever their number is. */
  personOf(typed: string): Person | null {
    const wanted = typed.trim().replace(/^signal:/, '');
    const id = wanted.startsWith('+') ? null : addressIn(wanted);
    return id === null ? null : { sender: id, chat: directJid(id) };
  }

  status(): ChannelStatus {
    return this.#connection.status();
  }

  async fetchAttachment(jid: string, messageId: string): Promise<FetchedAttachment> {
    const { records, dataDir } = this.#parts;
    const file = records.files.of(jid, messageId);
    if (file === null) {
      const text = `The file of message ${messageId} is not known any more. Ask for it to be sent again.`;
      throw new SignalError('FILE_UNKNOWN', text);
    }
    const folder = fetchedFolder(dataDir);
    const { account } = this.#settings;
    const { signal } = this.#stop;
    return await fetchFile({ call: this.#call, account, folder, signal }, jid, file);
  }

  forgetChat(jid: string): void {
    this.#parts.records.forgetChat(jid);
  }

  async #open(events: ChannelEvents, signal: AbortSignal) {
    const { url, account } = this.#settings;
    const address = `${url}/api/v1/events?account=${encodeURIComponent(account)}`;
    const stream = await openEvents(address, signal);
    await this.#learnUuid(signal);
    return { closed: this.#receive(stream, events, signal) };
  }

  /**
   * Keeps what comes as soon as it comes, and hands it over beside that. A host that cannot store leaves the stream
   * open: what is on its way in it would be lost.
   */
  async #receive(stream: EventStream, events: ChannelEvents, stop: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const signal = AbortSignal.any([stop, ended.signal]);
    let handing = this.#handOver(events, signal);
    try {
      for await (const event of stream.events) {
        this.#inbox.keep(event);
        handing = handing.then(() => this.#handOver(events, signal));
      }
    } finally {
      ended.abort();
      stream.close();
      await handing;
    }
  }

  /** Never rejects: what is not stored is offered again, until the connection ends. */
  async #handOver(events: ChannelEvents, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        return await this.#inbox.handOver(events);
      } catch (error) {
        const { message, cause } = error instanceof Error ? error : new Error(String(error));
        const reason = cause instanceof Error ? cause.message : message;
        log.warn('a message of Signal could not be stored; it is offered again', { reason });
        await clock.pause(backoffMs(failures, clock.random()), signal);
      }
    }
  }

  /** People may mention the account by its UUID alone. Without an answer only its number counts. */
  async #learnUuid(signal: AbortSignal): Promise<void> {
    if (this.#me.uuid !== null) return;
    const { account } = this.#settings;
    const Contacts = z.array(z.looseObject({ uuid: z.string().nullish() }));
    try {
      const params = { account, recipient: [account], allRecipients: true };
      const [me] = Contacts.parse(await this.#ask('listContacts', params, signal));
      this.#me.uuid = me?.uuid?.toLowerCase() ?? null;
    } catch {
      this.#parts.log.info('signal-cli did not tell the UUID of the account');
    }
  }

  #createDelivery(): PartDelivery<Sending> {
    const { clock, log, records } = this.#parts;
    const { account } = this.#settings;
    const checkConnected = () => {
      if (this.#connection.status().state !== 'connected') throw notConnected();
    };
    return createDelivery({ clock, log, records, account, call: this.#call, checkConnected });
  }
}

function notConnected(): SignalError {
  const text = 'signal-cli is not connected; the message was not sent.';
  return new SignalError('NOT_CONNECTED', text);
}
