import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { OutboundMessage } from '../../../src/channels/channel.ts';
import {
  ADA,
  BOT,
  connectChannel,
  DEVICE,
  ENCRYPTED,
  type Given,
  inMemory,
  SECRET,
  startServer,
  stoppedClock,
} from './fixtures.ts';
import type { FarEvent, Json, MatrixServer } from './matrix-server.ts';
import { Person } from './person.ts';

const PEOPLE = [ADA, BOT];
const JID = `matrix:${SECRET}`;
const text = (body: string): Json => ({ msgtype: 'm.text', body });

/** A server with an encrypted room of Ada and the account, and Ada's phone. */
async function startSecret(): Promise<{ server: MatrixServer; ada: Person }> {
  const server = await startServer();
  server.addRoom(SECRET, [ADA, BOT], [ENCRYPTED]);
  return { server, ada: await Person.open(server, ADA) };
}

const own = (server: MatrixServer): readonly FarEvent[] =>
  server
    .events(SECRET)
    .filter(({ sender, state_key }) => sender === BOT && state_key === undefined);

/** The place of a message in its session, which must not come twice: a varint after two bytes. */
function indexOf({ content }: FarEvent): string {
  const bytes = Buffer.from(String(content['ciphertext']), 'base64');
  const end = bytes.findIndex((byte, at) => at >= 2 && byte < 0x80);
  return `${content['session_id']} ${bytes.subarray(2, end + 1).toString('hex')}`;
}

test('an encrypted room is read and answered, encrypted, also after a restart; edits and reactions go on', async () => {
  const { server, ada } = await startSecret();
  await using _server = server;
  const disk = inMemory();
  const send = { jid: JID, text: 'A **bold** answer' };
  {
    await using account = await connectChannel(server, { openDatabase: disk });
    await ada.say(SECRET, text('psst'), PEOPLE);
    await server.until(() => account.host.heard.includes('psst'));
    await account.channel.send({ id: 'm1', ...send });
    expect(account.channel.status()).toEqual({ state: 'connected', detail: null });
  }
  await ada.say(SECRET, text('said meanwhile'), PEOPLE);
  await using again = await connectChannel(server, { openDatabase: disk });
  await server.until(() => again.host.heard.includes('said meanwhile'));
  await again.channel.send({ id: 'm2', ...send, text: 'after the restart' });
  await again.channel.send({ id: 'm3', ...send, text: 'changed', replaces: 'm2' });
  const events = own(server);
  expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['m.room.encrypted']));
  const read = await Promise.all(events.map((event) => ada.read(event, SECRET)));
  expect(read[0]).toMatchObject({ formatted_body: 'A <strong>bold</strong> answer' });
  expect(read[1]).toMatchObject({ body: 'after the restart' });
  expect(read[2]).toMatchObject({ 'm.new_content': { body: 'changed' } });
  expect(new Set(events.map(indexOf)).size).toBe(3);
  expect(server.keys.masters.has(BOT)).toBe(true);
});

test('keys are on disk before an event goes out: a copy of the disk at that moment goes on after it', async () => {
  const { server, ada } = await startSecret();
  await using _server = server;
  const folder = mkdtempSync(join(tmpdir(), 'claw-matrix-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { openFile, copyOf } = await disks(folder);
  const copies: string[] = [];
  server.onCall = ({ path }) => {
    if (path.includes('/send/m.room.encrypted/'))
      copies.push(copyOf('disk', `copy${copies.length}`));
  };
  {
    await using account = await connectChannel(server, { openDatabase: openFile('disk') });
    await ada.say(SECRET, text('hello'), PEOPLE);
    await server.until(() => account.host.heard.includes('hello'));
    await account.channel.send({ id: 'm1', jid: JID, text: 'one' });
    await account.channel.send({ id: 'm2', jid: JID, text: 'two' });
  }
  const [, atSecond = ''] = copies;
  await using crashed = await connectChannel(server, { openDatabase: openFile(atSecond) });
  // The host repeats what it does not know to be sent: the server has it, and takes it once.
  await crashed.channel.send({ id: 'm2', jid: JID, text: 'two' });
  await crashed.channel.send({ id: 'm3', jid: JID, text: 'three' });
  const events = own(server);
  const read = await Promise.all(events.map((event) => ada.read(event, SECRET)));
  expect(read.map(({ body }) => body)).toEqual(['one', 'two', 'three']);
  expect(new Set(events.map(indexOf)).size).toBe(3);
});

/** Databases in files: a copy of one is the disk after a power cut. */
async function disks(folder: string) {
  const { default: Database } = await import('better-sqlite3');
  const path = (name: string) => join(folder, `${name}.db`);
  return {
    openFile(name: string): NonNullable<Given['openDatabase']> {
      const database = new Database(path(name));
      onTestFinished(() => void database.close());
      let applied = Number(database.pragma('user_version', { simple: true }));
      return (migrations) => {
        for (const migration of migrations.slice(applied)) {
          database.exec(migration);
          applied += 1;
          database.pragma(`user_version = ${applied}`);
        }
        return database;
      };
    },
    copyOf(name: string, copy: string): string {
      writeFileSync(path(copy), readFileSync(path(name)));
      return copy;
    },
  };
}

test('where the disk takes no keys nothing goes out, and later it goes on with those that are there', async () => {
  const { server, ada } = await startSecret();
  await using _server = server;
  const disk = inMemory();
  await using account = await connectChannel(server, { openDatabase: disk });
  const { channel, host } = account;
  await ada.say(SECRET, text('hello'), PEOPLE);
  await server.until(() => host.heard.includes('hello'));
  await channel.send({ id: 'm1', jid: JID, text: 'one' });
  const full = "BEGIN SELECT RAISE(ABORT, 'disk full'); END";
  disk([]).exec(`CREATE TRIGGER full BEFORE INSERT ON key_record ${full}`);
  const failed = channel.send({ id: 'm2', jid: JID, text: 'two' });
  await expect(failed).rejects.toThrow(/disk full|could not be written/);
  expect(own(server)).toHaveLength(1);
  disk([]).exec('DROP TRIGGER full');
  await channel.send({ id: 'm2', jid: JID, text: 'two' });
  const read = await Promise.all(own(server).map((event) => ada.read(event, SECRET)));
  expect(read.map(({ body }) => body)).toEqual(['one', 'two']);
  expect(new Set(own(server).map(indexOf)).size).toBe(2);
});

test('a message whose key comes later is read then; the person is told once when it does not come', async () => {
  const { server, ada } = await startSecret();
  await using _server = server;
  const clock = stoppedClock();
  await using account = await connectChannel(server, { clock });
  await ada.say(SECRET, text('before its key'), PEOPLE, false);
  await server.until(() => server.waitingFor(BOT) === 0);
  clock.time = 60_000;
  server.say('!hall:test', ADA, 'in the clear');
  await server.until(() => own(server).length === 1);
  const [told] = own(server);
  if (told === undefined) throw new Error('nothing was said');
  expect(await ada.read(told, SECRET)).toMatchObject({
    msgtype: 'm.notice',
    body: expect.stringContaining('could not read a message'),
  });
  await ada.shareKey();
  await server.until(() => account.host.heard.includes('before its key'));
  expect(own(server)).toHaveLength(1);
});

test('files are encrypted in an encrypted room, both ways; one that was changed on its way is refused', async () => {
  const { server, ada } = await startSecret();
  await using _server = server;
  const folder = mkdtempSync(join(tmpdir(), 'claw-matrix-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await using account = await connectChannel(server, { dataDir: folder });
  const { channel, host } = account;
  const locked = ada.encryptFile(Buffer.from('the secret plan'));
  server.files.set('mxc://test/plan', { content: Buffer.from(locked.content), type: '' });
  const file = { ...locked.keys, url: 'mxc://test/plan' };
  const message = { msgtype: 'm.file', body: 'plan.txt', info: { size: 15 } };
  await ada.say(SECRET, { ...message, file }, PEOPLE);
  await server.until(() => host.messages.length === 1);
  const [asked] = host.messages;
  const fetched = await channel.fetchAttachment?.(JID, asked?.id ?? '');
  expect(readFileSync(fetched?.path ?? '', 'utf8')).toBe('the secret plan');
  server.files.set('mxc://test/plan', { content: Buffer.from('the secret plot'), type: '' });
  const damaged = channel.fetchAttachment?.(JID, asked?.id ?? '');
  await expect(damaged).rejects.toThrow('could not be decrypted');
  const path = join(folder, 'answer.txt');
  writeFileSync(path, 'the answer');
  const attachments = [{ path, name: 'answer.txt', sizeBytes: 10 }];
  await channel.send({ id: 'm1', jid: JID, text: 'Here.', attachments });
  const [, shown] = own(server);
  if (shown === undefined) throw new Error('no file came');
  const content = await ada.read(shown, SECRET);
  const keys = content['file'] as Json;
  const stored = server.files.get(String(keys['url']))?.content ?? Buffer.alloc(0);
  expect(stored.includes('the answer')).toBe(false);
  expect(Buffer.from(ada.decryptFile(stored, keys)).toString()).toBe('the answer');
});

test('without encryption nothing is said in an encrypted room but that, once, and an answer is refused', async () => {
  const { server, ada } = await startSecret();
  await using _server = server;
  await using account = await connectChannel(server, { env: { MATRIX_ENCRYPTION: 'off' } });
  server.keys.devices.set(`${BOT} ${DEVICE}`, {});
  await ada.say(SECRET, text('psst'), [ADA]);
  await ada.say(SECRET, text('hello?'), [ADA]);
  await server.until(() => own(server).length === 1);
  const answer: OutboundMessage = { id: 'm1', jid: JID, text: 'in the clear' };
  await expect(account.channel.send(answer)).rejects.toThrow('encryption is switched off here');
  expect(own(server).map(({ content }) => content['body'])).toEqual([
    expect.stringMatching(/^This room is encrypted, and encryption is switched off/),
  ]);
  expect(account.host.offered).toBe(0);
});

test('keys that are lost are said: in the status with what to do, and in the room', async () => {
  const { server, ada } = await startSecret();
  await using _server = server;
  server.keys.devices.set(`${BOT} ${DEVICE}`, {});
  await using account = await connectChannel(server);
  await ada.say(SECRET, text('psst'), [ADA]);
  await server.until(() => own(server).length === 1);
  expect(own(server)[0]?.content['body']).toContain('keys of my device are lost');
  const answer: OutboundMessage = { id: 'm1', jid: JID, text: 'in the clear' };
  await expect(account.channel.send(answer)).rejects.toThrow('keys of my device are lost');
  await account.channel.disconnect();
  await account.channel.connect(account.host);
  const { state, detail } = account.channel.status();
  expect([state, detail]).toEqual([
    'connected',
    expect.stringContaining('`npx claw setup matrix`'),
  ]);
});

test('an invitation to an encrypted room: the keys are there before the account joins', async () => {
  const { server, ada } = await startSecret();
  await using _server = server;
  const NEW = '!new:test';
  server.addRoom(NEW, [ADA], [ENCRYPTED]);
  await using account = await connectChannel(server);
  const isKnown: boolean[] = [];
  server.onCall = ({ path }) => {
    if (path.startsWith('/join/')) isKnown.push(server.keys.devices.has(`${BOT} ${DEVICE}`));
  };
  server.invite(NEW, ADA, BOT, { isDirect: true, isEncrypted: true });
  await server.until(() => server.rooms.get(NEW)?.joinedAt.has(BOT) === true);
  await ada.say(NEW, text('first words'), PEOPLE);
  await server.until(() => account.host.heard.includes('first words'));
  expect(isKnown).toEqual([true]);
});
