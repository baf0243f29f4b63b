import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/** The server's end of a WebSocket (RFC 6455), for texts only, by Node's built-ins alone. */
export class WebSocketPeer {
  readonly #socket: Duplex;
  readonly #onText: (text: string) => void;
  #received = Buffer.alloc(0);
  #fragments: Buffer[] = [];
  #hasSentClose = false;
  /** Reads on and reacts to nothing, as a server does that hangs. */
  isDeaf = false;

  constructor(socket: Duplex, onText: (text: string) => void) {
    this.#socket = socket;
    this.#onText = onText;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      while (this.#readFrame()) {
        // One chunk may hold several frames.
      }
    });
    // The end of the line shows as `close`; why it ended does not matter here.
    socket.on('error', () => {});
  }

  send(text: string): void {
    this.#write(TEXT, Buffer.from(text));
  }

  /** The line is cut in the middle of a frame. */
  sendHalf(text: string): void {
    const half = Buffer.from(text).subarray(0, text.length / 2);
    this.#socket.write(Buffer.concat([Buffer.from([0x80 | TEXT, text.length]), half]), () =>
      this.#socket.destroy(),
    );
  }

  /** Sends a frame that says it is text, whatever it holds. */
  sendBytes(bytes: Buffer): void {
    this.#write(TEXT, bytes);
  }

  /** Asks for the end, as the protocol wants it. */
  close(): void {
    if (this.#hasSentClose) return;
    this.#hasSentClose = true;
    this.#write(CLOSE, Buffer.from([0x03, 0xe8]));
  }

  #readFrame(): boolean {
    const data = this.#received;
    if (data.length < 2) return false;
    const short = data.readUInt8(1) & 0x7f;
    const start = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (data.length < start + 4) return false;
    const length =
      short === 126
        ? data.readUInt16BE(2)
        : short === 127
          ? Number(data.readBigUInt64BE(2))
          : short;
    const end = start + 4 + length;
    if (data.length < end) return false;
    // A client masks everything it sends.
    const mask = data.subarray(start, start + 4);
    const body = Buffer.from(data.subarray(start + 4, end)).map(
      (byte, index) => byte ^ mask.readUInt8(index % 4),
    );
    this.#received = data.subarray(end);
    this.#onFrame(data.readUInt8(0), Buffer.from(body));
    return true;
  }

  #onFrame(head: number, body: Buffer): void {
    if (this.isDeaf) return;
    const opcode = head & 0x0f;
    if (opcode === PING) this.#write(PONG, body);
    if (opcode === CLOSE) {
      this.close();
      this.#socket.end();
    }
    if (opcode > TEXT) return;
    this.#fragments.push(body);
    const isLast = (head & 0x80) !== 0;
    if (!isLast) return;
    const text = Buffer.concat(this.#fragments).toString();
    this.#fragments = [];
    this.#onText(text);
  }

  #write(opcode: number, body: Buffer): void {
    const head = Buffer.alloc(body.length < 126 ? 2 : body.length < 65_536 ? 4 : 10);
    head.writeUInt8(0x80 | opcode, 0);
    head.writeUInt8(head.length === 2 ? body.length : head.length === 4 ? 126 : 127, 1);
    if (head.length === 4) head.writeUInt16BE(body.length, 2);
    if (head.length === 10) head.writeBigUInt64BE(BigInt(body.length), 2);
    if (this.#socket.writable) this.#socket.write(Buffer.concat([head, body]));
  }
}

/** Answers an upgrade request so that the socket is a WebSocket from here on. */
export function acceptWebSocket(request: IncomingMessage, socket: Duplex): void {
  const key = request.headers['sec-websocket-key'] ?? '';
  const accept = createHash('sha1')
    .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
}
