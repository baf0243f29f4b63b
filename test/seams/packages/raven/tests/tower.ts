import type { IncomingMessage, ServerResponse } from 'node:http';
import { FarServer, OrderedFaults, readBytes } from '../../../src/testing/channel/far-server.ts';

type Letter = { readonly id: string; readonly room: string; readonly text: string };
/** A pause that the tower asks for, in seconds, or without a time; or the answer is lost. */
type Fault = { readonly retryAfter: number | null } | 'lost';

/**
 * A tower on loopback: `GET /letters` is a stream of JSON, a letter a line, those first that wait. `DELETE /letters/<id>`
 * acknowledges one, `POST /letters` sends one, once for each id.
 */
export class Tower extends FarServer {
  readonly waiting: (Letter & { readonly [field: string]: unknown })[] = [];
  readonly posted: Letter[] = [];
  readonly closedRooms = new Set<string>();
  token = 'token-of-nobody';
  #count = 0;
  #stream: ServerResponse | null = null;
  readonly #faults = new OrderedFaults<Letter, Fault>();

  override goDown(): Promise<void> {
    this.#stream = null;
    return super.goDown();
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

  /** The next letter, or the one that many later, is refused for so many seconds; or it is taken, and the answer is lost. */
  fail(retryAfter: number | null | 'lost', later = 0): void {
    this.#faults.order(() => true, retryAfter === 'lost' ? 'lost' : { retryAfter }, later);
  }

  revoke(): void {
    this.token = 'another';
    this.#stream?.end();
  }

  protected override async answer(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const bytes = await readBytes(request);
    const { method, url = '', headers } = request;
    if (headers.authorization !== `Bearer ${this.token}`) response.writeHead(401).end();
    else if (method === 'GET') this.#open(response);
    else if (method === 'DELETE') this.#forget(decodeURIComponent(url.slice(9)), response);
    else this.#post(JSON.parse(bytes.toString()), response);
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
    const fault = this.#faults.next(letter);
    if (fault !== null && fault !== 'lost') {
      const seconds = fault.retryAfter === null ? {} : { 'Retry-After': fault.retryAfter };
      response.writeHead(429, seconds).end();
    } else if (this.closedRooms.has(letter.room) || letter.text.length > 2_000) {
      response.writeHead(410).end();
    } else {
      if (!this.posted.some(({ id }) => id === letter.id)) this.posted.push(letter);
      if (fault === 'lost') response.destroy();
      else response.writeHead(201).end();
    }
  }
}
