import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';

/** The permission to upload, which a client asks the server for. */
export const UPLOAD_AUTH = 'upload-permission';

/** The place where the server is found: a port of loopback for the socket and for encrypted files. */
export class Loopback {
  readonly #files = new Map<string, Buffer>();
  readonly #http = createServer((request, response) => {
    if (request.method === 'POST') {
      void this.#take(request).then((body) => response.end(body));
      return;
    }
    const file = this.#files.get(request.url ?? '');
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  readonly #sockets = new WebSocketServer({ server: this.#http, path: '/ws/chat' });

  #isAway = false;

  constructor(onSocket: (socket: WebSocket) => void) {
    this.#sockets.on('connection', (socket) => {
      if (this.#isAway) socket.terminate();
      else onSocket(socket);
    });
  }

  /** While it is away, no line is open for longer than a moment. */
  set isAway(isAway: boolean) {
    this.#isAway = isAway;
    if (isAway) for (const socket of this.#sockets.clients) socket.terminate();
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

  /** Takes an upload as WhatsApp does: the path names the digest of the content, and is read elsewhere. */
  async #take(request: IncomingMessage): Promise<string> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.filesUrl);
    const content = Buffer.concat(await request.toArray());
    const digest = createHash('sha256').update(content).digest('base64url');
    if (!pathname.endsWith(`/${digest}`) || searchParams.get('auth') !== UPLOAD_AUTH) return '{}';
    const path = `/media/${digest}.enc`;
    this.keep(path, content);
    return JSON.stringify({ url: `${this.filesUrl}${path}`, direct_path: path });
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
