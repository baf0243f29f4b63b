import { createPublicKey, verify } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { encrypted, openPush } from '../../../src/services/dashboard/push.ts';
import { serveDashboard } from './assistant.ts';
import { browserKeys, decrypted, type Got, pushService } from './push-service.ts';

test('what is encrypted is what RFC 8291 has in its appendix', () => {
  const body = encrypted(
    Buffer.from('When I grow up, I want to be a watermelon'),
    {
      p256dh:
        'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    },
    {
      privateKey: Buffer.from('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw', 'base64url'),
      salt: Buffer.from('DGv6ra1nlYgDCS1FRnbzlw', 'base64url'),
    },
  );
  expect(body.toString('base64url')).toBe(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  );
});

test('a browser that asks for it is told what is done and what needs a yes, encrypted and signed, until it is taken out', async () => {
  using service = await pushService();
  const settings = { DASHBOARD_PUSH_INSIDE: 'yes' };
  await using served = await serveDashboard(undefined, '', { settings });
  const { got } = service;
  const headers = await served.enter();
  const post = async (path: string, body: unknown) =>
    (await served.ask(path, { method: 'POST', headers, body })).status;
  const push = async () => JSON.parse((await served.ask('/api/settings/push', { headers })).text);
  const { key, isOn } = await push();
  expect(isOn).toBe(false);
  const keys = browserKeys();
  const subscription = {
    endpoint: `${service.origin}/send/1`,
    p256dh: keys.ecdh.getPublicKey('base64url'),
    auth: keys.auth.toString('base64url'),
  };
  const answers = () => served.terminal.sent.filter(({ text }) => text === 'pong').length;
  // Nobody is told before they ask.
  await served.terminal.say('ping');
  await vi.waitFor(() => expect(answers()).toBe(1));
  expect(await post('/api/settings/pushOn', subscription)).toBe(200);
  expect(await push()).toEqual({ key, isOn: true });
  expect(statSync(join(served.project.dir, 'data/dashboard/push.json')).mode & 0o777).toBe(0o600);
  await served.terminal.say('ping again');
  await vi.waitFor(() => expect(got).toHaveLength(1));
  const [first] = got as [Got];
  expect(JSON.parse(decrypted(first.body, keys))).toEqual({
    title: 'Terminal',
    body: 'pong',
    place: '/chat/terminal%3Amain',
  });
  expect(first.headers).toMatchObject({ 'content-encoding': 'aes128gcm', ttl: '86400' });
  // The signature is of the key that the browser has subscribed with.
  const [, token = '', sender] =
    /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(first.headers.authorization ?? '') ?? [];
  expect(sender).toBe(key);
  const point = Buffer.from(key, 'base64url');
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  const [head, claims = '', signature = ''] = token.split('.');
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  const signed = Buffer.from(`${head}.${claims}`);
  const how = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  expect(verify('sha256', signed, how, Buffer.from(signature, 'base64url'))).toBe(true);
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
    aud: service.origin,
    sub: served.origin,
  });
  // A question of the owner's.
  await served.terminal.say('/unregister Family delete');
  await vi.waitFor(() => expect(got).toHaveLength(2));
  expect(JSON.parse(decrypted(got[1]?.body ?? Buffer.alloc(0), keys)).body).toContain('Family');
  await served.terminal.say('no');
  // A subscription that is over is not asked again; other failures are.
  service.state.status = 503;
  await served.terminal.say('ping');
  await vi.waitFor(() => expect(got).toHaveLength(3));
  expect((await push()).isOn).toBe(true);
  service.state.status = 410;
  await served.terminal.say('ping');
  await vi.waitFor(async () => expect((await push()).isOn).toBe(false));
  expect(got).toHaveLength(4);
  service.state.status = 404;
  expect(await post('/api/settings/pushOn', subscription)).toBe(200);
  await served.terminal.say('ping');
  await vi.waitFor(async () => expect((await push()).isOn).toBe(false));
  expect(got).toHaveLength(5);
  // So does a browser that is taken out.
  service.state.status = 201;
  expect(await post('/api/settings/pushOn', subscription)).toBe(200);
  const { id } = JSON.parse((await served.ask('/api/settings/devices', { headers })).text)[0];
  // What it is being sent ends with it, this answer as well.
  await post('/api/settings/revoke', { id }).catch(() => {});
  const before = answers();
  await served.terminal.say('ping');
  await vi.waitFor(() => expect(answers()).toBeGreaterThan(before));
  expect(got).toHaveLength(5);
});

test('an address inside the network is refused, by its number or its name, when it is set and when it is sent to', async () => {
  using service = await pushService();
  await using served = await serveDashboard();
  const headers = await served.enter();
  const keys = browserKeys();
  const p256dh = keys.ecdh.getPublicKey('base64url');
  const auth = keys.auth.toString('base64url');
  const { port } = new URL(service.origin);
  const on = async (endpoint: string) => {
    const body = { endpoint, p256dh, auth };
    return await served.ask('/api/settings/pushOn', { method: 'POST', headers, body });
  };
  for (const host of [
    ...[
      '127.0.0.1',
      '127.1',
      '0x7f000001',
      'localhost',
      '10.0.0.1',
      '192.168.1.1',
      '169.254.169.254',
    ],
    ...['[::1]', '[fe80::1]', '[fd00::1]', '[::ffff:127.0.0.1]', '0.0.0.0'],
  ]) {
    const { status, text } = await on(`http://${host}:${port}/send`);
    expect([host, status, text]).toEqual([host, 400, expect.stringMatching(/inside your network/)]);
  }
  expect(JSON.parse((await served.ask('/api/settings/push', { headers })).text).isOn).toBe(false);
  // One that is in the file already, or whose name leads elsewhere by now.
  const folder = mkdtempSync(join(tmpdir(), 'claw-push-'));
  for (const host of ['127.0.0.1', 'localhost']) {
    const endpoint = `http://${host}:${port}/send`;
    const subscription = { endpoint, p256dh, auth };
    await openPush(folder, { isInsideAllowed: true }).switchOn('d', subscription, served.origin);
    const push = openPush(folder, { isInsideAllowed: false });
    const failures = await push.send({ title: 't', body: 'b', place: '/' }, ['d'], Date.now());
    expect(failures).toEqual([expect.stringContaining('inside your network')]);
  }
  expect(service.got).toEqual([]);
  rmSync(folder, { recursive: true });
});
