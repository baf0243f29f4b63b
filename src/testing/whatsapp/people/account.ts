import { SERVER } from '../node.ts';
import type { UploadedKeys } from './key-bundle.ts';
import type { Recipient } from './peer.ts';
import { Phone } from './phone.ts';

/** The account under test: its two addresses, its phone, and what its companion device left with the server. */
export class Account {
  readonly phone = new Phone();
  readonly phoneNumber: string;
  readonly lidNumber: string;
  /** Null until a device was paired, and again after it was logged out. */
  paired: { readonly staticKey: Buffer } | null = null;
  keys: UploadedKeys | null = null;
  /** Of the companion device under test; the phone itself is device 0. */
  #device = 1;

  constructor(phoneNumber: string, lidNumber: string) {
    this.phoneNumber = phoneNumber;
    this.lidNumber = lidNumber;
  }

  get pn(): string {
    return `${this.phoneNumber}@${SERVER}`;
  }

  get lid(): string {
    return `${this.lidNumber}@lid`;
  }

  get devicePn(): string {
    return `${this.phoneNumber}:${this.#device}@${SERVER}`;
  }

  get deviceLid(): string {
    return `${this.lidNumber}:${this.#device}@lid`;
  }

  get devices(): readonly number[] {
    return this.paired === null ? [0] : [0, this.#device];
  }

  /** A number is never given out again: peers would take a new device for one that they have a session with. */
  removeDevice(): void {
    if (this.keys !== null) this.#device += 1;
    this.paired = null;
    this.keys = null;
  }

  owns(jid: string): boolean {
    const user = jid.split(/[:@]/, 1)[0];
    return user === this.phoneNumber || user === this.lidNumber;
  }

  /** The device under test as its peers see it: by one address, so that they keep one session. */
  recipient(takeBundle: (keys: UploadedKeys) => ReturnType<Recipient['bundle']>): Recipient {
    return {
      jid: this.devicePn,
      bundle: () => {
        if (this.keys === null) throw new Error('the device has uploaded no keys yet');
        return takeBundle(this.keys);
      },
    };
  }
}
