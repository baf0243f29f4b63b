/*
 * A far end of a test as a server on loopback. A channel's server says what it answers; going down and coming back at the
 * same address, and answers that go wrong as ordered, are the same for all.
 */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { createServer as createNetServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Only a hang reaches it. */
const HANG_MS = 60_000;

/** Servers that listen together on loopback, drop all their lines, and come back at the same ports. */
export class LoopbackListener {
  readonly #make: () => readonly NetServer[];
  readonly #sockets = new Set<Socket>();
  #servers: readonly NetServer[] = [];
  #ports: readonly number[];

  /**
   * @param make makes the servers anew each time they begin to listen
   * @param ports where they listen; any port that is free by default
   */
  constructor(make: () => readonly NetServer[], ports: readonly number[] = []) {
    this.#make = make;
    this.#ports = ports;
  }

  /** True between `comeUp` and `goDown`. */
  get isUp(): boolean {
    return this.#servers.length > 0;
  }

  /** Returns the port of one of the servers, also while it is down; 0 before the first time. */
  port(at = 0): number {
    return this.#ports[at] ?? 0;
  }

  /** The lines that are open. */
  get sockets(): ReadonlySet<Socket> {
    return this.#sockets;
  }

  /** Begins to listen; again at the same ports after `goDown`. */
  async comeUp(): Promise<void> {
    this.#servers = this.#make();
    for (const [at, server] of this.#servers.entries()) {
      server.on('connection', (socket: Socket) => {
        this.#sockets.add(socket);
        socket.on('close', () => this.#sockets.delete(socket)).on('error', () => {});
      });
      server.listen(this.port(at), '127.0.0.1');
      await once(server, 'listening');
    }
    this.#ports = this.#servers.map((server) => (server.address() as AddressInfo).port);
  }

  /** Drops every line and takes no new ones. */
  async goDown(): Promise<void> {
    const servers = this.#servers;
    this.#servers = [];
    const closed = servers.map((server) => once(server, 'close'));
    for (const server of servers) server.close();
    this.cut();
    await Promise.all(closed);
  }

  /** Cuts the lines that are open. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** A far end that speaks HTTP: a server of a test extends it, and answers requests. */
export abstract class FarServer<Call = unknown> implements AsyncDisposable {
  /** What was asked of the server, in order. */
  readonly calls: Call[] = [];
  readonly #listener: LoopbackListener;

  constructor() {
    this.#listener = new LoopbackListener(() => [this.#makeServer()]);
  }

  /** Answers one request. */
  protected abstract answer(request: IncomingMessage, response: ServerResponse): Promise<unknown>;

  /** Takes further events of a server that is about to listen, such as `upgrade`. */
  protected prepare(_server: Server): void {}

  /** The host and port of the address. */
  get host(): string {
    return `127.0.0.1:${this.#listener.port()}`;
  }

  /** The address, without a slash at the end. */
  get url(): string {
    return `http://${this.host}`;
  }

  get isUp(): boolean {
    return this.#listener.isUp;
  }

  /** The lines that are open. */
  get sockets(): ReadonlySet<Socket> {
    return this.#listener.sockets;
  }

  /** Listens, after `goDown` on the same port as before. */
  async comeUp(): Promise<this> {
    await this.#listener.comeUp();
    return this;
  }

  /** Drops every connection and refuses new ones. */
  goDown(): Promise<void> {
    return this.#listener.goDown();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.goDown();
  }

  /** Waits until it is so, here or at the other end of the line; rejects when it never is. */
  async until(isSo: () => boolean, timeoutMs = HANG_MS): Promise<void> {
    const end = Date.now() + timeoutMs;
    while (!isSo()) {
      if (Date.now() > end) {
        const calls = this.calls.slice(-10).map((call) => JSON.stringify(call).slice(0, 200));
        throw new Error(`still not so after ${timeoutMs} ms: ${isSo}; last:\n${calls.join('\n')}`);
      }
      await delay(3);
    }
  }

  #makeServer(): Server {
    const server = createServer((request, response) => void this.answer(request, response));
    this.prepare(server);
    return server;
  }
}

/** Faults that a test has ordered of a far end: each befalls one request, and is gone. */
export class OrderedFaults<Request, Fault> {
  readonly #ordered: {
    readonly isMeant: (request: Request) => boolean;
    readonly fault: Fault;
    later: number;
  }[] = [];

  /** Orders a fault for the next request that is meant, or for the one that many later. */
  order(isMeant: (request: Request) => boolean, fault: Fault, later = 0): void {
    this.#ordered.push({ isMeant, fault, later });
  }

  /** Returns the fault that befalls this request; null for none. */
  next(request: Request): Fault | null {
    const at = this.#ordered.findIndex(({ isMeant }) => isMeant(request));
    const found = this.#ordered[at];
    if (found === undefined) return null;
    found.later -= 1;
    if (found.later >= 0) return null;
    this.#ordered.splice(at, 1);
    return found.fault;
  }
}

/** Reads the whole body of a request. */
export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Answers with JSON. */
export function sendJson(
  response: ServerResponse,
  body: unknown,
  {
    status = 200,
    headers = {},
  }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Answers with these bytes as JSON, whatever they are; where it is cut, the line ends before the answer does. */
export function sendRawJson(response: ServerResponse, bytes: Buffer, isCut: boolean): void {
  const length = isCut ? bytes.length * 2 : bytes.length;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
  if (isCut) response.write(bytes, () => response.destroy());
  else response.end(bytes);
}

/** Starts something that takes connections and says nothing, as a far end does that hangs. */
export async function startSilentServer(): Promise<AsyncDisposable & { readonly host: string }> {
  const listener = new LoopbackListener(() => [createNetServer()]);
  await listener.comeUp();
  return {
    host: `127.0.0.1:${listener.port()}`,
    [Symbol.asyncDispose]: () => listener.goDown(),
  };
}
