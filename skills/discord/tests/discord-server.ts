import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { FarServer, OrderedFaults, readBytes } from '../../../src/testing/channel/far-server.ts';

type Fields = Readonly<Record<string, unknown>>;

export type FarUser = { readonly id: string; readonly username: string; readonly bot?: boolean };

/** A message of the bot's, as it is now. */
export type Posted = {
  readonly id: string;
  readonly channel: string;
  content: string;
  components: readonly Row[];
  readonly nonce: string | null;
  /** The message that it answers. */
  readonly answers: string | null;
  readonly flags: number;
  readonly files: readonly { readonly name: string; readonly bytes: Buffer }[];
};

type Row = {
  readonly components: readonly { readonly label: string; readonly custom_id: string }[];
};

type Answer = {
  readonly status: number;
  readonly body?: Fields;
  readonly headers?: Readonly<Record<string, string>>;
};

type Asked = { readonly method: string; readonly path: string; readonly body: Fields };

type GatewayEvent = { readonly s: number; readonly t: string; readonly d: unknown };

/** A session at the gateway: the events that it had, for a line that resumes it. */
type Session = { readonly id: string; readonly events: GatewayEvent[]; intents: number };

const MESSAGE_CONTENT = 1 << 15;
const EPOCH_MS = 1_420_070_400_000n;

/**
 * Discord's side of the REST API and the gateway, version 10, for one bot on loopback: sessions with numbered events
 * that a line resumes, heartbeats, invalid sessions, close codes, interactions, nonces and limits.
 */
export class DiscordServer extends FarServer<Asked> {
  readonly bot: FarUser = { id: '900000000000000001', username: 'andy', bot: true };
  readonly applicationId = '900000000000000002';
  readonly guildId = '800000000000000001';
  token: string;
  readonly posted: Posted[] = [];
  /** Messages that only one person was shown. */
  readonly whispered: string[] = [];
  /** Reactions, as `<message> <emoji>`. */
  readonly reactions: string[] = [];
  readonly typing: string[] = [];
  /** Frames that the bot sent, in order. */
  readonly frames: { readonly op: number; readonly d: unknown }[] = [];
  /** Callbacks of interactions, by the interaction's id. */
  readonly acknowledged = new Map<string, number>();
  commands: readonly Fields[] = [];
  /** True while the portal's switch MESSAGE CONTENT INTENT is on. */
  readsMessages = true;
  /** True while the application says so too. */
  saysReadsMessages: boolean | null = null;
  heartbeatMs = 45_000;
  answersHeartbeats = true;
  /** Lines are accepted, but nothing ever comes back over them. */
  isSilent = false;
  startsLeft = 1_000;
  connections = 0;
  readonly #channels = new Map<string, Fields>();
  readonly #messages = new Map<string, Fields>();
  readonly #files = new Map<string, Buffer>();
  readonly #interactions = new Map<string, { channel: string; message: string | null }>();
  readonly #faults = new OrderedFaults<Asked, Answer | 'cut'>();
  #session: Session | null = null;
  #line: WebSocket | null = null;
  readonly #gateway = new WebSocketServer({ noServer: true });
  #count = 0n;
  #sessions = 0;

  constructor(token: string) {
    super();
    this.token = token;
  }

  override get url(): string {
    return `${super.url}/api`;
  }

  protected override prepare(server: Server): void {
    server.on('upgrade', (request, socket, head) =>
      this.#gateway.handleUpgrade(request, socket, head, (line) => this.#welcome(line)),
    );
  }

  override async goDown(): Promise<void> {
    this.#line = null;
    await super.goDown();
  }

  /** Makes an id: later ones are larger. */
  newId(): string {
    this.#count += 1n;
    return String(((1_700_000_000_000n - EPOCH_MS) << 22n) + this.#count);
  }

  addChannel(channel: { readonly id: string; readonly type: number } & Fields): void {
    this.#channels.set(channel.id, channel);
  }

  /** Somebody writes. Returns the id of the message. */
  say(author: FarUser, channel: string, content: string, more: Fields = {}): string {
    const guild_id = this.#channels.get(channel)?.['guild_id'];
    const id = this.newId();
    const message = {
      id,
      channel_id: channel,
      ...(guild_id === undefined ? {} : { guild_id }),
      author,
      content,
      type: 0,
      timestamp: '2023-11-14T22:13:20.000Z',
      mentions: content.includes(`<@${this.bot.id}>`) ? [this.bot] : [],
      ...more,
    };
    this.#messages.set(id, message);
    this.push('MESSAGE_CREATE', message);
    return id;
  }

  /** Somebody sends a file. Returns its description. */
  addFile(name: string, content: Buffer, more: Fields = {}): Fields {
    const id = this.newId();
    this.#files.set(id, content);
    const url = `http://${this.host}/attachments/${id}/${name}`;
    return { id, filename: name, size: content.length, url, ...more };
  }

  /** Somebody uses a slash command. Returns the id of the interaction. */
  command(user: FarUser, channel: string, name: string, text?: string): string {
    const options = text === undefined ? [] : [{ name: 'text', type: 3, value: text }];
    return this.#interact(user, channel, { type: 2, data: { name, type: 1, options } });
  }

  /** Somebody presses the button with that text. */
  press(user: FarUser, message: Posted, label: string): string {
    const buttons = message.components.flatMap(({ components }) => components);
    const custom_id = buttons.find((one) => one.label === label)?.custom_id ?? '';
    const data = { custom_id, component_type: 2 };
    return this.#interact(user, message.channel, { type: 3, data }, message.id);
  }

  #interact(user: FarUser, channel: string, more: Fields, message: string | null = null): string {
    const id = this.newId();
    const token = `token-of-${id}`;
    this.#interactions.set(token, { channel, message });
    const guild_id = this.#channels.get(channel)?.['guild_id'];
    this.push('INTERACTION_CREATE', {
      id,
      application_id: this.applicationId,
      token,
      channel_id: channel,
      version: 1,
      ...(guild_id === undefined ? { user } : { guild_id, member: { user, nick: null } }),
      ...more,
    });
    return id;
  }

  /** Any event. It is numbered, and waits while no line is open. */
  push(type: string, data: Fields): void {
    if (this.#session === null) return;
    const event = { s: this.#session.events.length + 1, t: type, d: this.#visible(type, data) };
    this.#session.events.push(event);
    this.#write({ op: 0, ...event });
  }

  /** Without the intent, a message in a server that does not mention the bot has no content. */
  #visible(type: string, data: Fields): Fields {
    const mayRead = ((this.#session?.intents ?? 0) & MESSAGE_CONTENT) !== 0;
    const isHidden = type === 'MESSAGE_CREATE' && data['guild_id'] !== undefined && !mayRead;
    const mentions = data['mentions'];
    const isMentioned = Array.isArray(mentions) && mentions.some(({ id }) => id === this.bot.id);
    return isHidden && !isMentioned ? { ...data, content: '', attachments: [] } : data;
  }

  /** Sends any frame, or these very bytes. */
  #write(frame: Fields | string): void {
    this.#line?.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  send(frame: Fields | string): void {
    this.#write(frame);
  }

  /** Writes bytes below the WebSocket: half a frame, or what is not text. */
  sendRaw(bytes: Buffer): void {
    for (const socket of this.sockets) if (this.#lineSocket === socket) socket.write(bytes);
  }

  #lineSocket: Socket | null = null;

  /** Sends these bytes as a text. */
  sendBytes(bytes: Buffer): void {
    this.#line?.send(bytes, { binary: false });
  }

  /** From now on the token is not valid. */
  revoke(): void {
    this.token = 'another.token.now';
    this.closeLine(4_004);
  }

  removeChannel(id: string): void {
    this.#channels.delete(id);
  }

  cutLine(): void {
    this.#lineSocket?.destroy();
  }

  closeLine(code: number): void {
    this.#line?.close(code);
    this.#line = null;
  }

  /** Tells the bot to come back over another line. */
  moveLine(): void {
    this.#write({ op: 7, d: null });
    this.#line = null;
  }

  get hasSession(): boolean {
    return this.#session !== null;
  }

  /** The session is gone, and events until the next one are lost on the gateway. */
  endSession(): void {
    this.#session = null;
  }

  /** Deletes a message of the bot's. */
  deletePosted(at: number): void {
    this.posted.splice(at, 1);
  }

  deleteMessage(id: string): void {
    this.#messages.delete(id);
  }

  /** The next request to that path, or the one that many later, is answered so; with null, the line is cut. */
  failNext(method: string, path: RegExp, answer: Answer | null, later = 0): void {
    const isMeant = (call: Asked) => call.method === method && path.test(call.path);
    this.#faults.order(isMeant, answer ?? 'cut', later);
  }

  #welcome(line: WebSocket): void {
    this.connections += 1;
    line.on('close', () => {
      this.connections -= 1;
      if (this.#line === line) this.#line = null;
    });
    line.on('error', () => {});
    if (this.isSilent) return;
    line.on('message', (data) => this.#onFrame(line, JSON.parse(String(data))));
    line.send(JSON.stringify({ op: 10, d: { heartbeat_interval: this.heartbeatMs } }));
  }

  #onFrame(line: WebSocket, frame: { op: number; d: Fields }): void {
    this.frames.push(frame);
    const { op, d } = frame;
    if (op === 1 && this.answersHeartbeats) line.send('{"op":11}');
    if (op !== 2 && op !== 6) return;
    if (d['token'] !== this.token) line.close(4_004);
    else if (op === 2) this.#identify(line, Number(d['intents']));
    else this.#resume(line, d);
  }

  #resume(line: WebSocket, d: Fields): void {
    const session = this.#session;
    const seq = Number(d['seq']);
    if (session === null || session.id !== d['session_id'] || seq > session.events.length) {
      line.send('{"op":9,"d":false}');
      return;
    }
    this.#open(line);
    for (const event of session.events.filter(({ s }) => s > seq)) this.#write({ op: 0, ...event });
    this.push('RESUMED', {});
  }

  #identify(line: WebSocket, intents: number): void {
    if ((intents & MESSAGE_CONTENT) !== 0 && !this.readsMessages) {
      line.close(4_014);
      return;
    }
    this.#sessions += 1;
    this.#session = { id: `session-${this.#sessions}`, events: [], intents };
    this.#open(line);
    this.push('READY', {
      v: 10,
      user: this.bot,
      guilds: [{ id: this.guildId, unavailable: true }],
      session_id: this.#session.id,
      resume_gateway_url: `ws://${this.host}/resume`,
      application: { id: this.applicationId, flags: 0 },
    });
    const all = [...this.#channels.values()].filter((one) => one['guild_id'] !== undefined);
    this.push('GUILD_CREATE', {
      id: this.guildId,
      name: 'Acme',
      channels: all.filter(({ type }) => Number(type) < 10),
      threads: all.filter(({ type }) => Number(type) >= 10),
      roles: [
        { id: '810000000000000001', name: 'andy', tags: { bot_id: this.bot.id } },
        { id: '810000000000000002', name: 'cooks' },
      ],
    });
  }

  #open(line: WebSocket): void {
    this.#line = line;
    this.#lineSocket = (line as unknown as { _socket: Socket })._socket;
  }

  protected override async answer(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const bytes = await readBytes(request);
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
    const [, file] = /^\/attachments\/(\d+)\//.exec(pathname) ?? [];
    const method = request.method ?? '';
    const path = pathname.replace(/^\/api\/v10/, '');
    const { body, files } = readBody(request.headers['content-type'] ?? '', bytes);
    this.calls.push({ method, path, body });
    const fault = this.#faults.next({ method, path, body });
    if (fault === 'cut') {
      this.#perform({ method, path, body, files, query: searchParams });
      response.destroy();
      return;
    }
    if (fault === null && file !== undefined) {
      const content = this.#files.get(file);
      response.writeHead(content === undefined ? 404 : 200).end(content);
      return;
    }
    const isFree = /^\/(interactions|webhooks)\//.test(path);
    const isRight = request.headers.authorization === `Bot ${this.token}`;
    const answer =
      fault ??
      (isFree || isRight
        ? this.#perform({ method, path, body, files, query: searchParams })
        : { status: 401, body: { message: '401: Unauthorized', code: 0 } });
    response.writeHead(answer.status, {
      ...(answer.status === 204 ? {} : { 'content-type': 'application/json' }),
      'x-ratelimit-bucket': 'b',
      ...answer.headers,
    });
    response.end(answer.status === 204 ? undefined : JSON.stringify(answer.body ?? {}));
  }

  #perform(call: Call): Answer {
    const { method, path } = call;
    for (const [pattern, run] of this.#routes) {
      const found = new RegExp(`^${pattern}$`).exec(`${method} ${path}`);
      if (found !== null) return run(found.slice(1).map(decodeURIComponent), call);
    }
    return refused(404, 0, '404: Not Found');
  }

  readonly #routes: readonly [string, (parts: string[], call: Call) => Answer][] = [
    ['GET /users/@me', () => ({ status: 200, body: this.bot })],
    [
      'GET /applications/@me',
      () => {
        const flags = (this.saysReadsMessages ?? this.readsMessages) ? 1 << 19 : 0;
        return { status: 200, body: { id: this.applicationId, name: 'Andy', flags } };
      },
    ],
    [
      'GET /gateway/bot',
      () => ({
        status: 200,
        body: {
          url: `ws://${this.host}`,
          shards: 1,
          session_start_limit: {
            total: 1_000,
            remaining: this.startsLeft,
            reset_after: 60_000,
            max_concurrency: 1,
          },
        },
      }),
    ],
    [
      'PUT /applications/\\d+/commands',
      (_, { body }) => {
        this.commands = body as unknown as Fields[];
        return { status: 200, body };
      },
    ],
    [
      'GET /channels/(\\d+)',
      ([id = '']) => found(this.#channels.get(id), 10_003, 'Unknown Channel'),
    ],
    [
      'GET /guilds/(\\d+)',
      ([id]) => found(id === this.guildId ? { id, name: 'Acme' } : undefined, 10_004, 'Unknown'),
    ],
    [
      'GET /channels/(\\d+)/messages/(\\d+)',
      ([, id = '']) => found(this.#messages.get(id), 10_008, 'Unknown Message'),
    ],
    [
      'GET /channels/(\\d+)/messages',
      ([channel], { query }) => {
        const after = BigInt(query.get('after') ?? 0);
        const limit = Number(query.get('limit'));
        const later = [...this.#messages.values()].filter(
          (one) => one['channel_id'] === channel && BigInt(String(one['id'])) > after,
        );
        // The oldest of those that are later, newest first, and without the server.
        const page = later.slice(0, limit).reverse();
        const body = page.map(({ guild_id: _, ...message }) => message);
        return { status: 200, body: body as unknown as Fields };
      },
    ],
    ['POST /channels/(\\d+)/messages', ([channel = ''], call) => this.#post(channel, call)],
    [
      'PATCH /channels/(\\d+)/messages/(\\d+)',
      ([, id], { body }) =>
        this.#change(
          this.posted.find((one) => one.id === id),
          body,
        ),
    ],
    [
      'DELETE /channels/(\\d+)/messages/(\\d+)',
      ([, id]) => {
        const at = this.posted.findIndex((one) => one.id === id);
        if (at === -1) return refused(404, 10_008, 'Unknown Message');
        this.posted.splice(at, 1);
        return { status: 204 };
      },
    ],
    [
      'PUT /channels/(\\d+)/messages/(\\d+)/reactions/(.+)/@me',
      ([, id, emoji = '']) => {
        if (!/\p{Emoji}/u.test(emoji)) return refused(400, 10_014, 'Unknown Emoji');
        this.reactions.push(`${id} ${emoji}`);
        return { status: 204 };
      },
    ],
    [
      'POST /channels/(\\d+)/typing',
      ([channel = '']) => {
        this.typing.push(channel);
        return { status: 204 };
      },
    ],
    [
      'POST /interactions/(\\d+)/([^/]+)/callback',
      ([id = ''], { body }) => {
        if (this.acknowledged.has(id)) return refused(400, 40_060, 'Already acknowledged');
        this.acknowledged.set(id, Number(body['type']));
        return { status: 204 };
      },
    ],
    [
      'PATCH /webhooks/(\\d+)/([^/]+)/messages/@original',
      ([, token = ''], call) => this.#original(token, call),
    ],
    [
      'DELETE /webhooks/(\\d+)/([^/]+)/messages/@original',
      ([, token = '']) =>
        this.#interactions.delete(token)
          ? { status: 204 }
          : refused(404, 10_015, 'Unknown Webhook'),
    ],
    [
      'POST /webhooks/(\\d+)/([^/]+)',
      (_, { body }) => {
        this.whispered.push(String(body['content']));
        return { status: 200, body: { id: this.newId(), channel_id: '1' } };
      },
    ],
  ];

  #post(channel: string, { body, files }: Call): Answer {
    if (!this.#channels.has(channel)) return refused(404, 10_003, 'Unknown Channel');
    const content = String(body['content'] ?? '');
    if (content === '' && files.length === 0)
      return refused(400, 50_006, 'Cannot send an empty message');
    if ([...content].length > 2_000) return refused(400, 50_035, 'Invalid Form Body');
    const nonce = body['nonce'] === undefined ? null : String(body['nonce']);
    if ((nonce?.length ?? 0) > 25) return refused(400, 50_035, 'Invalid Form Body');
    const same = this.posted.find((one) => nonce !== null && one.nonce === nonce);
    if (same !== undefined && body['enforce_nonce'] === true) {
      return { status: 200, body: { id: same.id, channel_id: channel } };
    }
    const reference = body['message_reference'] as { message_id: string } | undefined;
    return this.#add({
      id: this.newId(),
      channel,
      content,
      components: (body['components'] ?? []) as Row[],
      nonce,
      answers: reference?.message_id ?? null,
      flags: Number(body['flags'] ?? 0),
      files,
    });
  }

  #add(posted: Posted): Answer {
    this.posted.push(posted);
    return { status: 200, body: { id: posted.id, channel_id: posted.channel } };
  }

  #original(token: string, { body }: Call): Answer {
    const interaction = this.#interactions.get(token);
    if (interaction === undefined) return refused(404, 10_015, 'Unknown Webhook');
    const known = this.posted.find(({ id }) => id === interaction.message);
    if (known !== undefined) return this.#change(known, body);
    const id = this.newId();
    interaction.message = id;
    const { channel } = interaction;
    const content = String(body['content'] ?? '');
    const components = (body['components'] ?? []) as Row[];
    return this.#add({
      id,
      channel,
      content,
      components,
      nonce: null,
      answers: null,
      flags: 0,
      files: [],
    });
  }

  #change(message: Posted | undefined, body: Fields): Answer {
    if (message === undefined) return refused(404, 10_008, 'Unknown Message');
    if (body['content'] !== undefined) message.content = String(body['content']);
    if (body['components'] !== undefined) message.components = body['components'] as Row[];
    return { status: 200, body: { id: message.id, channel_id: message.channel } };
  }
}

type Call = {
  readonly method: string;
  readonly path: string;
  readonly body: Fields;
  readonly files: Posted['files'];
  readonly query: URLSearchParams;
};

function refused(status: number, code: number, message: string): Answer {
  return { status, body: { code, message } };
}

function found(body: Fields | undefined, code: number, message: string): Answer {
  return body === undefined ? refused(404, code, message) : { status: 200, body };
}

/** Reads JSON, or the parts of a form: `payload_json` and files. */
function readBody(type: string, bytes: Buffer): Pick<Call, 'body' | 'files'> {
  const [, boundary] = /^multipart\/form-data; boundary="?([^";]+)"?/.exec(type) ?? [];
  if (boundary === undefined) {
    return { body: bytes.length === 0 ? {} : JSON.parse(bytes.toString()), files: [] };
  }
  const parts = bytes.toString('latin1').split(`--${boundary}`).slice(1, -1);
  const files: { name: string; bytes: Buffer }[] = [];
  let body: Fields = {};
  for (const part of parts) {
    const [head = '', ...rest] = part.split('\r\n\r\n');
    const content = Buffer.from(rest.join('\r\n\r\n').replace(/\r\n$/, ''), 'latin1');
    const [, name] = /filename="([^"]*)"/.exec(Buffer.from(head, 'latin1').toString()) ?? [];
    if (name === undefined) body = JSON.parse(content.toString());
    else files.push({ name, bytes: content });
  }
  return { body, files };
}

/** Starts a Discord for the bot with this token, on a free port of loopback. */
export async function startDiscord(token: string): Promise<DiscordServer> {
  return await new DiscordServer(token).comeUp();
}
