import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CA, CERTIFICATE, KEY } from '../../../src/testing/channel/loopback-certificate.ts';
import { Broker } from './broker.ts';
import { connectChannel, createChannel, HostEnd } from './fixtures.ts';

const IN = 'patchclaw/in';
const USER = { name: 'andy', password: 'secret word' };

function file(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'claw-mqtt-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'ca.pem');
  writeFileSync(path, text);
  return path;
}

test('without a broker there is no channel, and an address that is none is named', () => {
  expect(createChannel({ MQTT_ALLOW_FROM: '*' }, new HostEnd())).toBeNull();
  for (const MQTT_URL of ['192.168.1.10', 'http://x', 'mqtt://user:word@host']) {
    expect(() => createChannel({ MQTT_URL }, new HostEnd())).toThrow('without user and password');
  }
});

test('with an empty list the broker is not asked, and the status names the line to add', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url, { MQTT_ALLOW_FROM: ' , ' });
  expect(connected.channel.status()).toEqual({
    state: 'refused',
    detail: expect.stringContaining('MQTT_ALLOW_FROM=<sender_id of your device>'),
  });
  expect(broker.clients).toEqual([]);
});

test('only senders on the list get through; others are counted and acknowledged; a star lets everybody in', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url, { MQTT_ALLOW_FROM: 'esp32' });
  const { host } = connected;
  broker.say(IN, { content: 'let me in' });
  broker.say(IN, { content: 'x', sender_id: 'eve' });
  broker.say(IN, { content: 'y', sender_id: 'esp32' });
  await broker.until(() => broker.acknowledged === 3);
  expect(host.texts).toEqual(['y']);
  expect(host.strangers).toEqual(['unknown', 'eve']);
  await using open = await connectChannel(broker.url, {
    MQTT_ALLOW_FROM: '*',
    MQTT_CLIENT_ID: 'b',
  });
  broker.say(IN, { content: 'z', sender_id: 'eve' });
  await open.host.until(() => open.host.messages.length === 1);
});

test.each([
  ['kitchen', 'chat=topic/in>topic/out'],
  ['kitchen=k/#>k/out', 'chat=topic/in>topic/out'],
  ['kitchen=k/in>k/out, desk=k/in>d/out', 'k/in is in MQTT_TOPICS'],
  ['kitchen=k/in>k/out, kitchen=j/in>j/out', 'The chat kitchen'],
  ['kitchen=k/in>patchclaw/in', 'would answer itself'],
])('a map of topics that cannot be used is named: %s', async (MQTT_TOPICS, detail) => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url, { MQTT_TOPICS });
  expect(connected.channel.status()).toEqual({
    state: 'refused',
    detail: expect.stringContaining(detail),
  });
  expect(broker.clients).toEqual([]);
});

test('a wrong password is told, and a right one is found without a restart; so is one that was revoked', async () => {
  await using broker = await Broker.start({ user: { ...USER, password: 'another' } });
  const env = { MQTT_USERNAME: USER.name, MQTT_PASSWORD: USER.password };
  await using connected = await connectChannel(broker.url, env);
  const { channel, host } = connected;
  expect(channel.status()).toEqual({
    state: 'refused',
    detail: expect.stringContaining('Correct MQTT_USERNAME and MQTT_PASSWORD'),
  });
  expect(JSON.stringify([host.statuses, host.log])).not.toContain(USER.password);
  broker.changeUser(USER);
  await host.until(() => channel.status().state === 'connected');
  broker.changeUser({ ...USER, password: 'revoked' });
  broker.cut();
  await host.until(() => channel.status().state === 'refused');
});

test('a topic that may not be read is named', async () => {
  await using broker = await Broker.start();
  broker.denied.add(IN);
  await using connected = await connectChannel(broker.url);
  expect(connected.channel.status()).toEqual({
    state: 'refused',
    detail: expect.stringContaining(`does not let this user read ${IN}`),
  });
});

test('a broker that is not there, and comes; one that is cut off, and is found again', async () => {
  const gone = await Broker.start();
  const { port, url } = gone;
  await gone[Symbol.asyncDispose]();
  await using connected = await connectChannel(url);
  const { host, channel } = connected;
  expect(channel.status()).toEqual({
    state: 'failed',
    detail: `The broker (127.0.0.1:${port}) cannot be reached (ECONNREFUSED: nothing listens there; check the address, and whether the server runs).`,
  });
  await using broker = await Broker.start({}, port);
  await host.until(() => channel.status().state === 'connected');
  broker.cut();
  await host.until(() => channel.status().state === 'connecting');
  expect(channel.status().detail).toContain('was cut. Trying again.');
  await host.until(() => channel.status().state === 'connected');
  broker.say(IN, { content: 'hello' });
  await host.until(() => host.messages.length === 1);
});

test.each([
  ['half a frame, and then the end', Uint8Array.of(0x32, 0x50, 0x00), true],
  ['bytes that are no frame', Uint8Array.of(0xf0, 0xff, 0xff, 0xff, 0xff, 0xff), false],
])('%s costs the connection and nothing else', async (_, bytes, isCut) => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url);
  const { host } = connected;
  broker.sendRaw(bytes);
  if (isCut) broker.cut();
  await host.until(() => host.statuses.filter(({ state }) => state === 'connected').length === 2);
  broker.say(IN, { content: 'hello' });
  await host.until(() => host.messages.length === 1);
});

test('two programs of one name are found out', async () => {
  await using broker = await Broker.start();
  await using one = await connectChannel(broker.url);
  await using other = await connectChannel(broker.url);
  const told = (host: HostEnd) =>
    host.statuses.some(({ detail }) => detail?.includes('connected there as andy') === true);
  await Promise.race([
    one.host.until(() => told(one.host)),
    other.host.until(() => told(other.host)),
  ]);
});

test('the status topic says online, offline at the end, and offline by the will after a crash', async () => {
  await using broker = await Broker.start();
  const first = await connectChannel(broker.url);
  expect(broker.retained.get('patchclaw/status')).toBe('online');
  await first.channel.disconnect();
  expect(broker.textsOn('patchclaw/status')).toEqual(['online', 'offline']);
  await using _second = await connectChannel(broker.url);
  broker.cut();
  await broker.until(() => broker.textsOn('patchclaw/status').length === 4);
  expect(broker.textsOn('patchclaw/status')).toEqual(['online', 'offline', 'online', 'offline']);
  await broker.until(() => broker.textsOn('patchclaw/status').length === 5);
  await using silent = await connectChannel(broker.url, {
    MQTT_STATUS_TOPIC: 'none',
    MQTT_CLIENT_ID: 'silent',
  });
  await silent.channel.disconnect();
  expect(broker.textsOn('patchclaw/status')).toHaveLength(5);
});

test('where each session ends at once, the owner is asked for another program of that client id', async () => {
  await using broker = await Broker.start();
  await using connected = await connectChannel(broker.url);
  const { host, channel } = connected;
  const lost = () => host.statuses.filter(({ detail }) => detail?.includes('was cut') === true);
  for (let cuts = 1; cuts <= 4; cuts += 1) {
    broker.cut();
    await host.until(() => lost().length === cuts && channel.status().state === 'connected');
  }
  const asks = expect.stringContaining('Is another program connected there as andy?');
  expect(lost().map(({ detail }) => detail)).toEqual([
    ...Array.from({ length: 3 }, () => expect.not.stringContaining('another program')),
    asks,
  ]);
});

test('an installation keeps its client id', async () => {
  await using broker = await Broker.start();
  const first = await connectChannel(broker.url, { MQTT_CLIENT_ID: '' });
  await first.channel.disconnect();
  expect(broker.clients).toEqual([expect.stringMatching(/^patchclaw-/)]);
});

test('with TLS a broker needs a certificate that this machine, or the owner, trusts', async () => {
  await using broker = await Broker.start({ tls: { cert: CERTIFICATE, key: KEY } });
  await using stranger = await connectChannel(broker.url);
  expect(stranger.channel.status()).toEqual({
    state: 'failed',
    detail: expect.stringContaining('MQTT_CA_FILE'),
  });
  await stranger.channel.disconnect();
  await using known = await connectChannel(broker.url, { MQTT_CA_FILE: file(CA) });
  expect(known.channel.status()).toEqual({ state: 'connected', detail: null });
  broker.say(IN, { content: 'hello' });
  await known.host.until(() => known.host.messages.length === 1);
  await using lost = await connectChannel(broker.url, { MQTT_CA_FILE: '/nowhere/ca.pem' });
  expect(lost.channel.status()).toEqual({
    state: 'refused',
    detail: '/nowhere/ca.pem cannot be read. Correct MQTT_CA_FILE in .env and restart.',
  });
});
