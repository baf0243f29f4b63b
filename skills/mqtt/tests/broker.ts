import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import {
  generate,
  type IConnectPacket,
  type IPublishPacket,
  type Packet,
  parser,
} from 'mqtt-packet';
import { LoopbackListener } from '../../../src/testing/channel/far-server.ts';

/** Options by which the tests watch or change the broker. */
export type BrokerOptions = {
  /** User and password that are let in; everybody without. */
  readonly user?: { readonly name: string; readonly password: string };
  readonly tls?: TlsOptions;
};

/** A message at the broker. */
export type Published = { readonly topic: string; readonly text: string; readonly qos: number };

type Queued = {
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: 0 | 1;
  readonly retain: boolean;
};

/** The session that the broker keeps for a client that asked for it, also while it is away. */
class BrokerSession {
  readonly topics = new Set<string>();
  readonly queue: Queued[] = [];
  /** Handed over and not acknowledged, by their numbers, in order. */
  readonly inFlight = new Map<number, Queued>();
  /** Taken with QoS 2, and not told to pass on yet. */
  readonly held = new Map<number, Published>();
  socket: Socket | null = null;
  #last = 0;

  next(): number {
    this.#last = (this.#last % 65_535) + 1;
    return this.#last;
  }
}

const MAX_IN_FLIGHT = 20;

/** A broker of MQTT 3.1.1 for one process: sessions, QoS 0 to 2, retained messages, wills. */
export class Broker implements AsyncDisposable {
  /** Messages published to it, in order: each once, as subscribers get it. */
  readonly published: Published[] = [];
  /** Each PUBLISH with its flags, as it came. */
  readonly received: IPublishPacket[] = [];
  readonly retained = new Map<string, string>();
  readonly clients: string[] = [];
  acknowledged = 0;
  /** Subscriptions to these are refused. */
  readonly denied = new Set<string>();
  /** Called with each packet before it is worked on; true drops it and cuts the line, as a lost packet does. */
  lose: (packet: Packet) => boolean = () => false;
  #options: BrokerOptions;
  readonly #sessions = new Map<string, BrokerSession>();
  readonly #waiting = new Set<() => void>();
  readonly #listener: LoopbackListener;
  readonly #unheard: { readonly topic: string; readonly message: unknown }[] = [];

  private constructor(options: BrokerOptions, port: number) {
    this.#options = options;
    const onSocket = (socket: Socket) => this.#serve(socket);
    const { tls } = options;
    this.#listener = new LoopbackListener(
      () => [tls === undefined ? createServer(onSocket) : createTlsServer(tls, onSocket)],
      [port],
    );
  }

  static async start(options: BrokerOptions = {}, port = 0): Promise<Broker> {
    const broker = new Broker(options, port);
    await broker.comeUp();
    return broker;
  }

  get port(): number {
    return this.#listener.port();
  }

  get url(): string {
    return `${this.#options.tls === undefined ? 'mqtt' : 'mqtts'}://127.0.0.1:${this.port}`;
  }

  changeUser(user: NonNullable<BrokerOptions['user']>): void {
    this.#options = { ...this.#options, user };
  }

  /** Publishes as a device does. */
  say(topic: string, message: unknown, { qos = 1, retain = false } = {}): void {
    const payload = Buffer.isBuffer(message)
      ? message
      : Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
    for (const session of this.#sessions.values()) {
      if (!session.topics.has(topic)) continue;
      session.queue.push({ topic, payload, qos: qos === 0 ? 0 : 1, retain });
      this.#deliver(session);
    }
  }

  /** Publishes as a device does that tries until somebody listens. */
  sayLasting(topic: string, message: unknown): void {
    if ([...this.#sessions.values()].some(({ topics }) => topics.has(topic))) {
      this.say(topic, message);
    } else this.#unheard.push({ topic, message });
  }

  /** Counts the messages that no client has acknowledged. */
  get waiting(): number {
    return [...this.#sessions.values()].reduce(
      (sum, { queue, inFlight }) => sum + queue.length + inFlight.size,
      0,
    );
  }

  /** Is not there any more, with its sessions on disk. */
  goDown(): Promise<void> {
    return this.#listener.goDown();
  }

  comeUp(): Promise<void> {
    return this.#listener.comeUp();
  }

  /** Sends bytes that are no frame, or half of one. */
  sendRaw(bytes: Uint8Array): void {
    for (const socket of this.#listener.sockets) socket.write(bytes);
  }

  cut(): void {
    this.#listener.cut();
  }

  /** Forgets all sessions, as a broker without persistence does when it is started again. */
  forget(): void {
    this.#sessions.clear();
    this.cut();
  }

  /** The texts that were published on a topic. */
  textsOn(topic: string): readonly string[] {
    return this.published.filter((one) => one.topic === topic).map(({ text }) => text);
  }

  /** Resolves when the condition holds; it is looked at after each packet. */
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.goDown();
  }

  #serve(socket: Socket): void {
    let session: BrokerSession | null = null;
    let will: IConnectPacket['will'] | undefined;
    const read = parser({ protocolVersion: 4 });
    read.on('error', () => socket.destroy());
    read.on('packet', (packet: Packet) => {
      if (this.lose(packet)) {
        socket.destroy();
      } else if (packet.cmd === 'connect') {
        will = packet.will;
        session = this.#letIn(socket, packet);
      } else if (packet.cmd === 'disconnect') {
        will = undefined;
        socket.end();
      } else if (session !== null) {
        this.#work(session, socket, packet);
      }
      this.#changed();
    });
    socket.on('data', (chunk) => void read.parse(Buffer.from(chunk)));
    socket.on('error', () => {});
    socket.on('close', () => {
      if (session?.socket === socket) session.socket = null;
      if (will !== undefined && session !== null) {
        this.#pass(
          { topic: will.topic, text: String(will.payload), qos: will.qos ?? 0 },
          will.retain ?? false,
        );
      }
      this.#changed();
    });
  }

  #letIn(socket: Socket, packet: IConnectPacket): BrokerSession | null {
    const { user } = this.#options;
    const isKnown =
      user === undefined ||
      (packet.username === user.name && String(packet.password) === user.password);
    if (!isKnown) {
      socket.end(generate({ cmd: 'connack', returnCode: 5, sessionPresent: false }));
      return null;
    }
    const { clientId, clean } = packet;
    this.clients.push(clientId);
    const kept = clean ? undefined : this.#sessions.get(clientId);
    const session = kept ?? new BrokerSession();
    session.socket?.destroy(); // One client of a name: the older one goes.
    session.socket = socket;
    this.#sessions.set(clientId, session);
    socket.write(generate({ cmd: 'connack', returnCode: 0, sessionPresent: kept !== undefined }));
    for (const [messageId, queued] of session.inFlight)
      this.#hand(session, queued, messageId, true);
    this.#deliver(session);
    return session;
  }

  #work(session: BrokerSession, socket: Socket, packet: Packet): void {
    const { messageId = 0 } = packet;
    switch (packet.cmd) {
      case 'subscribe': {
        const topics = packet.subscriptions.map(({ topic }) => topic);
        const granted = topics.map((topic) => (this.denied.has(topic) ? 128 : 1));
        for (const topic of topics) if (!this.denied.has(topic)) session.topics.add(topic);
        socket.write(generate({ cmd: 'suback', messageId, granted }));
        for (const topic of topics) this.#handRetained(session, topic);
        for (const { topic, message } of this.#unheard.splice(0)) this.sayLasting(topic, message);
        return;
      }
      case 'publish':
        this.#take(session, socket, packet);
        return;
      case 'pubrel': {
        const held = session.held.get(messageId);
        session.held.delete(messageId);
        if (held !== undefined) this.#pass(held, false);
        socket.write(generate({ cmd: 'pubcomp', messageId }));
        return;
      }
      case 'puback':
        if (session.inFlight.delete(messageId)) this.acknowledged += 1;
        this.#deliver(session);
        return;
      case 'pingreq':
        socket.write(generate({ cmd: 'pingresp' }));
        return;
      default:
    }
  }

  #take(session: BrokerSession, socket: Socket, packet: IPublishPacket): void {
    this.received.push(packet);
    const { topic, payload, qos, retain, messageId = 0 } = packet;
    const one = { topic, text: String(payload), qos };
    if (qos === 2) {
      session.held.set(messageId, one);
      socket.write(generate({ cmd: 'pubrec', messageId }));
      return;
    }
    this.#pass(one, retain);
    if (qos === 1) socket.write(generate({ cmd: 'puback', messageId }));
  }

  #pass(one: Published, isRetained: boolean): void {
    this.published.push(one);
    if (isRetained) this.retained.set(one.topic, one.text);
  }

  #handRetained(session: BrokerSession, topic: string): void {
    const text = this.retained.get(topic);
    if (text === undefined) return;
    session.queue.push({ topic, payload: Buffer.from(text), qos: 1, retain: true });
    this.#deliver(session);
  }

  #deliver(session: BrokerSession): void {
    while (session.socket !== null && session.inFlight.size < MAX_IN_FLIGHT) {
      const queued = session.queue.shift();
      if (queued === undefined) return;
      const messageId = session.next();
      if (queued.qos === 1) session.inFlight.set(messageId, queued);
      this.#hand(session, queued, messageId, false);
    }
  }

  #hand({ socket }: BrokerSession, queued: Queued, messageId: number, dup: boolean): void {
    const { topic, payload, qos, retain } = queued;
    socket?.write(generate({ cmd: 'publish', topic, payload, qos, retain, dup, messageId }));
  }

  #changed(): void {
    for (const look of this.#waiting) look();
  }
}
