import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestClock } from '../testing/clock.ts';
import type { Device, Loopback } from './route.ts';
import { createLoopback } from './server.ts';

const FAR = 'https://nas.example.ts.net';
let dataDir: string;
let clock: TestClock;
let server: Loopback;
let seen: (Device | null)[];

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'claw-devices-'));
  clock = new TestClock('2026-11-21T12:00:00Z');
  await open();
});

afterEach(async () => {
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function open(): Promise<void> {
  seen = [];
  const log = { info() {}, error() {} };
  const { setTimer, now } = clock;
  server = createLoopback({ dataDir, setTimer, now, origins: [FAR], log });
  const handle = ({ device }: { device: Device | null }) => {
    seen.push(device);
    return { body: 'in' };
  };
  for (const scope of ['read', 'talk', 'admin'] as const) {
    await server.route('dash', { method: 'GET', path: `/${scope}`, scope, handle });
  }
  await server.route('other', { method: 'GET', path: '/', handle });
  await server.route('dash', { method: 'POST', path: '/talk', scope: 'talk', handle });
  await server.route('dash', {
    method: 'POST',
    path: '/enter',
    access: 'own',
    handle(request) {
      const entered = server.devices.enter(request, request.body.toString(), 'Firefox');
      return entered === null ? { status: 403 } : { headers: entered.headers };
    },
  });
  await server.route('dash', {
    method: 'GET',
    path: '/stream',
    scope: 'read',
    handle: ({ signal }) => ({ body: untilAborted(signal) }),
  });
}

async function* untilAborted(signal: AbortSignal) {
  yield 'hello';
  if (!signal.aborted) await once(signal, 'abort');
}

const port = () => new URL(server.address() ?? '').port;
const home = () => `127.0.0.1:${port()}`;

type Asked = { readonly method?: string; readonly headers?: object; readonly body?: string };

async function begin(path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  const sent = httpRequest({
    host: '127.0.0.1',
    port: port(),
    // A connection that was kept would be one to the server before.
    agent: false,
    path,
    method,
    headers: { host: home(), ...headers },
  });
  sent.on('error', () => {});
  sent.end(body);
  const [response] = await once(sent, 'response');
  return response as IncomingMessage;
}

async function ask(path: string, asked: Asked = {}) {
  const response = await begin(path, asked);
  response.resume();
  await once(response, 'end');
  return { status: response.statusCode, headers: response.headers };
}

/** Enters as the page does, and returns the cookie with its attributes. */
async function enter(code: string, headers: object = {}) {
  const { status, headers: told } = await ask('/dash/enter', {
    method: 'POST',
    body: code,
    headers,
  });
  return { status, whole: told['set-cookie']?.[0] ?? '' };
}

const pairOf = (whole: string) => whole.split(';', 1)[0] ?? '';

async function deviceOf(scope: 'read' | 'talk' | 'admin') {
  const { whole } = await enter(server.devices.invite(scope).code);
  return { cookie: pairOf(whole) };
}

test('a link lets one browser in, once, and leaves a credential that outlives a restart', async () => {
  const { code } = server.devices.invite('read');
  const first = await enter(code);
  expect(first.status).toBe(200);
  expect(first.whole).toMatch(
    /^claw-device-\d+=[\w-]{12}\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict/,
  );
  expect(first.whole).not.toContain('Secure');
  expect((await enter(code)).status).toBe(403);
  expect((await enter('')).status).toBe(403);
  const cookie = pairOf(first.whole);
  expect((await ask('/dash/read', { headers: { cookie } })).status).toBe(200);
  expect(seen.at(-1)).toMatchObject({ name: 'Firefox', scope: 'read' });
  const file = join(dataDir, 'http/devices.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).not.toContain(cookie.split('.')[1]);
  await server.close();
  await open();
  expect((await ask('/dash/read', { headers: { cookie } })).status).toBe(200);
});

test('a link that is a minute old is of no use', async () => {
  const { code } = server.devices.invite('admin');
  clock.pass(60_000);
  expect((await enter(code)).status).toBe(403);
  expect(server.devices.list()).toEqual([]);
});

test('a browser may do what its scope says, and an admin opens the pages of others', async () => {
  for (const [scope, may] of [
    ['read', [200, 403, 403, 403]],
    ['talk', [200, 200, 403, 403]],
    ['admin', [200, 200, 200, 200]],
  ] as const) {
    const headers = await deviceOf(scope);
    const paths = ['/dash/read', '/dash/talk', '/dash/admin', '/other'];
    const got = await Promise.all(paths.map((path) => ask(path, { headers })));
    expect([scope, got.map(({ status }) => status)]).toEqual([scope, may]);
  }
  const bearer = {
    authorization: `Bearer ${readFileSync(join(dataDir, 'http/token'), 'utf8').trim()}`,
  };
  expect((await ask('/dash/admin', { headers: bearer })).status).toBe(200);
  expect(seen.at(-1)).toBeNull();
});

test('a revoked device is refused, and what it is being sent ends', async () => {
  const headers = await deviceOf('admin');
  const stream = await begin('/dash/stream', { headers });
  await once(stream, 'data');
  const ended = new Promise((resolve) => stream.once('error', resolve).once('end', resolve));
  const [device] = server.devices.list();
  expect(server.devices.revoke(device?.id ?? '')).toBe(true);
  await ended;
  expect((await ask('/dash/read', { headers })).status).toBe(401);
  expect(server.devices.revoke(device?.id ?? '')).toBe(false);
  const other = await deviceOf('read');
  expect((await ask('/dash/read', { headers: other })).status).toBe(200);
});

test('a browser that holds all answers open keeps no other out, and gets more when one ends', async () => {
  const greedy = await deviceOf('admin');
  const streams = await Promise.all(
    Array.from({ length: 64 }, () => begin('/dash/stream', { headers: greedy })),
  );
  for (const stream of streams) stream.on('error', () => {}).resume();
  expect((await ask('/dash/read', { headers: greedy })).status).toBe(429);
  const other = await deviceOf('read');
  expect((await ask('/dash/read', { headers: other })).status).toBe(200);
  streams[0]?.destroy();
  await expect.poll(async () => (await ask('/dash/read', { headers: greedy })).status).toBe(200);
  for (const stream of streams) stream.destroy();
});

test('a credential that was guessed, cut, or made for another address lets nobody in', async () => {
  const { cookie } = await deviceOf('admin');
  const [name, value = ''] = cookie.split('=');
  const [id = '', secret = ''] = value.split('.');
  for (const wrong of [
    `${name}=${id}`,
    `${name}=${id}.`,
    `${name}=.${secret}`,
    `${name}=${id}.${secret}x`,
    `${name}=${id}.${'A'.repeat(43)}`,
    `claw-device-1=${value}`,
    `__Host-claw-device=${value}`,
  ]) {
    const { status } = await ask('/dash/read', { headers: { cookie: wrong } });
    expect([wrong, status]).toEqual([wrong, 401]);
  }
  const far = { host: 'nas.example.ts.net', cookie: `__Host-claw-device=${value}` };
  expect((await ask('/dash/read', { headers: far })).status).toBe(401);
  const localhost = { host: `localhost:${port()}`, cookie };
  expect((await ask('/dash/read', { headers: localhost })).status).toBe(401);
});

test('an allowed address is let in exactly as it is, with a cookie for https alone', async () => {
  const far = { host: 'nas.example.ts.net', origin: FAR, 'sec-fetch-site': 'same-origin' };
  const { whole } = await enter(server.devices.invite('talk').code, far);
  expect(whole).toMatch(/^__Host-claw-device=.*; HttpOnly; Secure; SameSite=Strict/);
  const cookie = pairOf(whole);
  expect((await ask('/dash/talk', { method: 'POST', headers: { ...far, cookie } })).status).toBe(
    200,
  );
  expect(server.devices.list()).toMatchObject([{ origin: FAR }]);
  expect(server.devices.origins()).toEqual([FAR, server.address()]);
  for (const host of [
    'evil.example',
    'nas.example.ts.net:8443',
    'nas.example.ts.net.evil.example',
    'NAS.example.ts.net.',
  ]) {
    const { status } = await ask('/dash/talk', { headers: { cookie, host } });
    expect([host, status]).toEqual([host, 421]);
  }
  for (const origin of [
    'http://nas.example.ts.net',
    `${FAR}:8443`,
    `${FAR}.evil.example`,
    'null',
  ]) {
    const headers = { ...far, cookie, origin };
    const { status } = await ask('/dash/talk', { method: 'POST', headers });
    expect([origin, status]).toEqual([origin, 403]);
  }
});

test('claims of a proxy about a request are ignored', async () => {
  const { cookie } = await deviceOf('admin');
  const said = {
    'x-forwarded-host': home(),
    'x-forwarded-proto': 'https',
    forwarded: `host=${home()}`,
  };
  const evil = { ...said, host: 'evil.example', cookie };
  expect((await ask('/dash/read', { headers: evil })).status).toBe(421);
  const foreign = { cookie, 'x-forwarded-host': 'evil.example', origin: 'http://evil.example' };
  expect((await ask('/dash/talk', { method: 'POST', headers: foreign })).status).toBe(403);
  const { whole } = await enter(server.devices.invite('read').code, said);
  expect(whole).not.toContain('Secure');
});

test('another page sends nothing in the name of a browser that was let in, nor takes a code', async () => {
  const { cookie } = await deviceOf('admin');
  const { code } = server.devices.invite('admin');
  for (const foreign of [
    { origin: 'http://evil.example' },
    { origin: `http://127.0.0.1:1` },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    const headers = { cookie, ...foreign };
    expect((await ask('/dash/talk', { method: 'POST', headers })).status).toBe(403);
    expect((await enter(code, foreign)).status).toBe(403);
  }
  expect((await enter(code, { host: 'evil.example' })).status).toBe(403);
});

test('a browser that was not seen for long needs a new link, and a damaged file lets nobody in', async () => {
  const headers = await deviceOf('read');
  clock.pass(89 * 86_400_000);
  expect((await ask('/dash/read', { headers })).status).toBe(200);
  clock.pass(89 * 86_400_000);
  expect((await ask('/dash/read', { headers })).status).toBe(200);
  clock.pass(90 * 86_400_000);
  expect((await ask('/dash/read', { headers })).status).toBe(401);
  await server.close();
  writeFileSync(join(dataDir, 'http/devices.json'), '[{"id": 1}]');
  await open();
  expect((await ask('/dash/read', { headers })).status).toBe(401);
  expect((await ask('/dash/read', { headers: await deviceOf('read') })).status).toBe(200);
});
