import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

type Packet = { readonly type: number; readonly flags: number; readonly body: Buffer };

/** A broker of MQTT 3.1.1 with QoS 1, for one board. What is said while it is away waits for it. */
export class Broker implements AsyncDisposable {
  readonly published: { readonly topic: string; readonly text: string; readonly qos: number }[] =
    [];
  readonly subscriptions: { readonly topic: string; readonly qos: number }[] = [];
  /** Numbers of the messages that the board has acknowledged. */
  readonly acknowledged: number[] = [];
  password: string | null = null;
  refusals = 0;
  readonly #waiting = new Set<() => void>();
  readonly #queue: Buffer[] = [];
  readonly #server = createServer((socket) => this.#serve(socket));
  #socket: Socket | null = null;
  #lastId = 0;

  static async start(port = 0): Promise<Broker> {
    const broker = new Broker();
    broker.#server.listen(port, '127.0.0.1');
    await once(broker.#server, 'listening');
    return broker;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Publishes to the board with QoS 1, when it is there. */
  say(topic: string, message: unknown): void {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    this.#lastId += 1;
    const id = Buffer.from([this.#lastId >> 8, this.#lastId & 255]);
    this.#queue.push(packet(0x32, Buffer.concat([string(topic), id, Buffer.from(text)])));
    this.#flush();
  }

  sendRaw(bytes: Uint8Array): void {
    this.#socket?.write(bytes);
  }

  cut(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }

  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    let rest: Buffer = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (let found = readPacket(rest); found !== null; found = readPacket(rest)) {
        rest = found.rest;
        this.#work(socket, found.packet);
      }
      for (const look of this.#waiting) look();
    });
  }

  #work(socket: Socket, { type, flags, body }: Packet): void {
    if (type === 1) this.#letIn(socket, body);
    else if (type === 8) {
      const length = body.readUInt16BE(2);
      this.subscriptions.push({
        topic: body.toString('utf8', 4, 4 + length),
        qos: body[4 + length] ?? 0,
      });
      socket.write(packet(0x90, Buffer.concat([body.subarray(0, 2), Buffer.from([1])])));
      this.#socket = socket;
      this.#flush();
    } else if (type === 3) this.#take(socket, body, (flags >> 1) & 3);
    else if (type === 4) this.acknowledged.push(body.readUInt16BE(0));
    else if (type === 12) socket.write(Buffer.from([0xd0, 0]));
  }

  #letIn(socket: Socket, body: Buffer): void {
    const isRight = this.password === null || body.toString('latin1').endsWith(this.password);
    if (!isRight) this.refusals += 1;
    socket.write(packet(0x20, Buffer.from([0, isRight ? 0 : 5])));
  }

  #take(socket: Socket, body: Buffer, qos: number): void {
    const end = 2 + body.readUInt16BE(0);
    const text = body.toString('utf8', qos === 0 ? end : end + 2);
    this.published.push({ topic: body.toString('utf8', 2, end), text, qos });
    if (qos === 1) socket.write(packet(0x40, body.subarray(end, end + 2)));
  }

  #flush(): void {
    if (this.#socket === null) return;
    for (const one of this.#queue.splice(0)) this.#socket.write(one);
  }
}

function string(text: string): Buffer {
  const data = Buffer.from(text);
  return Buffer.concat([Buffer.from([data.length >> 8, data.length & 255]), data]);
}

function packet(head: number, body: Buffer): Buffer {
  const length: number[] = [];
  for (let left = body.length; ; left >>= 7) {
    if (left < 128) return Buffer.concat([Buffer.from([head, ...length, left]), body]);
    length.push((left & 127) | 128);
  }
}

function readPacket(data: Buffer): { readonly packet: Packet; readonly rest: Buffer } | null {
  let length = 0;
  for (let at = 1; at < data.length; at += 1) {
    const byte = data[at] ?? 0;
    length |= (byte & 127) << (7 * (at - 1));
    if (byte > 127) continue;
    const end = at + 1 + length;
    if (data.length < end) return null;
    const head = data[0] ?? 0;
    const body = data.subarray(at + 1, end);
    return { packet: { type: head >> 4, flags: head & 15, body }, rest: data.subarray(end) };
  }
  return null;
}
