import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Letter = { readonly id: string; readonly room: string; readonly text: string };
type Failure = { readonly later: number; readonly retryAfter: number | null | 'lost' };

/**
 * A tower on loopback: `GET /letters` is a stream of JSON, a letter a line, those first that wait. `DELETE /letters/<id>`
 * acknowledges one, `POST /letters` sends one, once for each id.
 */
export class Tower {
  readonly waiting: (Letter & { readonly [field: string]: unknown })[] = [];
  readonly posted: Letter[] = [];
  readonly closedRooms = new Set<string>();
  token = 'token-of-nobody';
  #count = 0;
  #port = 0;
  #server = createServer();
  #stream: ServerResponse | null = null;
  #failures: Failure[] = [];

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, after `goDown` on the same port as before. */
  async comeUp(): Promise<this> {
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  async goDown(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    this.#stream = null;
    await closed;
  }

  /** Somebody writes. */
  write(from: string, room: string, text: string): void {
    const isPrivate = room === from;
    this.waiting.push({ id: `l${++this.#count}`, from, room, isPrivate, text, at: Date.now() });
    this.#stream?.write(`${JSON.stringify(this.waiting.at(-1))}\n`);
  }

  /** Puts bytes into the stream, and ends it there where that is said. */
  writeBytes(bytes: Buffer, isLast: boolean): void {
    const stream = this.#stream;
    stream?.write(bytes, () => isLast && stream.destroy());
  }

  fail(retryAfter: Failure['retryAfter'], later = 0): void {
    this.#failures.push({ retryAfter, later });
  }

  revoke(): void {
    this.token = 'another';
    this.#stream?.end();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url = '', headers } = request;
    if (headers.authorization !== `Bearer ${this.token}`) response.writeHead(401).end();
    else if (method === 'GET') this.#open(response);
    else if (method === 'DELETE') this.#forget(decodeURIComponent(url.slice(9)), response);
    else this.#post(JSON.parse(Buffer.concat(chunks).toString()), response);
  }

  #open(response: ServerResponse): void {
    this.#stream = response;
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).flushHeaders();
    for (const letter of this.waiting) response.write(`${JSON.stringify(letter)}\n`);
  }

  #forget(id: string, response: ServerResponse): void {
    const at = this.waiting.findIndex((letter) => letter.id === id);
    if (at !== -1) this.waiting.splice(at, 1);
    response.writeHead(204).end();
  }

  #post(letter: Letter, response: ServerResponse): void {
    const [next] = this.#failures;
    const isNow = next !== undefined && next.later === 0;
    this.#failures = isNow
      ? this.#failures.slice(1)
      : this.#failures.map((failure) => ({ ...failure, later: failure.later - 1 }));
    if (isNow && next.retryAfter !== 'lost') {
      const seconds = next.retryAfter === null ? {} : { 'Retry-After': next.retryAfter };
      response.writeHead(429, seconds).end();
    } else if (this.closedRooms.has(letter.room) || letter.text.length > 2_000) {
      response.writeHead(410).end();
    } else {
      if (!this.posted.some(({ id }) => id === letter.id)) this.posted.push(letter);
      if (isNow) response.destroy();
      else response.writeHead(201).end();
    }
  }
}
