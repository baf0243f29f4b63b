import {
  addTransactionCapability,
  type BinaryNode,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  encodeWAMessage,
  initAuthCreds,
  proto,
  type SignalKeyStoreWithTransaction,
  type SignalRepositoryWithLIDStore,
  unpadRandomMax16,
} from '@whiskeysockets/baileys';
import pino from 'pino';
import { bytesOf, node } from '../node.ts';
import { bundleNode, type KeyBundle } from './key-bundle.ts';
import { memoryKeys } from './memory-keys.ts';

const silent = pino({ level: 'silent' });

/** A person's device with Signal sessions of its own: encrypts to the account under test, and decrypts from it. */
export class Peer {
  readonly creds = initAuthCreds();
  readonly #keys: SignalKeyStoreWithTransaction;
  readonly #repository: SignalRepositoryWithLIDStore;
  readonly #sharedSenderKeys = new Set<string>();

  constructor() {
    const commits = { maxCommitRetries: 1, delayBetweenTriesMs: 1 };
    this.#keys = addTransactionCapability(memoryKeys(), silent, commits);
    const auth = { creds: this.creds, keys: this.#keys };
    // A peer knows each device by one address, so it has no mappings to ask for.
    this.#repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, silent, async () => []);
  }

  /** Returns keys for a sender to this device, with a fresh one-time key each time. */
  async bundle(jid: string): Promise<BinaryNode> {
    const preKeyId = this.creds.nextPreKeyId++;
    const preKey = Curve.generateKeyPair();
    await this.#keys.set({ 'pre-key': { [preKeyId]: preKey } });
    const { registrationId, signedIdentityKey: identity, signedPreKey } = this.creds;
    return bundleNode(jid, { registrationId, identity, signedPreKey, preKeyId, preKey });
  }

  /** Encrypts for one device; `bundle` is asked for where there is no session yet. */
  async seal(to: Recipient, message: proto.IMessage): Promise<BinaryNode> {
    const { exists } = await this.#repository.validateSession(to.jid);
    if (!exists) await this.#repository.injectE2ESession({ jid: to.jid, session: to.bundle() });
    const data = encodeWAMessage(message);
    const { type, ciphertext } = await this.#repository.encryptMessage({ jid: to.jid, data });
    return node('enc', { v: '2', type }, ciphertext);
  }

  /** Encrypts for a group; the first time the group's key goes along, sealed for the recipient. */
  async sealForGroup(
    to: Recipient & { readonly group: string; readonly as: string },
    message: proto.IMessage,
  ): Promise<BinaryNode[]> {
    const { ciphertext, senderKeyDistributionMessage } = await this.#repository.encryptGroupMessage(
      { group: to.group, meId: to.as, data: encodeWAMessage(message) },
    );
    const sealed = node('enc', { v: '2', type: 'skmsg' }, ciphertext);
    const shared = `${to.group} ${to.jid}`;
    if (this.#sharedSenderKeys.has(shared)) return [sealed];
    this.#sharedSenderKeys.add(shared);
    const key = {
      groupId: to.group,
      axolotlSenderKeyDistributionMessage: senderKeyDistributionMessage,
    };
    return [await this.seal(to, { senderKeyDistributionMessage: key }), sealed];
  }

  /** Reads what the account sent: the part for this device first, then the part for the group. */
  async open(from: Sender, sealed: readonly BinaryNode[]): Promise<proto.IMessage> {
    const message: proto.IMessage = {};
    for (const part of sealed) {
      const opened = proto.Message.decode(unpadRandomMax16(await this.#decrypt(from, part)));
      const { senderKeyDistributionMessage: item } = opened;
      if (item) {
        const authorJid = from.jid;
        await this.#repository.processSenderKeyDistributionMessage({ item, authorJid });
      }
      Object.assign(message, opened.deviceSentMessage?.message ?? opened);
    }
    return message;
  }

  async #decrypt(from: Sender, part: BinaryNode): Promise<Uint8Array> {
    const content = bytesOf(part);
    const { type } = part.attrs;
    if (type === 'skmsg') {
      const { group, jid: authorJid } = from;
      return this.#repository.decryptGroupMessage({ group: group ?? '', authorJid, msg: content });
    }
    if (type !== 'pkmsg' && type !== 'msg') throw new Error(`unknown encryption ${type}`);
    return this.#repository.decryptMessage({ jid: from.jid, type, ciphertext: content });
  }

  close(): void {
    this.#repository.close?.();
  }
}

/** The device under test, as those who write to it see it. */
export type Recipient = { readonly jid: string; readonly bundle: () => KeyBundle };

type Sender = { readonly jid: string; readonly group?: string };
