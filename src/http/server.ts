import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type Access,
  type AccessLock,
  admitLanding,
  admitOwner,
  cookieOf,
  deviceCookie,
  originOf,
  originsOf,
  refuseForeign,
} from './access.ts';
import { createConnections } from './connections.ts';
import { openDeviceBook } from './devices.ts';
import { keepAddress, readAddress, readToken } from './files.ts';
import type { Device, HttpResponse, Loopback, Route } from './route.ts';
import { createRouteTable, type Registered, segmentsOf } from './route-table.ts';

/** Calls back once after a delay, unless the returned function was called before. */
type SetTimer = (delayMs: number, onElapsed: () => void) => () => void;

export type LoopbackOptions = {
  readonly dataDir: string;
  readonly setTimer: SetTimer;
  /** Addresses beside its own under which browsers may reach it, such as `https://nas.example.ts.net`. */
  readonly origins?: readonly string[];
  readonly now: () => number;
  /** Whoever takes nothing of its answer for so long is cut off; a minute by default. */
  readonly stalledMs?: number;
  /** A request that has not begun in full after so long is refused; half a minute by default. */
  readonly headersMs?: number;
  readonly log: {
    info(message: string, data?: Readonly<Record<string, unknown>>): void;
    error(message: string, data?: Readonly<Record<string, unknown>>): void;
  };
};

const HOST = '127.0.0.1';
const BODY_MS = 10_000;
const HANDLE_MS = 30_000;
/**
 * Long enough for a machine that is busy: Node looks at the clock before it reads what has come in, so a short limit
 * refuses requests that were here in time. A crowd of half-open requests is held by the limit of connections.
 */
const HEADERS_MS = 30_000;
const STALLED_MS = 60_000;
/** Node looks for requests that are late so often; every half minute by default. */
const LATE_CHECK_MS = 500;
const MAX_BODY_BYTES = 1_048_576;
const MAX_CONNECTIONS = 256;
/** Answers that one browser may wait for at a time, so that none keeps the others out. */
const MAX_OF_DEVICE = 64;

/**
 * Makes the server. It listens on 127.0.0.1 from the first route on, at the last port if possible, so that an address
 * noted elsewhere stays valid.
 */
export function createLoopback(options: LoopbackOptions): Loopback {
  const { dataDir, setTimer, log, origins = [], now, stalledMs = STALLED_MS } = options;
  const { headersMs = HEADERS_MS } = options;
  const routes = createRouteTable();
  const devices = openDeviceBook(dataDir, now);
  /** Responses that are still being sent, by device. */
  const sending = new Map<string, Set<ServerResponse>>();
  let lock: AccessLock = { token: '', port: 0, origins, devices };
  let listening: Promise<string> | null = null;
  let address: string | null = null;
  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: headersMs + BODY_MS,
      connectionsCheckingInterval: LATE_CHECK_MS,
    },
    (request, response) => {
      // A connection that breaks off has no client left to answer.
      answer(request, response).catch(() => response.destroy());
    },
  );
  const connections = createConnections(MAX_CONNECTIONS);
  server.on('connection', connections.open);

  async function listen(): Promise<string> {
    const token = readToken(dataDir);
    const kept = Number(readAddress(dataDir)?.split(':').at(-1) ?? 0);
    const port = await listenOn(kept).catch((error: NodeJS.ErrnoException) => {
      if (kept === 0 || !['EADDRINUSE', 'EACCES'].includes(error.code ?? '')) throw error;
      log.info('the port of the pages is taken, another is used', { port: kept });
      return listenOn(0);
    });
    lock = { ...lock, token, port };
    address = `http://${HOST}:${port}`;
    keepAddress(dataDir, address);
    return address;
  }

  function listenOn(port: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    server.once('error', reject);
    server.listen(port, HOST, () => {
      server.off('error', reject);
      // Later errors are those of single connections, which end by themselves.
      server.on('error', () => {});
      resolve((server.address() as AddressInfo).port);
    });
    return promise;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', ...more] = (request.url ?? '').split('?');
    const segments = segmentsOf(path);
    if (segments === null) return await refuse(response, 400, 'This path is not understood.');
    const found = routes.find(segments, request.method ?? '');
    const way = (found?.kind === 'found' ? found.registered.route.access : null) ?? 'token';
    const query = new URLSearchParams(more.join('?'));
    const isLogin = request.method === 'GET' && way === 'token' && query.has('token');
    const headers = isLogin ? withToken(request.headers, query) : request.headers;
    const scope = found?.kind === 'found' ? found.registered.route.scope : undefined;
    const access = ADMISSION[way](headers, lock, scope);
    if (access.kind === 'refused') return await refuse(response, access.status, access.reason);
    if (isLogin) return await respond(response, welcome(path, query, lock));
    if (segments.length === 0) return await respond(response, indexOf(routes.pages()));
    if (found === null) return await refuse(response, 404, 'There is nothing here.');
    if (found.kind === 'other-method') {
      return await refuse(response, 405, `This takes ${found.methods.join(' and ')}.`);
    }
    if (access.device !== null && !noteSending(access.device, response)) {
      return await refuse(response, 429, 'This browser waits for too many answers already.');
    }
    await handle(request, response, { ...found, query, device: access.device });
  }

  async function handle(
    request: IncomingMessage,
    response: ServerResponse,
    { registered: { service, route }, rest, query, device }: MatchedRoute,
  ): Promise<void> {
    const { method, path, maxBytes = MAX_BODY_BYTES, access } = route;
    const body = await readBody(request, { maxBytes, timeoutMs: BODY_MS, setTimer });
    if (body.kind === 'refused') return await refuse(response, body.status, BODY[body.status]);
    connections.work(request.socket);
    response.once('close', () => connections.rest(request.socket));
    // An answer that nobody reads would hold its connection for ever. One that has nothing to say yet may be silent.
    response.setTimeout(stalledMs, () => {
      if (request.socket.writableLength > 0) request.socket.destroy();
    });
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const headers = withoutSecrets(request.headers, access !== undefined && access !== 'token');
    const { signal } = gone;
    const given = { method, rest, query, headers, device, body: body.bytes, signal };
    try {
      const made = await inTime(async () => await route.handle(given));
      if (made !== null) return await respond(response, made);
      log.error('a page took too long', { service, method, path });
    } catch (error) {
      if (isLeaving(error, gone.signal.aborted && !response.headersSent)) return;
      log.error('a page failed', { service, method, path, error: String(error) });
      if (response.headersSent) return void response.destroy();
      return await refuse(response, 500, 'The assistant could not answer this. Its log says why.');
    }
    await refuse(response, 503, 'The assistant did not answer this in time.');
  }

  /** False where the device waits for so many answers that it gets no more. */
  function noteSending({ id }: Device, response: ServerResponse): boolean {
    const all = sending.get(id) ?? new Set();
    if (all.size >= MAX_OF_DEVICE) return false;
    sending.set(id, all.add(response));
    response.once('close', () => {
      all.delete(response);
      if (all.size === 0 && sending.get(id) === all) sending.delete(id);
    });
    return true;
  }

  async function inTime(work: () => Promise<HttpResponse>): Promise<HttpResponse | null> {
    const { promise: late, resolve } = Promise.withResolvers<null>();
    const cancel = setTimer(HANDLE_MS, () => resolve(null));
    const working = work();
    // An error after the limit is dropped: its caller has gone on.
    working.catch(() => {});
    return await Promise.race([working, late]).finally(cancel);
  }

  return {
    async route(service, route) {
      const { path, remove } = routes.add(service, route);
      try {
        listening ??= listen();
        return { url: `${await listening}${path}`, remove };
      } catch (error) {
        listening = null;
        remove();
        throw error;
      }
    },
    address: () => address,
    devices: {
      invite: devices.invite,
      enter({ headers }, code, name) {
        const origin = originOf(headers, lock);
        const entered = origin === null ? null : devices.redeem(code, name, origin);
        if (origin === null || entered === null) return null;
        const cookie = deviceCookie(origin, entered.credential);
        return { device: entered.device, headers: { 'set-cookie': cookie } };
      },
      list: devices.list,
      revoke(id) {
        const isGone = devices.revoke(id);
        for (const response of sending.get(id) ?? []) response.destroy();
        return isGone;
      },
      origins: () => (address === null ? origins : originsOf(lock).slice(0, -1)),
    },
    async close() {
      await listening?.catch(() => {});
      if (address === null) return;
      address = null;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

const ADMISSION: Readonly<
  Record<
    NonNullable<Route['access']>,
    (headers: IncomingHttpHeaders, lock: AccessLock, scope: Route['scope']) => Access
  >
> = { token: admitOwner, own: refuseForeign, landing: admitLanding };

/** Headers of every response, unless a route sets others: no caching, no frames, no content from elsewhere. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  'content-type': 'text/plain; charset=utf-8',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Sends a response. Rejects where it breaks off. */
async function respond(
  response: ServerResponse,
  { status = 200, headers = {}, body = '' }: HttpResponse,
): Promise<void> {
  response.writeHead(status, { ...HEADERS, ...headers });
  if (typeof body === 'string' || body instanceof Uint8Array) {
    await new Promise<void>((resolve) => response.end(body, resolve));
  } else {
    response.flushHeaders();
    await pipeline(Readable.from(body), response);
  }
}

/** Sends a refusal. The connection ends with it: its request may not have been read. */
function refuse(response: ServerResponse, status: number, reason: string): Promise<void> {
  const headers = {
    connection: 'close',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  };
  return respond(response, { status, headers, body: `${reason}\n` });
}

type MatchedRoute = {
  readonly registered: Registered;
  readonly rest: string;
  readonly query: URLSearchParams;
  readonly device: Device | null;
};

const BODY = {
  400: 'The request broke off.',
  408: 'The request took too long.',
  413: 'The request is too large.',
};

/** Tells whether the far end has left, which is no failure of a route. */
function isLeaving(error: unknown, isGone: boolean): boolean {
  return isGone || Object(error).code === 'ERR_STREAM_PREMATURE_CLOSE';
}

function withToken(headers: IncomingHttpHeaders, query: URLSearchParams): IncomingHttpHeaders {
  const { cookie: _, ...others } = headers;
  return { ...others, authorization: `Bearer ${query.get('token')}` };
}

/** Puts the token into a cookie and out of the address, where a history would keep it. */
function welcome(path: string, query: URLSearchParams, lock: AccessLock): HttpResponse {
  const left = new URLSearchParams(query);
  left.delete('token');
  const location = left.size === 0 ? path : `${path}?${left}`;
  const cookie = `${cookieOf(lock)}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000`;
  return { status: 303, headers: { location, 'set-cookie': cookie } };
}

/** Returns the page at `/`: links to all that can be looked at. */
function indexOf(paths: readonly string[]): HttpResponse {
  const items = paths.map((path) => `<li><a href="${path}">${path}</a></li>`).join('\n');
  const list = items === '' ? '<p>No page is here to look at.</p>' : `<ul>\n${items}\n</ul>`;
  const body = `<!doctype html>\n<title>Assistant</title>\n<h1>Pages</h1>\n${list}\n`;
  return { headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}

/** Removes headers that would let a route act as the owner elsewhere. */
function withoutSecrets(headers: IncomingHttpHeaders, isOwn: boolean): IncomingHttpHeaders {
  const { cookie: _, authorization, ...others } = headers;
  return isOwn && authorization !== undefined ? { ...others, authorization } : others;
}

type BodyLimits = {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly setTimer: SetTimer;
};

/** A body, or the status of the answer to one that is too long, too slow or cut off. */
type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'refused'; readonly status: 400 | 408 | 413 };

/** Reads a body within its limits. Never rejects, and holds no more than the limit. */
function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Body> {
  const { maxBytes, timeoutMs, setTimer } = limits;
  const { promise, resolve } = Promise.withResolvers<Body>();
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    return Promise.resolve({ kind: 'refused', status: 413 });
  }
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const onData = (chunk: Buffer): void => {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) stopReading(413);
    else chunks.push(chunk);
  };
  const stopReading = (status: 400 | 408 | 413): void => {
    request.off('data', onData);
    request.pause();
    resolve({ kind: 'refused', status });
  };
  const cancel = setTimer(timeoutMs, () => stopReading(408));
  request.on('data', onData);
  request.once('end', () => resolve({ kind: 'whole', bytes: Buffer.concat(chunks) }));
  request.once('error', () => stopReading(400));
  request.once('close', () => stopReading(400));
  return promise.finally(cancel);
}
