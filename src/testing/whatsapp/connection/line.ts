import {
  type BinaryNode,
  decodeBinaryNode,
  encodeBinaryNode,
  type KeyPair,
  NOISE_WA_HEADER,
} from '@whiskeysockets/baileys';
import type { WebSocket } from 'ws';
import { type ClientHello, ServerNoise } from './noise.ts';

/** Callbacks of a connection. */
export type LineEvents = {
  readonly onHello: (line: Line, hello: ClientHello) => void;
  readonly onNode: (line: Line, node: BinaryNode) => void;
  readonly onClose: (line: Line) => void;
};

/**
 * One connection of a client: frames of three bytes of length and their content, the handshake first,
 * then encrypted binary nodes.
 */
export class Line {
  readonly #socket: WebSocket;
  readonly #noise: ServerNoise;
  readonly #events: LineEvents;
  #received: Buffer = Buffer.alloc(0);
  #hasIntro = false;
  #hasGreeted = false;
  #isHalved = false;
  #reading: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket, staticKey: KeyPair, events: LineEvents) {
    this.#socket = socket;
    this.#noise = new ServerNoise(staticKey);
    this.#events = events;
    socket.on('message', (data: Buffer) => {
      this.#reading = this.#reading.then(() => this.#read(data));
    });
    socket.on('close', () => events.onClose(this));
    socket.on('error', () => socket.terminate());
  }

  send(node: BinaryNode): void {
    if (this.#isHalved || this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(framed(this.#noise.encrypt(encodeBinaryNode(node))));
  }

  /** Sends the beginning of a node, and ends the connection. */
  sendHalf(node: BinaryNode): void {
    const whole = framed(this.#noise.encrypt(encodeBinaryNode(node)));
    this.#socket.send(whole.subarray(0, Math.floor(whole.length / 2)));
    // Nothing may follow on this line. It is closed, not cut, so that the half goes out.
    this.#isHalved = true;
    this.close();
  }

  /** Ends the connection as a server does, after what was sent. */
  close(): void {
    this.#socket.close();
  }

  /** Ends the connection as a broken network does. */
  cut(): void {
    this.#socket.terminate();
  }

  async #read(data: Buffer): Promise<void> {
    this.#received = Buffer.concat([this.#received, data]);
    this.#skipIntro();
    while (this.#received.length >= 3) {
      const end = 3 + this.#received.readUIntBE(0, 3);
      if (this.#received.length < end) return;
      const frame = this.#received.subarray(3, end);
      this.#received = this.#received.subarray(end);
      await this.#take(frame);
    }
  }

  /** The first frame follows a header, and that may follow routing information that the server gave out. */
  #skipIntro(): void {
    if (this.#hasIntro) return;
    this.#hasIntro = true;
    const hasRouting = this.#received.subarray(0, 2).toString() === 'ED';
    const routing = hasRouting ? 7 + this.#received.readUIntBE(4, 3) : 0;
    this.#received = this.#received.subarray(routing + NOISE_WA_HEADER.length);
  }

  async #take(frame: Buffer): Promise<void> {
    if (this.#noise.isOpen) {
      const plain = Buffer.from(this.#noise.decrypt(frame));
      this.#events.onNode(this, await decodeBinaryNode(plain));
    } else if (this.#hasGreeted) {
      this.#events.onHello(this, this.#noise.finish(frame));
    } else {
      this.#hasGreeted = true;
      this.#socket.send(framed(this.#noise.greet(frame)));
    }
  }
}

function framed(content: Uint8Array): Buffer {
  const length = Buffer.alloc(3);
  length.writeUIntBE(content.length, 0, 3);
  return Buffer.concat([length, content]);
}
