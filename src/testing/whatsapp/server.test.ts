import {
  type AuthenticationState,
  type ConnectionState,
  type GroupMetadata,
  initAuthCreds,
  makeWASocket,
  type WAMessage,
  type WASocket,
} from '@whiskeysockets/baileys';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { memoryKeys } from './people/memory-keys.ts';
import { startWhatsAppServer, type WhatsAppServer } from './server.ts';

/** The bare socket, without the channel: what this server must satisfy. */
class Device {
  readonly #url: string;
  readonly #auth: AuthenticationState = { creds: initAuthCreds(), keys: memoryKeys() };
  readonly messages: WAMessage[] = [];
  readonly #heard: ((message: WAMessage) => void)[] = [];
  socket: WASocket;

  constructor(url: string) {
    this.#url = url;
    this.socket = this.#open();
  }

  async state(
    isIt: (state: Partial<ConnectionState>) => boolean,
  ): Promise<Partial<ConnectionState>> {
    const { promise, resolve } = Promise.withResolvers<Partial<ConnectionState>>();
    this.socket.ev.on('connection.update', (update) => {
      if (isIt(update)) resolve(update);
    });
    return await promise;
  }

  restart(): void {
    this.socket = this.#open();
  }

  hears(): Promise<WAMessage> {
    return new Promise((resolve) => this.#heard.push(resolve));
  }

  #open(): WASocket {
    const socket = makeWASocket({
      waWebSocketUrl: this.#url,
      auth: this.#auth,
      logger: pino({ level: process.env['WA_LOG'] ?? 'silent' }),
      shouldSyncHistoryMessage: () => false,
      emitOwnEvents: false,
    });
    socket.ev.on('creds.update', (update) => Object.assign(this.#auth.creds, update));
    socket.ev.on('messages.upsert', ({ messages }) => {
      for (const message of messages) {
        this.messages.push(message);
        this.#heard.shift()?.(message);
      }
    });
    return socket;
  }
}

let server: WhatsAppServer;
let device: Device;
beforeEach(async () => {
  server = await startWhatsAppServer();
  device = new Device(server.url);
});
afterEach(async () => {
  await device.socket.end(undefined);
  await server.close();
});

async function pairByQr(): Promise<void> {
  const { qr = '' } = await device.state((state) => state.qr !== undefined);
  (await server.pairing()).scan(qr);
  await logIn();
}

async function logIn(): Promise<void> {
  const { lastDisconnect } = await device.state((state) => state.connection === 'close');
  expect(lastDisconnect?.error).toMatchObject({ output: { statusCode: 515 } });
  device.restart();
  await device.state((state) => state.connection === 'open');
}

const ANNA = { phoneNumber: '4915111111111', lidNumber: '100000000001', name: 'Anna' };
const BERT = { phoneNumber: '4915122222222', lidNumber: '100000000002', name: 'Bert' };

test('a device is paired by the QR code, told to restart, and logs in', async () => {
  await pairByQr();
  expect(device.socket.user).toMatchObject({
    id: server.account.devicePn,
    lid: server.account.deviceLid,
  });
});

test('a device is paired by the code that the owner types', async () => {
  await device.state((state) => state.qr !== undefined);
  const code = await device.socket.requestPairingCode(server.account.phoneNumber);
  await (await server.pairing()).enterCode(code);
  await logIn();
  expect(device.socket.user?.id).toBe(server.account.devicePn);
});

test('people write to the device and read what it sends, under either of their addresses', async () => {
  await pairByQr();
  const anna = server.person(ANNA);
  for (const as of ['lid', 'pn', 'lid'] as const) {
    const heard = device.hears();
    await server.say(anna, `as ${as}`, { as });
    expect((await heard).message?.conversation).toBe(`as ${as}`);
  }
  for (const jid of [anna.pn, anna.lid]) {
    await device.socket.sendMessage(jid, { text: `to ${jid}` });
    expect((await anna.next()).text).toBe(`to ${jid}`);
  }
});

test('groups have names and members, and everybody in one reads everybody', async () => {
  await pairByQr();
  const people = [server.person(ANNA), server.person(BERT)];
  const [anna, bert] = people;
  const family = {
    jid: '123@g.us',
    subject: 'Family',
    addressing: 'lid' as const,
    members: people,
  };
  const group = server.group(family);
  const all: Record<string, GroupMetadata> = await device.socket.groupFetchAllParticipating();
  expect(Object.values(all).map(({ subject }) => subject)).toEqual(['Family']);
  for (const person of people) {
    const heard = device.hears();
    await server.say(person, `I am ${person.name}`, { group });
    expect(await heard).toMatchObject({
      key: { remoteJid: '123@g.us', participant: person.lid, participantAlt: person.pn },
      message: { conversation: `I am ${person.name}` },
    });
  }
  for (const text of ['one', 'two']) {
    await device.socket.sendMessage(group.jid, { text });
    expect((await anna?.next())?.text).toBe(text);
    expect((await bert?.next())?.text).toBe(text);
  }
});

test('what was not acknowledged comes again after the connection broke', async () => {
  await pairByQr();
  const anna = server.person(ANNA);
  const heard = device.hears();
  await server.say(anna, 'before');
  await heard;
  server.cut();
  await device.state((state) => state.connection === 'close');
  await server.say(anna, 'meanwhile');
  device.restart();
  const [again] = await Promise.all([device.hears(), server.login()]);
  expect(again.message?.conversation).toBe('meanwhile');
});

test('the owner writes on the phone', async () => {
  await pairByQr();
  const heard = device.hears();
  await server.sayOnPhone('note to self');
  expect(await heard).toMatchObject({
    key: { remoteJid: server.account.pn, fromMe: true },
    message: { conversation: 'note to self' },
  });
});

test('a device that was removed is logged out for good', async () => {
  await pairByQr();
  const closed = device.state((state) => state.connection === 'close');
  server.logOut();
  expect((await closed).lastDisconnect?.error).toMatchObject({ output: { statusCode: 401 } });
  device.restart();
  const { lastDisconnect } = await device.state((state) => state.connection === 'close');
  expect(lastDisconnect?.error).toMatchObject({ output: { statusCode: 401 } });
});

test('an old web version is refused', async () => {
  server.requiredVersion = '2.3000.1';
  device.restart();
  const { lastDisconnect } = await device.state((state) => state.connection === 'close');
  expect(lastDisconnect?.error).toMatchObject({ output: { statusCode: 405 } });
});
