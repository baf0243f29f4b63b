import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  FarServer,
  OrderedFaults,
  readBytes,
  sendJson,
} from '../../../src/testing/channel/far-server.ts';

export type SlackUser = { readonly id: string; readonly name: string; readonly real_name: string };
export type SlackChannel = { readonly id: string; readonly name?: string; readonly user?: string };
export type PostedMessage = { readonly channel: string; readonly text: string };
export type SharedFile = {
  readonly channel: string;
  readonly thread: string | null;
  readonly name: string;
  readonly text: string;
};

/** A file of a person's: its bytes, or the address to which Slack sends on. */
export type PeoplesFile = {
  readonly info: Fields;
  readonly bytes?: Buffer;
  readonly type?: string;
  readonly movedTo?: string;
};

/** A message with blocks, as it is now. */
export type PostedBlocks = PostedMessage & { readonly ts: string; blocks: readonly Block[] };
export type Block = {
  readonly type: string;
  readonly block_id?: string;
  readonly text?: { readonly text: string };
  readonly elements?: readonly {
    readonly action_id: string;
    readonly value: string;
    readonly text: { readonly text: string };
  }[];
};

/** A message of the app, as a look into its conversation finds it. */
type Said = {
  /** A person; the app by default. */
  readonly user?: string;
  readonly channel: string;
  readonly ts: string;
  readonly text: string;
  readonly thread: string | null;
  readonly isBroadcast: boolean;
  readonly metadata: unknown;
  /** Ids of the files that it shows. */
  readonly files: readonly string[];
  /** The message of a person, as it was sent. */
  readonly whole?: Fields;
};

type Fields = Readonly<Record<string, unknown>>;
type Answer = { readonly status?: number; readonly headers?: Record<string, string> } & (
  | { readonly body: Fields }
  | { readonly cutLine: true }
);

type Call = { readonly method: string; readonly fields: Fields };

/** An event on its way to the app. It was sent `attempts` times, each time under another envelope id. */
type Pending = { readonly type: string; readonly payload: Fields; attempts: number };

/**
 * Slack's side of socket mode and of the few Web API methods that a channel needs, for one workspace
 * and one app, on loopback.
 *
 * A WebSocket needs a ticket of `apps.connections.open`; events come in envelopes, one by one
 * acknowledged by their id. What was not acknowledged comes again under a new id over the next line, or
 * when `repeat` says that Slack's three seconds are over: no clock decides, so that a slow machine sees
 * the same. Events wait while no app is connected (Slack gives up after some minutes; this server does not).
 */
export class SlackServer extends FarServer<Call> {
  readonly botUserId = 'U0BOT';
  readonly posted: PostedMessage[] = [];
  readonly withBlocks: PostedBlocks[] = [];
  /** Texts in threads that are shown in their channel as well. */
  readonly broadcasts: string[] = [];
  /** Threads of the messages in `posted`, by their time stamps. */
  readonly threads = new Map<string, string>();
  readonly files: SharedFile[] = [];
  /** Files that people have shared, by id. */
  readonly shared = new Map<string, PeoplesFile>();
  /** Reactions, as `<time stamp> <name>`. */
  readonly reactions: string[] = [];
  /** Scopes that the app lacks. */
  readonly lacking = new Set<string>();
  /** Messages that only one person was shown. */
  readonly whispered: (PostedMessage & { readonly user: string })[] = [];
  /** Events that the app has not acknowledged. */
  readonly pending: Pending[] = [];
  /** The event of every envelope that ever went out: an acknowledgement may meet a repetition. */
  readonly #envelopes = new Map<string, Pending>();
  /** Frames of the WebSocket that acknowledged nothing. */
  readonly strays: string[] = [];
  connections = 0;
  /** The most messages that a page of a conversation has. */
  pageLimit = 999;
  #tokens: { bot: string; app: string };
  readonly #users = new Map<string, SlackUser>();
  readonly #channels = new Map<string, SlackChannel>();
  readonly #tickets = new Set<string>();
  /** Uploads that are begun, by their id. */
  readonly #uploads = new Map<
    string,
    { readonly name: string; readonly length: number; text: string }
  >();
  /** What a look into a conversation finds of the app's messages. */
  readonly #history: Said[] = [];
  /** Time stamps of `posted`, in its order. */
  readonly #stamps: string[] = [];
  readonly #faults = new OrderedFaults<string, Answer>();
  #isSilent = false;
  /** The app's WebSocket, and the line below it. */
  #app: { readonly webSocket: WebSocket; readonly line: Duplex } | null = null;
  readonly #gateway = new WebSocketServer({ noServer: true });
  /** A server that hangs answers no ping either. */
  readonly #mute = new WebSocketServer({ noServer: true, autoPong: false });
  #clock = Math.floor(Date.now() / 1_000);

  constructor(tokens: { bot: string; app: string }) {
    super();
    this.#tokens = tokens;
  }

  override get url(): string {
    return `${super.url}/api/`;
  }

  protected override prepare(server: Server): void {
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  override async goDown(): Promise<void> {
    this.#app = null;
    await super.goDown();
  }

  addUser(user: SlackUser): void {
    this.#users.set(user.id, user);
  }

  addChannel(channel: SlackChannel): void {
    this.#channels.set(channel.id, channel);
  }

  /** It was archived, or the app is not in it any more. */
  removeChannel(id: string): void {
    this.#channels.delete(id);
  }

  /** The app's tokens are not valid any more, and its line ends. */
  revoke(): void {
    this.#tokens = { bot: 'xoxb-another', app: 'xapp-another' };
    this.recycle();
  }

  /** Has a file that a person has shared, at an address of this server where none is named. */
  share(id: string, file: PeoplesFile): Fields {
    const url_private_download = new URL(`/files/${id}`, this.url).href;
    const info = {
      id,
      mode: 'hosted',
      size: file.bytes?.length,
      url_private_download,
      ...file.info,
    };
    this.shared.set(id, { ...file, info });
    return info;
  }

  /** Sends one frame as it is. */
  sendFrame(text: string): void {
    this.#app?.webSocket.send(text);
  }

  /** Sends half a frame, and cuts the line. */
  sendHalf(): void {
    const line = this.#app?.line;
    this.#app = null;
    // The head of a text of a hundred bytes, and less than that.
    line?.write(Buffer.concat([Buffer.from([0x81, 100]), Buffer.from('{"envelope_id"')]), () =>
      line.destroy(),
    );
  }

  /** Sends a frame of text that holds these bytes. */
  sendBytes(bytes: Buffer): void {
    this.#app?.webSocket.send(bytes, { binary: false });
  }

  /** Moves the app to another machine, as Slack does every few hours. */
  recycle(): void {
    const payload = { type: 'disconnect', reason: 'refresh_requested', debug_info: { host: 'h' } };
    this.sendFrame(JSON.stringify(payload));
    this.#app = null;
  }

  /** Sends everything that is not acknowledged once more, as Slack does after three seconds. */
  repeat(): void {
    for (const event of this.pending) this.#deliver(event);
  }

  /** WebSockets are accepted, but nothing ever comes back over them. */
  fallSilent(isSilent: boolean): void {
    this.#isSilent = isSilent;
  }

  /**
   * Somebody writes; answers with the time stamp of the message. A mention of the app in a channel
   * is an `app_mention` as well, in either order, as with Slack.
   */
  sendText(user: string, channel: string, text: string, more: Fields = {}): string {
    const ts = this.#nextTs();
    const channel_type = channel.startsWith('D') ? 'im' : 'channel';
    const message = { channel, user, text, ts, event_ts: ts, team: 'T1', ...more };
    if (channel_type === 'channel' && text.includes(`<@${this.botUserId}>`)) {
      this.push({ type: 'app_mention', ...message });
    }
    this.push({ type: 'message', channel_type, ...message });
    const thread = typeof more['thread_ts'] === 'string' ? more['thread_ts'] : null;
    const said = { channel, ts, text, thread, isBroadcast: false, metadata: null, files: [] };
    const { channel: _, ...whole } = message;
    this.#history.push({ ...said, user, whole });
    return ts;
  }

  /** Somebody has written this before; answers with its time stamp. The app is told nothing. */
  remember(user: string, channel: string, text: string): string {
    const ts = this.#nextTs();
    const said = { channel, ts, text, thread: null, isBroadcast: false, metadata: null, files: [] };
    this.#history.push({ ...said, user });
    return ts;
  }

  /** Any event. */
  push(event: Fields): void {
    const payload = {
      token: 't',
      team_id: 'T1',
      api_app_id: 'A1',
      type: 'event_callback',
      event_id: `Ev${randomUUID()}`,
      event_time: this.#clock,
      authorizations: [{ team_id: 'T1', user_id: this.botUserId, is_bot: true }],
      event,
    };
    this.#send('events_api', payload);
  }

  /** Somebody presses the button with that text. */
  press(user: string, message: PostedBlocks, text: string): void {
    const buttons = message.blocks.find(({ type }) => type === 'actions');
    const button = buttons?.elements?.find((one) => one.text.text === text);
    const { channel, ts, blocks } = message;
    this.#send('interactive', {
      type: 'block_actions',
      user: { id: user, team_id: 'T1' },
      channel: { id: channel, name: 'x' },
      container: { type: 'message', message_ts: ts, channel_id: channel },
      message: { type: 'message', ts, text: message.text, blocks },
      actions: [{ ...button, type: 'button', block_id: buttons?.block_id, action_ts: ts }],
    });
  }

  /** The time stamp of the message of the app's at that place. */
  stampOf(at: number): string {
    return this.#stamps[at] ?? '';
  }

  #send(type: string, payload: Fields): void {
    const pending = { type, payload, attempts: 0 };
    this.pending.push(pending);
    this.#deliver(pending);
  }

  /** Somebody deletes all that the app has said. */
  deleteAll(): void {
    this.posted.length = 0;
    this.#stamps.length = 0;
  }

  /** The next request of that method, or the one that many later, is answered so. */
  failNext(method: string, answer: Answer, later = 0): void {
    this.#faults.order((asked) => asked === method, answer, later);
  }

  /** A page of a conversation, the newest first, or of a thread, the oldest first. Metadata only where they are asked for. */
  #page(method: string, channel: string, fields: Fields): Fields {
    const thread = method === 'conversations.replies' ? String(fields['ts']) : null;
    const isShown = (one: Said) =>
      thread === null
        ? one.thread === null || one.isBroadcast
        : one.thread === thread || one.ts === thread;
    const from = Number(fields['oldest'] ?? 0);
    const all = this.#history.filter(
      (one) => one.channel === channel && isShown(one) && Number(one.ts) > from,
    );
    if (thread === null) all.reverse();
    const at = Number(fields['cursor'] ?? 0);
    const end = at + Math.min(this.pageLimit, Number(fields['limit'] ?? 100));
    const withMetadata = String(fields['include_all_metadata']) === 'true';
    const messages = all
      .slice(at, end)
      .map(({ user = this.botUserId, ts, text, metadata, files, whole }) => ({
        type: 'message',
        ...whole,
        ...this.#repliesTo(ts),
        user,
        ts,
        text,
        ...(files.length > 0 ? { files: files.map((id) => ({ id })) } : {}),
        ...(withMetadata && metadata !== null ? { metadata } : {}),
      }));
    const hasMore = end < all.length;
    const more = hasMore ? { response_metadata: { next_cursor: String(end) } } : {};
    return { ok: true, messages, has_more: hasMore, ...more };
  }

  #repliesTo(begun: string): Fields {
    const replies = this.#history.filter(({ thread }) => thread === begun);
    const last = replies.at(-1)?.ts;
    return last === undefined
      ? {}
      : { thread_ts: begun, reply_count: replies.length, latest_reply: last };
  }

  #nextTs(): string {
    this.#clock = Math.max(this.#clock + 1, Math.floor(Date.now() / 1_000));
    return `${this.#clock}.000100`;
  }

  #deliver(event: Pending): void {
    if (this.#app === null) return;
    const envelope = {
      envelope_id: randomUUID(),
      type: event.type,
      payload: event.payload,
      accepts_response_payload: false,
      retry_attempt: event.attempts,
      retry_reason: event.attempts === 0 ? '' : 'timeout',
    };
    event.attempts += 1;
    this.#envelopes.set(envelope.envelope_id, event);
    this.sendFrame(JSON.stringify(envelope));
  }

  #onFrame(text: string): void {
    const { envelope_id } = JSON.parse(text) as { envelope_id?: string };
    const event = this.#envelopes.get(envelope_id ?? '');
    if (event === undefined) this.strays.push(text);
    else if (this.pending.includes(event)) this.pending.splice(this.pending.indexOf(event), 1);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { searchParams } = new URL(request.url ?? '/', this.url);
    if (!this.#tickets.delete(searchParams.get('ticket') ?? '')) {
      socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n');
      return;
    }
    const gateway = this.#isSilent ? this.#mute : this.#gateway;
    gateway.handleUpgrade(request, socket, head, (webSocket) =>
      this.#welcome({ webSocket, line: socket }),
    );
  }

  #welcome(app: { readonly webSocket: WebSocket; readonly line: Duplex }): void {
    this.connections += 1;
    app.webSocket.on('error', () => {});
    app.webSocket.on('close', () => {
      this.connections -= 1;
      if (this.#app === app) this.#app = null;
    });
    if (this.#isSilent) return;
    app.webSocket.on('message', (data) => this.#onFrame(String(data)));
    this.#app = app;
    this.sendFrame(
      JSON.stringify({
        type: 'hello',
        num_connections: 1,
        connection_info: { app_id: 'A1' },
        debug_info: { host: 'h', approximate_connection_time: 18_060 },
      }),
    );
    this.repeat();
  }

  protected override async answer(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const bytes = await readBytes(request);
    const [, upload] = /^\/upload\/(\w+)$/.exec(request.url ?? '') ?? [];
    if (upload !== undefined) return this.#takeBytes(upload, bytes, response);
    const [, file] = /^\/files\/(\w+)$/.exec(request.url ?? '') ?? [];
    if (file !== undefined) return this.#giveBytes(file, request, response);
    const fields = Object.fromEntries(new URLSearchParams(bytes.toString()));
    const method = /^\/api\/([\w.]+)$/.exec(request.url ?? '')?.[1] ?? '';
    this.calls.push({ method, fields });
    const fault = this.#faults.next(method);
    const isRefused = fault !== null && !('cutLine' in fault);
    const authorization = request.headers.authorization ?? '';
    const body = isRefused ? {} : this.#perform(method, fields, authorization);
    const answer: Answer = fault ?? { body };
    if ('cutLine' in answer) response.destroy();
    else sendJson(response, answer.body, answer);
  }

  /** As Slack does: an app without the token or the scope is sent to the sign-in page. */
  #giveBytes(id: string, request: IncomingMessage, response: ServerResponse): void {
    const failure = this.#faults.next('download');
    const file = this.shared.get(id);
    if (failure !== null || file === undefined) {
      response.writeHead(failure?.status ?? 404).end();
      return;
    }
    const isKnown = request.headers.authorization === `Bearer ${this.#tokens.bot}`;
    if (file.movedTo !== undefined) response.writeHead(302, { Location: file.movedTo }).end();
    else if (!isKnown || this.lacking.has('files:read')) {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Sign in</h1>');
    } else {
      response.writeHead(200, { 'Content-Type': file.type ?? 'application/octet-stream' });
      response.end(file.bytes);
    }
  }

  #takeBytes(id: string, bytes: Buffer, response: ServerResponse): void {
    const failure = this.#faults.next('upload');
    const upload = this.#uploads.get(id);
    if (failure !== null || upload === undefined) {
      response.writeHead(failure?.status ?? 404).end();
      return;
    }
    upload.text = bytes.toString();
    response.writeHead(200).end(`OK - ${bytes.length}`);
  }

  #perform(method: string, fields: Fields, authorization: string): Fields {
    const token = authorization.replace(/^Bearer /, '');
    const needed = method === 'apps.connections.open' ? this.#tokens.app : this.#tokens.bot;
    if (token === '') return { ok: false, error: 'not_authed' };
    if (token !== needed) return { ok: false, error: 'invalid_auth' };
    const channel = this.#channels.get(String(fields['channel']));
    const user = this.#users.get(String(fields['user']));
    switch (method) {
      case 'auth.test':
        return {
          ok: true,
          team_id: 'T1',
          team: 'Acme',
          user_id: this.botUserId,
          bot_id: 'B1',
          user: 'andy',
        };
      case 'apps.connections.open': {
        const ticket = randomUUID();
        this.#tickets.add(ticket);
        return { ok: true, url: `ws://${this.host}/link/?ticket=${ticket}&app_id=A1` };
      }
      case 'users.info':
        return user === undefined
          ? { ok: false, error: 'user_not_found' }
          : { ok: true, user: { ...user, profile: { display_name: '' } } };
      case 'conversations.info':
        return channel === undefined
          ? { ok: false, error: 'channel_not_found' }
          : { ok: true, channel: { ...channel, is_im: channel.id.startsWith('D') } };
      case 'chat.postMessage': {
        const text = String(fields['text'] ?? '');
        if (channel === undefined) return { ok: false, error: 'channel_not_found' };
        if (text.trim() === '') return { ok: false, error: 'no_text' };
        const ts = this.#nextTs();
        this.posted.push({ channel: channel.id, text });
        this.#stamps.push(ts);
        const isBroadcast = String(fields['reply_broadcast']) === 'true';
        if (isBroadcast) this.broadcasts.push(text);
        const thread = fields['thread_ts'] === undefined ? null : String(fields['thread_ts']);
        const metadata = JSON.parse(String(fields['metadata'] ?? 'null'));
        this.#history.push({
          channel: channel.id,
          ts,
          text,
          thread,
          isBroadcast,
          metadata,
          files: [],
        });
        if (fields['thread_ts'] !== undefined) this.threads.set(text, String(fields['thread_ts']));
        const blocks = blocksIn(fields);
        if (blocks.length > 0) this.withBlocks.push({ channel: channel.id, text, ts, blocks });
        return { ok: true, channel: channel.id, ts, message: { type: 'message', text, ts } };
      }
      case 'conversations.history':
      case 'conversations.replies': {
        if (this.lacking.has('history')) return { ok: false, error: 'missing_scope' };
        if (channel === undefined) return { ok: false, error: 'channel_not_found' };
        return this.#page(method, channel.id, fields);
      }
      case 'chat.update': {
        const message = this.withBlocks.find(({ ts }) => ts === fields['ts']);
        const at = this.#stamps.indexOf(String(fields['ts']));
        if (message === undefined && this.posted[at] !== undefined && channel !== undefined) {
          this.posted[at] = { channel: channel.id, text: String(fields['text']) };
          return { ok: true, ts: fields['ts'] };
        }
        if (message === undefined) return { ok: false, error: 'message_not_found' };
        message.blocks = blocksIn(fields);
        return { ok: true };
      }
      case 'chat.delete': {
        const at = this.#stamps.indexOf(String(fields['ts']));
        if (this.posted[at] === undefined) return { ok: false, error: 'message_not_found' };
        this.posted.splice(at, 1);
        const heard = this.#history.findIndex(({ ts }) => ts === fields['ts']);
        this.#history.splice(heard, 1);
        this.#stamps.splice(at, 1);
        return { ok: true };
      }
      case 'chat.postEphemeral': {
        const { text = '' } = fields;
        this.whispered.push({
          channel: channel?.id ?? '',
          user: user?.id ?? '',
          text: String(text),
        });
        return { ok: true };
      }
      case 'files.info': {
        if (this.lacking.has('files:read')) return { ok: false, error: 'missing_scope' };
        const file = this.shared.get(String(fields['file']));
        return file === undefined
          ? { ok: false, error: 'file_not_found' }
          : { ok: true, file: file.info };
      }
      case 'files.getUploadURLExternal': {
        if (this.lacking.has('files:write')) return { ok: false, error: 'missing_scope' };
        const id = `F${this.#uploads.size + 1}`;
        const name = String(fields['filename']);
        this.#uploads.set(id, { name, length: Number(fields['length']), text: '' });
        return { ok: true, file_id: id, upload_url: `http://${this.host}/upload/${id}` };
      }
      case 'files.completeUploadExternal': {
        if (fields['channel_id'] === undefined) return { ok: false, error: 'channel_not_found' };
        for (const { id } of JSON.parse(String(fields['files']))) {
          const upload = this.#uploads.get(id);
          if (upload === undefined || Buffer.byteLength(upload.text) !== upload.length) {
            return { ok: false, error: 'file_not_found' };
          }
          const { name, text } = upload;
          const thread = fields['thread_ts'] === undefined ? null : String(fields['thread_ts']);
          const where = String(fields['channel_id']);
          this.files.push({ channel: where, thread, name, text });
          const said = { text: '', isBroadcast: false, metadata: null, files: [id] };
          this.#history.push({ ...said, channel: where, ts: this.#nextTs(), thread });
        }
        return { ok: true };
      }
      case 'reactions.remove': {
        if (this.lacking.has('reactions:write')) return { ok: false, error: 'missing_scope' };
        const at = this.reactions.indexOf(`${fields['timestamp']} ${fields['name']}`);
        if (at < 0) return { ok: false, error: 'no_reaction' };
        this.reactions.splice(at, 1);
        return { ok: true };
      }
      case 'reactions.add': {
        if (this.lacking.has('reactions:write')) return { ok: false, error: 'missing_scope' };
        const reaction = `${fields['timestamp']} ${fields['name']}`;
        if (this.reactions.includes(reaction)) return { ok: false, error: 'already_reacted' };
        this.reactions.push(reaction);
        return { ok: true };
      }
      default:
        return { ok: false, error: 'unknown_method' };
    }
  }
}

function blocksIn(fields: Fields): readonly Block[] {
  return JSON.parse(String(fields['blocks'] ?? '[]'));
}

/** Starts a Slack for the app with these tokens, on a free port of loopback. */
export async function startSlack(tokens: { bot: string; app: string }): Promise<SlackServer> {
  return await new SlackServer(tokens).comeUp();
}
