import { expect, test } from 'vitest';
import { headersOf, hookOf, prove, TOLERANCE_MS } from './fixtures.ts';

const NOW = 1_614_265_330_000;
const body = Buffer.from('{"test": 2432232314}');

test('the examples of the two specifications are proven', () => {
  const standard = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  expect(prove({ from: 'signed', secret }, { headers: standard, body, now: NOW })).toEqual({
    kind: 'proven',
    keys: ['id msg_p5jXN8AQM9LWM0D4loKWxJek'],
  });
  const github = {
    'x-hub-signature-256':
      'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
  };
  const hello = Buffer.from('Hello, World!');
  const hook = { from: 'github', secret: "It's a Secret to Everybody" } as const;
  expect(prove(hook, { headers: github, body: hello, now: NOW })).toMatchObject({ kind: 'proven' });
});

test.each(['github', 'signed', 'token'] as const)(
  '%s: another secret, and none, are refused',
  (from) => {
    const hook = hookOf({ from });
    const given = { body, now: NOW };
    const headers = headersOf(hook, body, { at: NOW });
    expect(prove(hook, { ...given, headers })).toMatchObject({ kind: 'proven' });
    const other = headersOf({ ...hook, secret: 'whsec_YW5vdGhlciBzZWNyZXQ=' }, body, { at: NOW });
    expect(prove(hook, { ...given, headers: other })).toMatchObject({
      kind: 'refused',
      status: 401,
    });
    expect(prove(hook, { ...given, headers: {} })).toMatchObject({ kind: 'refused', status: 401 });
  },
);

test.each(['github', 'signed'] as const)('%s: a signature is for one body', (from) => {
  const hook = hookOf({ from });
  const headers = headersOf(hook, body, { at: NOW });
  const changed = Buffer.concat([body, Buffer.from(' ')]);
  expect(prove(hook, { headers, body: changed, now: NOW })).toMatchObject({ status: 401 });
});

test('a signature is for one id and one time; a clock that is off by an hour is told', () => {
  const hook = hookOf({ from: 'signed' });
  const headers = headersOf(hook, body, { at: NOW });
  const under = (over: Record<string, string>, now = NOW) =>
    prove(hook, { headers: { ...headers, ...over }, body, now });
  expect(under({ 'webhook-id': 'other' })).toMatchObject({ status: 401 });
  expect(under({ 'webhook-timestamp': '1614265331' })).toMatchObject({ status: 401 });
  expect(under({}, NOW + TOLERANCE_MS)).toMatchObject({ kind: 'proven' });
  for (const now of [NOW + TOLERANCE_MS + 1, NOW - 3_600_000]) {
    expect(under({}, now)).toEqual({
      kind: 'refused',
      status: 400,
      reason: expect.stringContaining('one of the two clocks is wrong'),
    });
  }
  // While a secret is changed, a sender signs with both.
  const both = `v1,${Buffer.alloc(32).toString('base64')} v1a,x ${headers['webhook-signature']}`;
  expect(under({ 'webhook-signature': both })).toMatchObject({ kind: 'proven' });
});

test('a token may come in the headers that senders have for it', () => {
  const hook = hookOf();
  for (const name of ['x-hook-token', 'x-gitlab-token']) {
    const headers = { [name]: hook.secret };
    expect(prove(hook, { headers, body, now: NOW })).toEqual({ kind: 'proven', keys: [] });
  }
});
