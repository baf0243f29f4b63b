import { once } from 'node:events';
import { createServer } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';

/** The place where the server is found: a port of loopback for the socket and for encrypted files. */
export class Loopback {
  readonly #files = new Map<string, Buffer>();
  readonly #http = createServer((request, response) => {
    const file = this.#files.get(request.url ?? '');
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  readonly #sockets = new WebSocketServer({ server: this.#http, path: '/ws/chat' });

  constructor(onSocket: (socket: WebSocket) => void) {
    this.#sockets.on('connection', onSocket);
  }

  get socketUrl(): string {
    return `ws://127.0.0.1:${this.#port}/ws/chat`;
  }

  get filesUrl(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get #port(): number {
    const address = this.#http.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async open(): Promise<void> {
    this.#http.listen(0, '127.0.0.1');
    await once(this.#http, 'listening');
  }

  keep(path: string, content: Buffer): void {
    this.#files.set(path, content);
  }

  close(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
    this.#http.close();
    this.#http.closeAllConnections();
  }
}
