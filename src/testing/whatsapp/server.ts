import { type BinaryNode, Curve, type proto } from '@whiskeysockets/baileys';
import { silenceLibsignal } from '../../channels/whatsapp/session/baileys.ts';
import { admit, versionOf } from './connection/admission.ts';
import { trustTestRoot } from './connection/certificate.ts';
import { Line } from './connection/line.ts';
import { Loopback } from './connection/loopback.ts';
import type { ClientHello } from './connection/noise.ts';
import { Pairing } from './connection/pairing.ts';
import { InOrder } from './in-order.ts';
import { type Saying, stanzaFrom, stanzaFromPhone } from './incoming.ts';
import { Mailbox } from './mailbox.ts';
import { type MediaFile, sealMedia } from './media.ts';
import { node } from './node.ts';
import { deliver } from './outgoing.ts';
import type { WhatsAppGroup } from './people/group.ts';
import type { Person } from './people/person.ts';
import { World } from './people/world.ts';
import { answer } from './queries.ts';

/**
 * WhatsApp on loopback, for one account under test: a server that speaks its protocol, the phone that
 * owns the account, and people with sessions of their own who write to it and read what it sends.
 *
 * The far end is ours, everything in between is real: the handshake, the pairing, the encryption.
 */
export class WhatsAppServer extends World {
  readonly mailbox = new Mailbox();
  /** Web versions that were presented, oldest first. */
  readonly versions: string[] = [];
  /** Everything that the device sent, ids and tags, for tests that look at the order. */
  readonly sent: BinaryNode[] = [];
  /** Clients with another web version are told that theirs is too old; null takes all. */
  requiredVersion: string | null = null;
  /** While set, messages of the device are taken without a word. */
  isSilent = false;
  /** The next message of the device is delivered, and the line is cut instead of an answer. */
  losesNext = false;
  readonly #loopback: Loopback;
  /** Errors in here fail the test when it closes the server. */
  readonly #work = new InOrder();
  readonly #staticKey = Curve.generateKeyPair();
  #changes = 0;
  #line: Line | null = null;
  /** The line, once everything that waited for it has gone out: messages sent from now on come after that. */
  #live: Line | null = null;
  #pairing: Pairing | null = null;
  #onLogin: (() => void)[] = [];
  #onPairing: ((pairing: Pairing) => void)[] = [];

  constructor() {
    super();
    this.#loopback = new Loopback((socket) => {
      new Line(socket, this.#staticKey, {
        onHello: (line, hello) => this.#greet(line, hello),
        onNode: (line, received) => this.#work.run(() => this.#take(line, received)),
        onClose: (line) => {
          if (this.#line === line) this.#line = null;
          if (this.#live === line) this.#live = null;
        },
      });
    });
  }

  get url(): string {
    return this.#loopback.socketUrl;
  }

  /** Address from which the account fetches files. */
  get filesUrl(): string {
    return this.#loopback.filesUrl;
  }

  get filesHost(): string {
    return new URL(this.filesUrl).host;
  }

  async listen(): Promise<void> {
    await this.#loopback.open();
  }

  async close(): Promise<void> {
    this.#loopback.close();
    this.end();
    await this.#work.end();
  }

  /** The phone's part of pairing: waits for a device that wants to be paired. */
  pairing(): Promise<Pairing> {
    if (this.#pairing !== null) return Promise.resolve(this.#pairing);
    return new Promise((resolve) => this.#onPairing.push(resolve));
  }

  /** Resolves at the next login. */
  login(): Promise<void> {
    return new Promise((resolve) => this.#onLogin.push(resolve));
  }

  /** A person says something to the account, or in a group. @returns the message's id */
  say(speaker: Person, message: string | proto.IMessage, saying: Saying = {}): Promise<string> {
    const said = { message: contentOf(message), saying };
    return this.#work.run(() =>
      stanzaFrom(speaker, this.account, said).then((it) => this.#post(it)),
    );
  }

  /** The owner writes on the phone, in the chat with that address. */
  sayOnPhone(
    message: string | proto.IMessage,
    chat: string = this.account.pn,
    saying: Saying = {},
  ): Promise<string> {
    const said = { message: contentOf(message), saying };
    return this.#work.run(() =>
      stanzaFromPhone(this.account, chat, said).then((it) => this.#post(it)),
    );
  }

  /** Puts an encrypted file where the account can fetch it. */
  async upload(file: MediaFile) {
    const { path, content, fields } = await sealMedia(file);
    this.#loopback.keep(path, content);
    return { ...fields, directPath: path };
  }

  /** Renames a group, as a member of it, and tells the device. */
  rename(group: WhatsAppGroup, subject: string, by: Person): void {
    this.renamed(group, subject);
    const t = String(Math.floor(Date.now() / 1000));
    const attrs = {
      id: `rename-${subject}`,
      from: group.jid,
      participant: by.lid,
      type: 'w:gp2',
      t,
    };
    this.#line?.send(
      node('notification', attrs, [node('subject', { subject, s_t: t, s_o: by.lid })]),
    );
  }

  /** Somebody leaves a group, is removed from it or added to it, and the device is told. */
  changeMembers(
    group: WhatsAppGroup,
    { kind, member, by }: { kind: 'add' | 'remove'; member: Person; by: Person },
  ): void {
    this.#changes += 1;
    const attrs = {
      id: `members-${this.#changes}`,
      from: group.jid,
      participant: by.lid,
      participant_pn: by.pn,
      type: 'w:gp2',
      t: String(Math.floor(Date.now() / 1000)),
    };
    const participant = node('participant', { jid: member.lid, phone_number: member.pn });
    this.#line?.send(node('notification', attrs, [node(kind, {}, [participant])]));
  }

  /** Says that a message could not be read, and should be sent again, whosever it was. */
  askAgain(from: string, id: string): void {
    const t = String(Math.floor(Date.now() / 1000));
    const retry = node('retry', { count: '1', id, t, v: '1' });
    this.#line?.send(node('receipt', { id, from, type: 'retry', t }, [retry]));
  }

  /** The network breaks. */
  cut(): void {
    this.#line?.cut();
  }

  /** The network breaks, and stays so until it is set back. */
  set isAway(isAway: boolean) {
    this.#loopback.isAway = isAway;
  }

  /** Half of a message comes in, and then the network breaks. */
  sendHalf(): void {
    this.#line?.sendHalf(node('message', { id: 'half', from: this.account.lid, t: '1' }));
  }

  /** The owner removes the device on the phone. */
  logOut(): void {
    this.account.paired = null;
    this.#line?.send(
      node('stream:error', { code: '401' }, [node('conflict', { type: 'device_removed' })]),
    );
    this.#line?.close();
  }

  #greet(line: Line, hello: ClientHello): void {
    this.versions.push(versionOf(hello));
    const admission = admit(hello, this.account, this.requiredVersion);
    if (admission.kind === 'pair') this.#pair(line, hello.staticKey);
    else if (admission.kind === 'log in') this.#logIn(line);
    else {
      line.send(node('failure', { reason: admission.reason }));
      line.close();
    }
  }

  #pair(line: Line, staticKey: Uint8Array): void {
    this.#pairing = new Pairing(this.account, line, staticKey);
    this.#pairing.begin();
    for (const resolve of this.#onPairing.splice(0)) resolve(this.#pairing);
  }

  #logIn(line: Line): void {
    this.#pairing = null;
    this.#line = line;
    this.#live = null;
    const t = String(Math.floor(Date.now() / 1000));
    line.send(node('success', { t, lid: this.account.deviceLid }));
  }

  async #take(line: Line, received: BinaryNode): Promise<void> {
    this.sent.push(received);
    if (this.#pairing?.take(received)) return;
    const { tag, attrs } = received;
    if (tag === 'iq' && attrs['type'] !== 'result') {
      line.send(await answer(this, received));
      if (attrs['xmlns'] === 'passive') this.#begin(line);
    } else if (tag === 'message' && !this.isSilent) {
      const receipts = await deliver(this, received);
      const { id = '', to = '' } = attrs;
      if (this.losesNext) {
        this.losesNext = false;
        line.cut();
        return;
      }
      line.send(node('ack', { class: 'message', id, from: to, t: '1' }));
      for (const receipt of receipts) line.send(receipt);
    } else if (tag === 'receipt' || tag === 'ack') {
      this.mailbox.acknowledge(received);
    }
  }

  /** As WhatsApp does, what waits follows when the device says that it is active. */
  #begin(line: Line): void {
    this.mailbox.deliver(line);
    this.#live = line;
    for (const resolve of this.#onLogin.splice(0)) resolve();
  }

  #post(stanza: BinaryNode): string {
    this.mailbox.put(stanza, this.#live);
    return stanza.attrs['id'] ?? '';
  }
}

/** Starts a server on a free port of loopback, which this process then takes for WhatsApp's. */
export async function startWhatsAppServer(): Promise<WhatsAppServer> {
  silenceLibsignal(console);
  trustTestRoot();
  const server = new WhatsAppServer();
  await server.listen();
  return server;
}

function contentOf(message: string | proto.IMessage): proto.IMessage {
  return typeof message === 'string' ? { conversation: message } : message;
}
