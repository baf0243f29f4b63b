import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import {
  FarServer,
  OrderedFaults,
  readBytes,
  sendJson,
  sendRawJson,
} from '../../../src/testing/channel/far-server.ts';
import { DeviceKeys } from './device-keys.ts';

const TIMELINE = 100;

export type Json = Readonly<Record<string, unknown>>;

/** An event as the server has it. */
export type FarEvent = {
  readonly event_id: string;
  readonly type: string;
  readonly sender: string;
  readonly origin_server_ts: number;
  readonly state_key?: string;
  content: Json;
  readonly redacts?: string;
};

type Placed = { readonly pos: number; readonly event: FarEvent };
type Room = { readonly timeline: Placed[]; readonly joinedAt: Map<string, number> };
type Invite = {
  readonly pos: number;
  readonly user: string;
  readonly room: string;
  readonly state: readonly Json[];
};
/** `lost`: what was asked for is done, and the line is cut. */
type Fault =
  | 'lost'
  | { readonly status: number; readonly body: Json; readonly headers?: Record<string, string> };
export type Call = { readonly method: string; readonly path: string; readonly body: Json };

/** A person's login. */
export type Session = { readonly user: string; readonly device: string };

type Asked = {
  readonly session: Session;
  readonly body: Json;
  readonly bytes: Buffer;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
};
type Refusal = { readonly status: number; readonly errcode: string; readonly more?: Json };

/** A homeserver that speaks as much of the client-server API as an account needs, with rooms in memory. */
export class MatrixServer extends FarServer<Call> {
  readonly sessions = new Map<string, Session>();
  readonly passwords = new Map<string, string>();
  readonly names = new Map<string, string>();
  readonly rooms = new Map<string, Room>();
  readonly keys = new DeviceKeys();
  readonly files = new Map<string, { content: Buffer; type: string }>();
  /** Rooms in which nobody may write any more. */
  readonly closed = new Set<string>();
  /** Ids of the direct chats of the account. */
  direct: Readonly<Record<string, readonly string[]>> = {};
  maxUpload = 50_000_000;
  /** The place up to which the account has everything, by its own word. */
  acknowledged = 0;
  connections = 0;
  /** Called before a request is carried out. */
  onCall: (call: Call) => void = () => {};
  #pos = 1;
  readonly #invites: Invite[] = [];
  readonly #transactions = new Map<string, string>();
  readonly #faults = new OrderedFaults<string, Fault>();
  readonly #waiting = new Set<() => void>();
  /** Bytes in place of the next answer to a sync; cut after them, or whole. */
  #raw: { bytes: Buffer; isCut: boolean } | null = null;

  protected override prepare(server: Server): void {
    server.on('connection', () => {
      this.connections += 1;
    });
  }

  override async goDown(): Promise<void> {
    const down = super.goDown();
    this.#wake();
    await down;
  }

  /** Makes a room with these people in it. */
  addRoom(id: string, people: readonly string[], state: readonly Json[] = []): void {
    this.rooms.set(id, { timeline: [], joinedAt: new Map() });
    for (const event of state)
      this.push(id, people[0] ?? '', String(event['type']), event['content'] as Json, '');
    for (const person of people) this.join(id, person);
  }

  join(id: string, user: string): void {
    const displayname = this.names.get(user);
    this.push(
      id,
      user,
      'm.room.member',
      { membership: 'join', ...(displayname === undefined ? {} : { displayname }) },
      user,
    );
    this.#room(id).joinedAt.set(user, this.#pos);
    this.keys.touch(user, this.#pos);
  }

  leave(id: string, user: string): void {
    this.#room(id).joinedAt.delete(user);
    this.push(id, user, 'm.room.member', { membership: 'leave' }, user);
  }

  invite(
    room: string,
    sender: string,
    user: string,
    { isDirect = false, isEncrypted = false } = {},
  ): void {
    const content = { membership: 'invite', is_direct: isDirect };
    const member = { type: 'm.room.member', sender, state_key: user, content };
    const encryption = {
      type: 'm.room.encryption',
      sender,
      state_key: '',
      content: { algorithm: 'm.megolm.v1.aes-sha2' },
    };
    this.push(room, sender, 'm.room.member', content, user);
    const state = isEncrypted ? [encryption, member] : [member];
    this.#invites.push({ pos: this.#pos, user, room, state });
  }

  /** Somebody sends an event. Returns its id. */
  push(
    room: string,
    sender: string,
    type: string,
    content: Json,
    stateKey?: string,
    more: Json = {},
  ): string {
    this.#pos += 1;
    const event_id = `$${this.#pos}:test`;
    const event = {
      event_id,
      type,
      sender,
      origin_server_ts: 1_700_000_000_000 + this.#pos,
      content,
      ...more,
    };
    const before = this.#room(room).timeline.findLast(
      ({ event: one }) => one['type'] === type && one['state_key'] === stateKey,
    );
    const unsigned = before === undefined ? {} : { prev_content: before.event['content'] };
    const whole = stateKey === undefined ? event : { ...event, state_key: stateKey, unsigned };
    this.#room(room).timeline.push({ pos: this.#pos, event: whole });
    this.#wake();
    return event_id;
  }

  /** Somebody says something. */
  say(room: string, sender: string, body: string, more: Json = {}): string {
    return this.push(room, sender, 'm.room.message', { msgtype: 'm.text', body, ...more });
  }

  /** Takes an event back, as its sender does. */
  redact(room: string, id: string, sender: string): void {
    const target = this.#room(room).timeline.find(({ event }) => event.event_id === id);
    if (target !== undefined) target.event.content = {};
    this.push(room, sender, 'm.room.redaction', { redacts: id }, undefined, { redacts: id });
  }

  events(room: string): readonly FarEvent[] {
    return this.#room(room).timeline.map(({ event }) => event);
  }

  /** Counts messages of people that the account has not acknowledged. */
  waitingFor(user: string): number {
    return [...this.rooms.values()]
      .flatMap(({ timeline }) => timeline)
      .filter(
        ({ pos, event }) =>
          pos > this.acknowledged && event.sender !== user && event.state_key === undefined,
      ).length;
  }

  failNext(path: RegExp, fault: Fault, later = 0): void {
    this.#faults.order((asked) => path.test(asked), fault, later);
  }

  /** Answers the sync that is open with these bytes. */
  sendRaw(bytes: Buffer, isCut: boolean): void {
    this.#raw = { bytes, isCut };
    this.#wake();
  }

  /** Returns the answer that a sync would have now, with one more message, as JSON. */
  answerWith(room: string, sender: string, body: string): string {
    const event = {
      event_id: '$raw:test',
      type: 'm.room.message',
      sender,
      origin_server_ts: 1,
      content: { msgtype: 'm.text', body },
    };
    return JSON.stringify({
      next_batch: `s${this.#pos}`,
      rooms: { join: { [room]: { timeline: { events: [event] } } } },
    });
  }

  #room(id: string): Room {
    const room = this.rooms.get(id);
    if (room === undefined) throw new Error(`there is no room ${id}`);
    return room;
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  protected override async answer(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', this.url);
    const bytes = await readBytes(request);
    const isJson = request.headers['content-type'] === 'application/json';
    const body = (isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : {}) as Json;
    const path = decodeURIComponent(pathname.replace('/_matrix/client/v3', ''));
    const method = request.method ?? 'GET';
    if (path !== '/sync') {
      this.calls.push({ method, path, body });
      this.onCall({ method, path, body });
    }
    const fault = this.#faults.next(path);
    if (fault !== null && fault !== 'lost') return sendJson(response, fault.body, fault);
    const answer = await this.#outcome(method, pathname, path, { body, bytes, query, request });
    if (fault === 'lost' || !this.isUp) return void request.socket.destroy();
    if (Buffer.isBuffer(answer)) return void response.end(answer);
    if ('raw' in answer) {
      const { bytes: raw, isCut } = answer.raw as { bytes: Buffer; isCut: boolean };
      return sendRawJson(response, raw, isCut);
    }
    const isRefusal = 'errcode' in answer;
    const { status = 200, more = {} } = isRefusal ? (answer as Refusal) : {};
    const told = isRefusal
      ? { errcode: answer['errcode'], error: `not so: ${answer['errcode']}`, ...more }
      : answer;
    sendJson(response, told, { status });
  }

  async #outcome(
    method: string,
    whole: string,
    path: string,
    asked: Omit<Asked, 'session'>,
  ): Promise<Json | Refusal | Buffer> {
    if (path === '/.well-known/matrix/client') return { 'm.homeserver': { base_url: this.url } };
    if (path === '/login') return this.#login(method, asked.body);
    const token = asked.request.headers.authorization?.replace('Bearer ', '') ?? '';
    const session = this.sessions.get(token);
    if (session === undefined) return { status: 401, errcode: 'M_UNKNOWN_TOKEN' };
    const all = { ...asked, session };
    const parts = whole.replace('/_matrix/client/v3/', '').split('/').map(decodeURIComponent);
    if (path === '/sync') return await this.#sync(all);
    if (path === '/account/whoami') return { user_id: session.user, device_id: session.device };
    if (parts[0] === 'profile') return { displayname: this.names.get(parts[1] ?? '') ?? null };
    if (parts[0] === 'rooms') return this.#inRoom(parts.slice(1), all);
    if (parts[0] === 'join') return this.#joinBy(parts[1] ?? '', session.user);
    if (path.startsWith('/keys/')) return this.keys.answer(path, session, asked.body, this.#pos);
    if (parts[0] === 'sendToDevice') {
      this.#pos += 1;
      this.keys.deliver(session.user, parts[1] ?? '', asked.body, this.#pos);
      this.#wake();
      return {};
    }
    if (whole.startsWith('/_matrix/media/v3/upload')) return this.#upload(asked);
    const id = /\/media\/download\/(.+)$/.exec(whole)?.[1];
    const file = id === undefined ? undefined : this.files.get(`mxc://${decodeURIComponent(id)}`);
    return file?.content ?? { status: 404, errcode: 'M_NOT_FOUND' };
  }

  #login(method: string, body: Json): Json | Refusal {
    if (method === 'GET') return { flows: [{ type: 'm.login.password' }] };
    const { user } = body['identifier'] as { user: string };
    const id = user.startsWith('@') ? user : `@${user}:test`;
    if (this.passwords.get(id) !== body['password']) return { status: 403, errcode: 'M_FORBIDDEN' };
    const token = `token-${this.sessions.size}-of-${user.replace(/\W/g, '')}`;
    const device = `NEW${this.sessions.size}`;
    this.sessions.set(token, { user: id, device });
    return { access_token: token, device_id: device, user_id: id };
  }

  #upload({ bytes, request }: Omit<Asked, 'session'>): Json | Refusal {
    if (bytes.length > this.maxUpload) return { status: 413, errcode: 'M_TOO_LARGE' };
    const uri = `mxc://test/file${this.files.size}`;
    this.files.set(uri, { content: bytes, type: request.headers['content-type'] ?? '' });
    return { content_uri: uri };
  }

  #joinBy(id: string, user: string): Json | Refusal {
    const isInvited = this.#invites.some((invite) => invite.room === id && invite.user === user);
    const rule = this.rooms
      .get(id)
      ?.timeline.findLast(({ event }) => event.type === 'm.room.join_rules');
    if (!isInvited && rule?.event.content['join_rule'] !== 'public')
      return { status: 403, errcode: 'M_FORBIDDEN' };
    this.join(id, user);
    return { room_id: id };
  }

  #inRoom([id = '', what = '', ...rest]: readonly string[], asked: Asked): Json | Refusal {
    const { session, query } = asked;
    const room = this.rooms.get(id);
    if (what === 'leave') {
      if (room !== undefined) this.leave(id, session.user);
      return {};
    }
    if (room === undefined || this.closed.has(id) || !room.joinedAt.has(session.user)) {
      return { status: 403, errcode: 'M_FORBIDDEN' };
    }
    switch (what) {
      case 'joined_members':
        return { joined: Object.fromEntries([...room.joinedAt.keys()].map((user) => [user, {}])) };
      case 'send':
        return this.#send(id, rest, asked);
      case 'redact': {
        const [target = '', transaction = ''] = rest;
        return this.#once(session, transaction, () => {
          this.redact(id, target, session.user);
          return '$redacted:test';
        });
      }
      case 'state': {
        const found = room.timeline.findLast(
          ({ event }) => event.type === rest[0] && event.state_key === (rest[1] ?? ''),
        );
        return found?.event.content ?? { status: 404, errcode: 'M_NOT_FOUND' };
      }
      case 'event': {
        const found = room.timeline.find(({ event }) => event.event_id === rest[0]);
        return found?.event ?? { status: 404, errcode: 'M_NOT_FOUND' };
      }
      case 'messages': {
        const from = Number(query.get('from')?.slice(1));
        const to = Number(query.get('to')?.slice(1));
        const found = room.timeline
          .filter(({ pos }) => pos < from && pos > to)
          .reverse()
          .slice(0, TIMELINE);
        const end = found.at(-1);
        return {
          chunk: found.map(({ event }) => event),
          ...(end === undefined ? {} : { end: `p${end.pos}` }),
        };
      }
      default:
        return {};
    }
  }

  #send(
    id: string,
    [type = '', transaction = '']: readonly string[],
    { session, body }: Asked,
  ): Json | Refusal {
    if (JSON.stringify(body).length > 65_536) return { status: 413, errcode: 'M_TOO_LARGE' };
    return this.#once(session, transaction, () => this.push(id, session.user, type, body));
  }

  #once({ device }: Session, transaction: string, make: () => string): Json {
    const key = `${device} ${transaction}`;
    const event_id = this.#transactions.get(key) ?? make();
    this.#transactions.set(key, event_id);
    return { event_id };
  }

  async #sync({ session, query, request }: Asked): Promise<Json> {
    const since = Number(query.get('since')?.slice(1) ?? 0);
    this.acknowledged = Math.max(this.acknowledged, since);
    const filter = JSON.parse(query.get('filter') ?? '{}') as {
      room?: { timeline?: { limit?: number } };
    };
    const limit = filter.room?.timeline?.limit ?? 10;
    const isOver = () => request.socket.destroyed || !this.isUp;
    const end = Date.now() + Number(query.get('timeout') ?? 0);
    while (since >= this.#pos && this.#raw === null && !isOver() && Date.now() < end) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      request.socket.once('close', resolve);
      const timer = setTimeout(resolve, end - Date.now());
      await promise;
      clearTimeout(timer);
      request.socket.off('close', resolve);
      this.#waiting.delete(resolve);
    }
    const raw = this.#raw;
    this.#raw = null;
    if (raw !== null) return { raw };
    return this.#answerTo(session, since, limit);
  }

  #answerTo({ user, device }: Session, since: number, limit: number): Json {
    const joined: Record<string, Json> = {};
    const invited: Record<string, Json> = {};
    for (const [id, { timeline, joinedAt }] of this.rooms) {
      const at = joinedAt.get(user);
      if (at === undefined) continue;
      // Somebody who has just joined is shown what was said before.
      const from = at > since ? 0 : since;
      const fresh = timeline.filter(({ pos }) => pos > from);
      if (fresh.length === 0) continue;
      const shown = fresh.slice(-limit);
      const state = fresh.filter(
        ({ event }) => event.state_key !== undefined && !shown.some((each) => each.event === event),
      );
      joined[id] = {
        state: { events: state.map(({ event }) => event) },
        timeline: {
          events: shown.map(({ event }) => event),
          limited: shown.length < fresh.length,
          prev_batch: `p${shown[0]?.pos}`,
        },
        summary: { 'm.joined_member_count': joinedAt.size },
      };
    }
    for (const { pos, user: invitee, room, state } of this.#invites) {
      if (pos > since && invitee === user) invited[room] = { invite_state: { events: state } };
    }
    return {
      next_batch: `s${this.#pos}`,
      rooms: { join: joined, invite: invited },
      account_data: { events: [{ type: 'm.direct', content: this.direct }] },
      ...this.keys.newsFor({ user, device }, since),
    };
  }
}
