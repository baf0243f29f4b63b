import type { ServerResponse } from 'node:http';
import { sendJson } from '../../../src/testing/channel/far-server.ts';
import type { BotApiError } from './bot-api.ts';

/** A file as people send it. */
export type BotApiFile = { readonly name: string; readonly content: Uint8Array };

/** The next download's fate. */
export type DownloadFailure = BotApiError | 'cut' | 'page' | 'elsewhere' | null;

/** The Bot API gives out no larger files. */
const LARGEST_BYTES = 20_000_000;

/** The files that people have sent, as the Bot API gives them out. */
export class BotApiFiles {
  /** Paths of those that were asked for, without the token. */
  readonly fetched: string[] = [];
  /** They turn out to be larger than `getFile` says. */
  isUnderstating = false;
  readonly #files = new Map<string, BotApiFile>();

  /** Puts a file on the server; its fields in a message. */
  upload(file: BotApiFile) {
    const file_id = `file-${this.#files.size + 1}`;
    this.#files.set(file_id, file);
    return { file_id, file_unique_id: `u-${file_id}`, file_size: file.content.length };
  }

  /** Puts a photo on the server in three sizes; the field `photo` of its message. */
  uploadPhoto(content: Uint8Array) {
    const sizes = [90, 320].map((width) => {
      const small = { name: `photos/${width}.jpg`, content: Buffer.from('small') };
      return { ...this.upload(small), width, height: width };
    });
    const name = `photos/file ${this.#files.size}.jpg`;
    return [...sizes, { ...this.upload({ name, content }), width: 1280, height: 960 }];
  }

  /** They are not given out any more. */
  drop(): void {
    this.#files.clear();
  }

  /** Answers `getFile`. */
  find(file_id: string): { result: unknown } | BotApiError {
    const file = this.#files.get(file_id);
    if (file === undefined) {
      const description = 'Bad Request: wrong file_id or the file is temporarily unavailable';
      return { error_code: 400, description };
    }
    const file_size = file.content.length;
    if (file_size > LARGEST_BYTES) {
      return { error_code: 400, description: 'Bad Request: file is too big' };
    }
    return { result: { file_id, file_unique_id: `u-${file_id}`, file_size, file_path: file.name } };
  }

  /** Answers a request for a file's content. */
  give(path: string, response: ServerResponse, failure: DownloadFailure): void {
    this.fetched.push(path);
    const file = [...this.#files.values()].find(({ name }) => name === path);
    if (failure === 'page') {
      response.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Bad Gateway</h1>');
    } else if (failure === 'elsewhere') {
      response.writeHead(302, { Location: '/elsewhere' }).end();
    } else if (failure === 'cut') {
      response.writeHead(200, { 'Content-Length': 1_000 }).write('half');
      setImmediate(() => response.destroy());
    } else if (failure !== null || file === undefined) {
      const error = failure ?? { error_code: 404, description: 'Not Found' };
      sendJson(response, { ok: false, ...error }, { status: error.error_code });
    } else {
      const content = this.isUnderstating ? Buffer.alloc(LARGEST_BYTES + 1) : file.content;
      response.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(content);
    }
  }
}
