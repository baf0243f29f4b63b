import type { proto } from '@whiskeysockets/baileys';
import { SERVER } from '../node.ts';
import { Peer } from './peer.ts';

/** A message that the account under test sent, as it was read on a person's device. */
export type ReadMessage = {
  readonly id: string;
  /** The address that it was sent to: the person's, in either form, or a group's. */
  readonly to: string;
  readonly message: proto.IMessage;
  readonly text: string;
};

/** A person with a phone, known by number and by LID; both lead to the same device. */
export class Person {
  readonly peer = new Peer();
  readonly phoneNumber: string;
  readonly lidNumber: string;
  readonly name: string;
  readonly read: ReadMessage[] = [];
  readonly #waiting: ((message: ReadMessage) => void)[] = [];
  #taken = 0;

  constructor({ phoneNumber, lidNumber, name }: PersonOptions) {
    this.phoneNumber = phoneNumber;
    this.lidNumber = lidNumber;
    this.name = name;
  }

  get pn(): string {
    return `${this.phoneNumber}@${SERVER}`;
  }

  get lid(): string {
    return `${this.lidNumber}@lid`;
  }

  owns(jid: string): boolean {
    const user = jid.split(/[:@]/, 1)[0];
    return user === this.phoneNumber || user === this.lidNumber;
  }

  take(message: ReadMessage): void {
    this.read.push(message);
    const waiting = this.#waiting.shift();
    if (waiting === undefined) return;
    this.#taken += 1;
    waiting(message);
  }

  /** The next message that was not asked for before; waits for it. */
  next(): Promise<ReadMessage> {
    const known = this.read[this.#taken];
    if (known !== undefined) {
      this.#taken += 1;
      return Promise.resolve(known);
    }
    const { promise, resolve } = Promise.withResolvers<ReadMessage>();
    this.#waiting.push(resolve);
    return promise;
  }
}

export type PersonOptions = {
  readonly phoneNumber: string;
  readonly lidNumber: string;
  readonly name: string;
};
