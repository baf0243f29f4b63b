import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  FarServer,
  OrderedFaults,
  readBytes,
  sendJson,
} from '../../../src/testing/channel/far-server.ts';

/*
 * A signal-cli daemon in this process, as its sources of July 2026 have it (HttpServerHandler, SendCommand and the
 * others): `POST /api/v1/rpc`, `GET /api/v1/events`, `GET /api/v1/check`, without an account of its own (`-a`), started
 * with --receive-mode=on-connection. What people say waits at Signal's server until there is a stream of events, and is
 * forgotten once it is written there, whoever reads it.
 */

export type Person = {
  readonly uuid: string;
  readonly number: string | null;
  readonly name: string;
};
type Params = Readonly<Record<string, unknown>>;

/** A message that the assistant has sent, as its readers have it now. */
export type Posted = {
  readonly to: string;
  timestamp: number;
  message: string;
  styles: readonly string[];
  readonly params: Params;
  readonly attachments: readonly string[];
  edits: number;
};

type Failure = { readonly code: number; readonly message: string; readonly data?: unknown };
type Call = { readonly method: string; readonly params: Params };

export class SignalCli extends FarServer<Call> {
  readonly account = '+4915100000000';
  readonly uuid = 'a0000000-0000-4000-8000-000000000000';
  accounts: string[] = [this.account];
  posted: Posted[] = [];
  readonly files = new Map<string, Buffer>();
  readonly gone = new Set<string>();
  /** Answers of `finishLink`, one for each code that is shown. */
  linking: ('too late' | string)[] = [];
  /** Runs for one account, as with -a. */
  isSingle = false;
  #queue: string[] = [];
  readonly #faults = new OrderedFaults<'send', Failure | 'lost'>();
  #streams = new Set<ServerResponse>();
  #time = 1_700_000_000_000;

  get isListenedTo(): boolean {
    return this.#streams.size > 0;
  }

  /** Somebody says something, directly or in a group. @returns its time */
  say(
    from: Person,
    message: string | null,
    more: { group?: string; groupName?: string } & Params = {},
  ): number {
    const { group, groupName, ...data } = more;
    const timestamp = this.nextTime();
    const groupInfo =
      group === undefined
        ? {}
        : { groupInfo: { groupId: group, groupName, revision: 3, type: 'DELIVER' } };
    const dataMessage = {
      timestamp,
      message,
      expiresInSeconds: 0,
      viewOnce: false,
      ...groupInfo,
      ...data,
    };
    this.receive(from, { dataMessage });
    return timestamp;
  }

  /** An envelope arrives at Signal's server. */
  receive(from: Person, content: Params, account = this.account): void {
    const envelope = {
      source: from.number ?? from.uuid,
      sourceNumber: from.number,
      sourceUuid: from.uuid,
      sourceName: from.name,
      sourceDevice: 1,
      timestamp: this.#time,
      serverReceivedTimestamp: this.#time,
      serverDeliveredTimestamp: this.#time,
      ...content,
    };
    this.#queue.push(`event:receive\ndata:${JSON.stringify({ envelope, account })}\n\n`);
    this.#flush();
  }

  nextTime(): number {
    this.#time += 1_000;
    return this.#time;
  }

  /** Bytes on the stream as they are. */
  async write(bytes: string | Buffer, isCut = false): Promise<void> {
    await this.until(() => this.isListenedTo);
    for (const stream of this.#streams) {
      if (isCut) this.#streams.delete(stream);
      stream.write(bytes, () => isCut && stream.destroy());
    }
  }

  /** The next `send`, or the one so many later, is not done; or it is, and the line is cut. */
  fail(failure: Failure | 'lost', later = 0): void {
    this.#faults.order(() => true, failure, later);
  }

  #flush(): void {
    if (!this.isListenedTo) return;
    for (const event of this.#queue) for (const stream of this.#streams) stream.write(event);
    this.#queue = [];
  }

  protected override async answer(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    if (pathname === '/api/v1/check') return void response.end();
    if (pathname === '/api/v1/events' && request.method === 'GET') {
      if (!this.accounts.includes(searchParams.get('account') ?? ''))
        return void response.writeHead(400).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      this.#streams.add(response);
      response.once('close', () => this.#streams.delete(response));
      response.write(':\n');
      return this.#flush();
    }
    if (pathname !== '/api/v1/rpc') return void response.writeHead(404).end();
    if (!request.headers['content-type']?.startsWith('application/json')) {
      return void response.writeHead(415).end();
    }
    const { id, method, params = {} } = JSON.parse((await readBytes(request)).toString());
    this.calls.push({ method, params });
    const outcome = await this.#carryOut(method, params);
    if (outcome === 'lost') return void request.socket.destroy();
    const answer = 'code' in outcome ? { error: { data: null, ...outcome } } : outcome;
    sendJson(response, { jsonrpc: '2.0', id, ...answer });
  }

  async #carryOut(method: string, params: Params): Promise<{ result: unknown } | Failure | 'lost'> {
    if (this.isSingle && ['listAccounts', 'startLink', 'finishLink'].includes(method)) {
      return { code: -32601, message: 'Method not implemented' };
    }
    switch (method) {
      case 'listAccounts':
        return { result: this.accounts.map((number) => ({ number })) };
      case 'startLink':
        return {
          result: { deviceLinkUri: `sgnl://linkdevice?uuid=${this.calls.length}&pub_key=Bx` },
        };
      case 'finishLink': {
        const number = this.linking.shift() ?? 'too late';
        if (number === 'too late')
          return { code: -1, message: 'Link request timed out, please try again.' };
        this.accounts.push(number);
        return { result: { number } };
      }
    }
    if (!this.accounts.includes(String(params['account']))) {
      return { code: -32602, message: 'Specified account does not exist' };
    }
    switch (method) {
      case 'listContacts':
        return { result: [{ number: this.account, uuid: this.uuid, name: '' }] };
      case 'getAttachment': {
        const file = this.files.get(String(params['id']));
        if (file === undefined)
          return { code: -1, message: `Could not find attachment with ID: ${params['id']}` };
        return { result: { data: file.toString('base64') } };
      }
      case 'send':
        return this.#send(params);
      case 'remoteDelete':
        this.posted = this.posted.filter(
          ({ timestamp }) => timestamp !== params['targetTimestamp'],
        );
        return { result: { timestamp: this.nextTime(), results: [] } };
      case 'sendReaction':
        if (!/\p{Emoji_Presentation}/u.test(String(params['emoji'])))
          return { code: -1, message: 'No emoji' };
        return { result: { timestamp: this.nextTime(), results: [] } };
      case 'sendTyping':
        return { result: { timestamp: this.nextTime(), results: [] } };
      case 'submitRateLimitChallenge':
        return params['captcha'] === 'signalcaptcha://good'
          ? { result: {} }
          : {
              code: -6,
              message:
                'Captcha rejected, it may be outdated, already used or solved from a different IP address.',
            };
    }
    return { code: -32601, message: 'Method not implemented' };
  }

  #send(params: Params): { result: unknown } | Failure | 'lost' {
    const failure = this.#faults.next('send');
    if (failure !== null && failure !== 'lost') return failure;
    const [to = ''] = (params['recipient'] ?? params['groupId'] ?? []) as string[];
    if (this.gone.has(to)) {
      const results = [{ recipientAddress: { uuid: to }, type: 'UNREGISTERED_FAILURE' }];
      return {
        code: -1,
        message: 'Failed to send message',
        data: { response: { timestamp: 1, results } },
      };
    }
    const timestamp = this.nextTime();
    const {
      message = '',
      textStyle = [],
      attachment = [],
      editTimestamp,
    } = params as Record<string, never>;
    const earlier = this.posted.find((one) => one.timestamp === editTimestamp && one.to === to);
    if (earlier === undefined) {
      this.posted.push({
        to,
        timestamp,
        message,
        styles: textStyle,
        params,
        attachments: attachment,
        edits: 0,
      });
    } else {
      Object.assign(earlier, { timestamp, message, styles: textStyle, edits: earlier.edits + 1 });
    }
    if (failure === 'lost') return 'lost';
    const results = [{ recipientAddress: { uuid: to }, type: 'SUCCESS' }];
    return { result: { timestamp, results } };
  }
}
