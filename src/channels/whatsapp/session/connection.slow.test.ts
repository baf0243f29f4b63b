import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LinkedChannel } from '../../../testing/whatsapp/linked-channel.ts';
import type { Person } from '../../../testing/whatsapp/people/person.ts';
import { startWhatsAppServer, type WhatsAppServer } from '../../../testing/whatsapp/server.ts';
import { openLinkDatabase } from './link-database.ts';

let server: WhatsAppServer;
let linked: LinkedChannel;
let anna: Person;
beforeEach(async () => {
  server = await startWhatsAppServer();
  anna = server.person({ phoneNumber: '4915111111111', lidNumber: '100000000001', name: 'Anna' });
  linked = new LinkedChannel(server);
});
afterEach(async () => {
  await linked.close();
  await server.close();
});

const states = () => linked.statuses.map(({ state }) => state);

test('without a pairing the channel is silent', async () => {
  await linked.connect();
  expect(linked.channel.status()).toMatchObject({
    state: 'unpaired',
    detail: expect.stringContaining('npx claw setup whatsapp'),
  });
  expect(linked.statuses).toEqual([]);
  await linked.channel.setTyping(anna.pn, true);
});

test('after a pairing that was broken off the channel is silent, too', async () => {
  openLinkDatabase(linked.dataDir, Date.now).close();
  await linked.connect();
  expect(linked.channel.status().state).toBe('unpaired');
  expect(states()).toEqual(['connecting']);
});

test('without a pairing Baileys is not even loaded', () => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({
      resolve: (name, context, next) => {
        loaded.push(name);
        return next(name, context);
      },
    });
    const { channel } = await import('./whatsapp.ts');
    const dataDir = ${JSON.stringify(linked.dataDir)};
    const { value } = channel.open({}, { dataDir, assistantName: 'Andy' });
    await value.connect({ onStatus: () => loaded.push('a status') });
    process.stdout.write(loaded.join(' '));`;
  const cwd = join(import.meta.dirname, '../..');
  const run = ['--input-type=module', '--eval', script];
  const loaded = execFileSync(process.execPath, run, { cwd, encoding: 'utf8' });
  expect(loaded).toContain('whatsapp.ts');
  expect(loaded).not.toMatch(/baileys|a status|link\.ts/);
});

test('a broken connection is made again, and nothing is lost or said twice meanwhile', async () => {
  await linked.pair();
  await linked.connect();
  await server.say(anna, 'before');
  await linked.until(() => linked.messages.length === 1);
  server.cut();
  await server.say(anna, 'meanwhile');
  await linked.until(() => linked.messages.length === 2 && states().length === 4);
  await linked.channel.send({ id: 'out', jid: anna.pn, text: 'I am here' });
  expect(linked.messages.map(({ text }) => text)).toEqual(['before', 'meanwhile']);
  expect(anna.read.map(({ text }) => text)).toEqual(['I am here']);
  expect(states()).toEqual(['connecting', 'connected', 'connecting', 'connected']);
});

test('a removed device says that it needs pairing again, in this run and in the next', async () => {
  await linked.pair();
  await linked.connect();
  server.logOut();
  await linked.until(() => states().includes('unpaired'));
  expect(linked.channel.status().detail).toContain('npx claw setup whatsapp');
  expect(linked.logged.join()).toContain('npx claw setup whatsapp');
  await linked.restart();
  expect(linked.channel.status().state).toBe('unpaired');
  const logins = server.versions.length;
  await linked.pair();
  await linked.restart();
  expect(linked.channel.status().state).toBe('connected');
  expect(server.versions.length).toBeGreaterThan(logins);
});

test('a removed device is paired again while the assistant runs', async () => {
  await linked.pair();
  await linked.connect();
  const members = [anna];
  const family = server.group({ jid: '1@g.us', subject: 'Family', addressing: 'lid', members });
  const all = async (text: string) => {
    await server.sayOnPhone(text);
    await server.say(anna, text);
    await server.say(anna, text, { group: family });
  };
  await all('before');
  await linked.until(() => linked.messages.length === 3);
  server.logOut();
  await linked.until(() => states().includes('unpaired'));
  const again = () =>
    linked.pair().then(
      () => 'paired',
      ({ code }) => code,
    );
  await expect.poll(again).toBe('paired');
  await expect(linked.channel.fetchAttachment(anna.pn, 'x')).rejects.toThrow('not connected');
  await linked.restart();
  expect(linked.channel.status().state).toBe('connected');
  await all('after');
  await linked.until(() => linked.messages.length === 6);
  expect(linked.messages.slice(3).map(({ text }) => text)).toEqual(['after', 'after', 'after']);
});

test('a web version that WhatsApp no longer takes is replaced by the newest, for good', async () => {
  await linked.pair();
  await linked.close();
  const fetched = [2, 3000, 2_147_483_647] as const;
  server.requiredVersion = fetched.join('.');
  linked = new LinkedChannel(server, {}, { fetchVersion: async () => fetched });
  server.account.paired = null;
  await linked.pair();
  await linked.connect();
  expect(linked.channel.status().state).toBe('connected');
  const presented = server.versions.length;
  await linked.restart();
  expect(server.versions.slice(presented)).toEqual([fetched.join('.')]);
});

test('if there is no newer version, the owner is told', async () => {
  await linked.pair();
  server.requiredVersion = '2.3000.1';
  await linked.connect();
  expect(linked.channel.status()).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining('update the assistant'),
  });
  server.requiredVersion = null;
  await linked.until(() => linked.channel.status().state === 'connected');
});

test('a proxy’s word is not WhatsApp’s: its 401 removes nobody', async () => {
  const hotel = createServer((_, response) => response.writeHead(401).end('Pay first'));
  hotel.on('upgrade', (_, socket) => socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n'));
  await new Promise<void>((resolve) => hotel.listen(0, '127.0.0.1', resolve));
  const { port } = hotel.address() as AddressInfo;
  await linked.pair();
  const elsewhere = linked.withEndpoint({ socketUrl: `ws://127.0.0.1:${port}/` });
  await elsewhere.connect();
  expect(elsewhere.channel.status()).toMatchObject({ state: 'connecting' });
  await elsewhere.channel.disconnect();
  hotel.close();
  await linked.connect();
  expect(linked.channel.status().state).toBe('connected');
});

test('two assistants never share one pairing; the second has it when the first is gone', async () => {
  await linked.pair();
  await linked.connect();
  const second = linked.withEndpoint({});
  await second.connect();
  expect(second.channel.status()).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining('Another process'),
  });
  await linked.channel.disconnect();
  await second.until(() => second.channel.status().state === 'connected');
  await second.channel.disconnect();
});

test('the owner names people by number or address, and no group', async () => {
  await linked.pair();
  await linked.connect();
  const { channel } = linked;
  const number = '4915111111111@s.whatsapp.net';
  expect(channel.personOf('+49 (151) 1111-1111')).toEqual({ sender: number, chat: number });
  await server.say(anna, 'hello', { as: 'lid' });
  await linked.until(() => linked.messages.length === 1);
  expect(channel.personOf(anna.lid)).toEqual({ sender: anna.pn, chat: anna.pn });
  for (const typed of ['0151 1111111', '3', 'Family', 'telegram:1', '123@g.us']) {
    expect(channel.personOf(typed)).toBeNull();
  }
});
