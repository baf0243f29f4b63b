import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TestClock } from '../testing/clock.ts';
import type { Loopback } from './route.ts';
import { createLoopback } from './server.ts';

let dataDir: string;
let clock: TestClock;
let server: Loopback;
let errors: unknown[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'claw-http-'));
  errors = [];
  open();
});

afterEach(async () => {
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function open(limits: { readonly stalledMs?: number; readonly headersMs?: number } = {}): void {
  clock = new TestClock('2026-11-21T12:00:00Z');
  const log = { info() {}, error: (_: string, data?: unknown) => void errors.push(data) };
  server = createLoopback({ dataDir, setTimer: clock.setTimer, now: clock.now, log, ...limits });
}

const file = (name: string) => readFileSync(join(dataDir, 'http', name), 'utf8').trim();
const withToken = () => ({ authorization: `Bearer ${file('token')}` });
const port = () => Number(new URL(server.address() ?? '').port);

type Asked = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
};

/** Sends a request as it is: unlike `fetch`, any header can be set, and no path is tidied. */
async function ask(path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  const sent = httpRequest({ host: '127.0.0.1', port: port(), path, method, headers });
  sent.end(body);
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode as number, headers: response.headers, text };
}

/** Sends the beginning of a request by hand; `read` resolves with all that comes until the end. */
function raw(text: string): { readonly socket: Socket; readonly read: Promise<string> } {
  const socket = connect(port(), '127.0.0.1');
  socket.setEncoding('utf8');
  socket.write(text);
  // The server closes those that are too many.
  socket.on('error', () => {});
  const chunks: string[] = [];
  socket.on('data', (chunk) => chunks.push(String(chunk)));
  return { socket, read: once(socket, 'close').then(() => chunks.join('')) };
}

/** A request that is late with its body, not with its headers. */
const POST_HALF = 'POST /hook HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n';

const page = { method: 'GET', path: '/', handle: () => ({ body: 'the page' }) } as const;

test('nothing listens before there is a route; then it is this machine alone, at the same port again', async () => {
  expect(server.address()).toBeNull();
  const { url } = await server.route('dash', page);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/dash$/);
  expect(file('address')).toBe(server.address());
  expect(await ask('/dash', { headers: withToken() })).toMatchObject({
    status: 200,
    text: 'the page',
  });
  const token = file('token');
  await server.close();
  open();
  expect((await server.route('dash', page)).url).toBe(url);
  expect(file('token')).toBe(token);
  // Another program has the port now.
  await server.close();
  const other = createServer().listen(Number(new URL(url).port), '127.0.0.1');
  await once(other, 'listening');
  open();
  expect((await server.route('dash', page)).url).not.toBe(url);
  other.close();
});

test('the token is random, and only the owner of the folder can read it', async () => {
  await server.route('dash', page);
  const first = file('token');
  expect(first).toMatch(/^[A-Za-z0-9_-]{43}$/);
  const mode = () => statSync(join(dataDir, 'http', 'token')).mode & 0o777;
  expect(mode()).toBe(0o600);
  await server.close();
  chmodSync(join(dataDir, 'http', 'token'), 0o644);
  open();
  await server.route('dash', page);
  expect(mode()).toBe(0o600);
  rmSync(join(dataDir, 'http', 'token'));
  await server.close();
  open();
  await server.route('dash', page);
  expect(file('token')).not.toBe(first);
});

test('without the token, or with another, nothing is shown, not even what there is', async () => {
  await server.route('dash', page);
  for (const headers of [
    {},
    { authorization: `Bearer ${'A'.repeat(43)}` },
    { authorization: `Basic ${file('token')}` },
    { authorization: 'Bearer ' },
    { cookie: `claw-${port()}=${file('token')}` },
    { cookie: `claw-${port()}=` },
  ]) {
    for (const path of ['/dash', '/', '/other', '/dash?token=wrong']) {
      const { status, headers: told, text } = await ask(path, { headers });
      expect([status, path]).toEqual([401, path]);
      expect(told['www-authenticate']).toBe('Bearer');
      expect(text).not.toContain('page');
    }
  }
  expect((await ask('/other', { headers: withToken() })).status).toBe(404);
});

test('a browser that opens the address with the token gets a cookie, and the token leaves the address', async () => {
  await server.route('dash', page);
  const { status, headers } = await ask(`/dash?day=1&token=${file('token')}`);
  expect(status).toBe(303);
  expect(headers.location).toBe('/dash?day=1');
  const [cookie = ''] = headers['set-cookie'] ?? [];
  expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; /);
  expect(cookie).not.toContain(file('token'));
  const own = { cookie: `other=1; ${cookie.split(';')[0]}` };
  expect(await ask('/dash', { headers: own })).toMatchObject({ status: 200, text: 'the page' });
  const index = await ask('/', { headers: own });
  expect(index.text).toContain('<a href="/dash">/dash</a>');
  expect(index.headers['content-security-policy']).toContain("frame-ancestors 'none'");
});

test('a name that leads here from elsewhere is refused, with the token as well', async () => {
  const handle = vi.fn(() => ({}));
  await server.route('dash', { ...page, handle });
  for (const host of ['evil.example', `evil.example:${port()}`, '127.0.0.1', 'localhost:1']) {
    const { status } = await ask('/dash', { headers: { ...withToken(), host } });
    expect([status, host]).toEqual([421, host]);
    expect((await ask(`/?token=${file('token')}`, { headers: { host } })).status).toBe(421);
  }
  const empty = raw('GET /dash HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n');
  expect(await empty.read).toMatch(/^HTTP\/1\.1 421 /);
  const none = raw('GET /dash HTTP/1.1\r\nConnection: close\r\n\r\n');
  expect(await none.read).toMatch(/^HTTP\/1\.1 400 /);
  expect(handle).not.toHaveBeenCalled();
  const headers = { ...withToken(), host: `localhost:${port()}` };
  expect((await ask('/dash', { headers })).status).toBe(200);
});

test('another page in the owner’s browser is refused, also one of another server of this machine', async () => {
  const handle = vi.fn(() => ({}));
  await server.route('dash', { ...page, method: 'POST', handle });
  await server.route('hook', { ...page, method: 'POST', access: 'own', handle });
  const foreign = ['http://evil.example', 'null', 'http://127.0.0.1:1', 'https://localhost', ''];
  for (const path of ['/dash', '/hook']) {
    const send = (headers: Record<string, string>) =>
      ask(path, { method: 'POST', headers: { ...withToken(), ...headers } });
    for (const origin of foreign)
      expect([(await send({ origin })).status, origin]).toEqual([403, origin]);
    for (const site of ['cross-site', 'same-site']) {
      expect((await send({ 'sec-fetch-site': site })).status).toBe(403);
    }
  }
  expect(handle).not.toHaveBeenCalled();
  const headers = {
    ...withToken(),
    origin: server.address() ?? '',
    'sec-fetch-site': 'same-origin',
  };
  expect((await ask('/dash', { method: 'POST', headers })).status).toBe(200);
  // No other page is told that it may read, or send more than a form can.
  const asked = { origin: 'http://evil.example', 'access-control-request-method': 'POST' };
  const preflight = await ask('/dash', { method: 'OPTIONS', headers: asked });
  expect(preflight.status).toBe(403);
  expect(preflight.headers).not.toHaveProperty('access-control-allow-origin');
});

test('a page elsewhere leads a browser to a landing, and nothing else of it gets there', async () => {
  const led = {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  };
  const page = { method: 'GET', path: '/', handle: () => ({ body: 'back again' }) } as const;
  await server.route('login', { ...page, access: 'landing' });
  await server.route('hook', { ...page, access: 'own' });
  await server.route('dash', page);
  expect((await ask('/login', { headers: led })).status).toBe(200);
  expect((await ask('/login')).status).toBe(200);
  for (const path of ['/hook', '/dash']) {
    expect((await ask(path, { headers: { ...withToken(), ...led } })).status).toBe(403);
  }
  for (const other of [
    { ...led, 'sec-fetch-dest': 'iframe' },
    { ...led, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    { ...led, origin: 'http://evil.example' },
    { origin: 'http://evil.example' },
  ]) {
    expect((await ask('/login', { headers: other })).status).toBe(403);
  }
});

test('a route with its own check gets what came, by any name, and never the cookie of the owner', async () => {
  const secret = 's3cret';
  const sign = (body: string) => createHmac('sha256', secret).update(body).digest('hex');
  let seen: unknown;
  await server.route('hook', {
    method: 'POST',
    path: '/push',
    access: 'own',
    handle({ headers, body, rest, query }) {
      seen = { cookie: headers.cookie, auth: headers.authorization, rest, day: query.get('day') };
      return headers['x-sign'] === sign(body.toString()) ? { status: 202 } : { status: 401 };
    },
  });
  const body = '{"a": "ü"}';
  const headers = { host: 'tunnel.example', 'x-sign': sign(body), cookie: 'claw-1=x' };
  const post = (given: Asked) => ask('/hook/push?day=2&token=t', { method: 'POST', ...given });
  expect((await post({ headers, body })).status).toBe(202);
  expect(seen).toEqual({ cookie: undefined, auth: undefined, rest: '', day: '2' });
  expect((await post({ headers, body: `${body} ` })).status).toBe(401);
  // What reaches this one from outside reaches no other.
  await server.route('dash', page);
  expect((await ask('/dash', { headers: { ...withToken(), host: 'tunnel.example' } })).status).toBe(
    421,
  );
});

test('a body beyond the limit is refused while it comes, and none of it reaches the route', async () => {
  const handle = vi.fn(() => ({}));
  await server.route('hook', { method: 'POST', path: '/', access: 'own', maxBytes: 1_000, handle });
  const told = await ask('/hook', { method: 'POST', headers: { 'content-length': '1001' } }).catch(
    String,
  );
  expect(told).toMatchObject({ status: 413 });
  const { socket, read } = raw(
    `POST /hook HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  for (let count = 0; count < 3; count += 1) socket.write(`1f4\r\n${'x'.repeat(500)}\r\n`);
  expect(await read).toMatch(/^HTTP\/1\.1 413 /);
  expect(handle).not.toHaveBeenCalled();
  const fits = await ask('/hook', { method: 'POST', body: 'x'.repeat(1_000) });
  expect(fits.status).toBe(200);
});

test('a body that comes too slowly, or a route that does not answer, is given up', async () => {
  const called = Promise.withResolvers<AbortSignal>();
  await server.route('hook', {
    method: 'POST',
    path: '/',
    access: 'own',
    handle({ signal }) {
      called.resolve(signal);
      return new Promise(() => {});
    },
  });
  const slow = raw(`${POST_HALF}half`);
  await vi.waitFor(() => expect(clock.delays).toHaveLength(1));
  clock.pass(10_000);
  expect(await slow.read).toMatch(/^HTTP\/1\.1 408 /);
  const waiting = ask('/hook', { method: 'POST' });
  const signal = await called.promise;
  clock.pass(30_000);
  expect((await waiting).status).toBe(503);
  await vi.waitFor(() => expect(signal.aborted).toBe(true));
  expect(clock.timers).toBe(0);
});

test('a client that reads nothing of an answer is cut off, but an answer that is silent for as long is not', async () => {
  await server.close();
  open({ stalledMs: 100 });
  const cutOff = Promise.withResolvers<void>();
  await server.route('pages', {
    ...page,
    path: '/large',
    access: 'own',
    handle({ signal }) {
      signal.addEventListener('abort', () => cutOff.resolve());
      return { body: Buffer.alloc(64 * 1_048_576) };
    },
  });
  await server.route('pages', {
    ...page,
    path: '/silent',
    access: 'own',
    handle: () => ({
      body: (async function* () {
        yield 'one ';
        await cutOff.promise;
        yield 'two';
      })(),
    }),
  });
  const silent = ask('/pages/silent');
  const { socket, read } = raw('GET /pages/large HTTP/1.1\r\nHost: x\r\n\r\n');
  socket.pause();
  await cutOff.promise;
  expect((await silent).text).toBe('one two');
  socket.resume();
  expect((await read).length).toBeLessThan(64 * 1_048_576);
});

test('a crowd of half-open requests keeps nobody out, and each of them is closed after its deadline', async () => {
  await server.close();
  open({ headersMs: 2_000 });
  const atWork = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  await server.route('hook', { ...page, method: 'POST', access: 'own' });
  await server.route('slow', {
    ...page,
    access: 'own',
    async handle() {
      atWork.resolve();
      await finish.promise;
      return { body: 'done' };
    },
  });
  const slow = ask('/slow');
  await atWork.promise;
  const beginnings = ['', 'POST /hook HTTP/1.1\r\nHost: x\r\n', `${POST_HALF}0123`];
  const crowd = Array.from({ length: 300 }, (_, at) => raw(beginnings[at % 3] ?? ''));
  const isOpen = ({ socket }: (typeof crowd)[number]) =>
    socket.connecting ? once(socket, 'connect') : undefined;
  await Promise.all(crowd.map(isOpen));
  for (let count = 0; count < 20; count += 1) {
    expect((await ask('/hook', { method: 'POST', body: 'x' })).status).toBe(200);
  }
  // What is at work is never closed for others.
  finish.resolve();
  expect((await slow).text).toBe('done');
  const late = crowd.filter((_, at) => at % 3 < 2);
  for (const text of await Promise.all(late.map(({ read }) => read))) {
    expect(text).toMatch(/^$|^HTTP\/1\.1 408 /);
  }
  for (const { socket } of crowd) socket.destroy();
});

test('a request that came in time is answered, also by a process that was busy meanwhile', async () => {
  await server.route('hook', { ...page, method: 'POST', access: 'own' });
  const { socket, read } = raw('POST /hook HTTP/1.1\r\nHost: x\r\n');
  await once(socket, 'connect');
  // Node has taken the connection in and is then kept from reading it for longer than it looks for late ones.
  await ask('/hook', { method: 'POST', body: 'x' });
  socket.write('Connection: close\r\nContent-Length: 1\r\n\r\nx');
  const until = Date.now() + 2_600;
  while (Date.now() < until);
  expect(await read).toMatch(/^HTTP\/1\.1 200 /);
});

test('256 requests are at work at once, all from this machine, and one more finds no place', async () => {
  const finish = Promise.withResolvers<void>();
  let count = 0;
  await server.route('slow', {
    ...page,
    access: 'own',
    async handle() {
      count += 1;
      await finish.promise;
      return { body: 'done' };
    },
  });
  const asked = Array.from({ length: 256 }, () => ask('/slow'));
  await expect.poll(() => count).toBe(256);
  await expect(ask('/slow')).rejects.toThrow(/hang up|reset/);
  finish.resolve();
  for (const { text } of await Promise.all(asked)) expect(text).toBe('done');
});

test('a route that fails says nothing of why, and the next request is answered', async () => {
  await server.route('dash', {
    ...page,
    path: '/*',
    handle({ rest }) {
      if (rest === 'now') throw new Error('secret inside');
      if (rest === 'later') return Promise.reject(new Error('secret inside'));
      return { body: parts(rest === 'half') };
    },
  });
  for (const path of ['/dash/now', '/dash/later']) {
    const { status, text } = await ask(path, { headers: withToken() });
    expect(status).toBe(500);
    expect(text).toBe('The assistant could not answer this. Its log says why.\n');
  }
  await expect(ask('/dash/half', { headers: withToken() })).rejects.toThrow(/aborted|hang up/);
  expect((await ask('/dash/all', { headers: withToken() })).text).toBe('one two');
  expect(errors).toHaveLength(3);
  expect(errors[0]).toEqual({
    service: 'dash',
    method: 'GET',
    path: '/*',
    error: 'Error: secret inside',
  });
});

async function* parts(isBroken: boolean) {
  yield 'one ';
  if (isBroken) throw new Error('secret inside');
  yield 'two';
}

test('a path that two programs could read differently is refused', async () => {
  const rests: string[] = [];
  const handle = ({ rest }: { readonly rest: string }) => {
    rests.push(rest);
    return {};
  };
  await server.route('hook', { method: 'GET', path: '/open/*', access: 'own', handle });
  await server.route('hook', { method: 'GET', path: '/closed', handle });
  const tricks = [
    '/hook/open/../closed',
    '/hook/open/%2e%2e/closed',
    '/hook/open/./x',
    '/hook/open/..%2fclosed',
    '/hook/open/%5c..%5cclosed',
    '/hook//open/x',
    '//hook/open/x',
    '/hook/open/x%00',
    '/hook/open/%',
    '/hook/open/%ff',
    'http://127.0.0.1/hook/open/x',
    '*',
  ];
  for (const path of tricks) expect([(await ask(path)).status, path]).toEqual([400, path]);
  expect(rests).toEqual([]);
  // Neither in capitals nor with a star is it another route than the one with its own check.
  for (const path of ['/HOOK/open/x', '/hook/%2a', '/hook/closed', '/hook/closed/'])
    expect((await ask(path)).status).toBe(401);
  for (const path of ['/hook/open', '/hook/open/a/b%20c/', '/hook/open/%2A'])
    expect((await ask(path)).status).toBe(200);
  expect(rests).toEqual(['', 'a/b c', '*']);
});

test('a route is one service’s, and is gone when it is taken back', async () => {
  const { remove } = await server.route('dash', page);
  await expect(server.route('dash', page)).rejects.toThrow('a route GET /dash already');
  await expect(server.route('dash', { ...page, path: '/../x' })).rejects.toThrow(
    'cannot have the path "/../x". It begins with a slash, such as /push',
  );
  await expect(server.route('a/b', page)).rejects.toThrow('has a name of letters');
  expect((await ask('/dash', { method: 'POST', headers: withToken() })).text).toBe(
    'This takes GET.\n',
  );
  remove();
  expect((await ask('/dash', { headers: withToken() })).status).toBe(404);
  await server.route('dash', page);
  remove();
  expect((await ask('/dash', { headers: withToken() })).status).toBe(200);
});

// Other systems have no more than one address of this kind.
test.skipIf(process.platform !== 'linux')(
  'nothing listens on another address of this machine',
  async () => {
    await server.route('dash', page);
    const probe = createServer().listen(0, '127.0.0.2');
    await once(probe, 'listening');
    expect((probe.address() as AddressInfo).port).toBeGreaterThan(0);
    probe.close();
    const socket = connect(port(), '127.0.0.2');
    const [error] = await once(socket, 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  },
);
