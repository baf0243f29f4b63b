import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LinkedChannel } from '../../../testing/whatsapp/linked-channel.ts';
import type { Person } from '../../../testing/whatsapp/people/person.ts';
import { startWhatsAppServer, type WhatsAppServer } from '../../../testing/whatsapp/server.ts';

let server: WhatsAppServer;
let linked: LinkedChannel;
let anna: Person;
beforeEach(async () => {
  server = await startWhatsAppServer();
  anna = server.person({ phoneNumber: '4915111111111', lidNumber: '100000000001', name: 'Anna' });
  linked = new LinkedChannel(server);
  await linked.pair();
  await linked.connect();
});
afterEach(async () => {
  await linked.close();
  await server.close();
});

const said = () => linked.messages.map(({ text }) => text);

test('messages that were acknowledged and not stored are handed over at the next start, in order', async () => {
  const group = server.group({
    jid: '120363000000000001@g.us',
    subject: 'Family',
    addressing: 'lid',
    members: [anna],
  });
  linked.beforeStored = () => Promise.reject(new Error('the disk is full'));
  await server.say(anna, 'one');
  await server.say(anna, 'two', { group });
  await server.say(anna, 'three', { group, as: 'lid' });
  // WhatsApp has the acknowledgements, and will not say any of it again.
  await expect.poll(() => server.mailbox.acknowledged.length).toBe(3);
  await linked.channel.disconnect();
  linked.beforeStored = async () => {};
  await server.say(anna, 'four');
  await linked.restart();
  await server.say(anna, 'five', { group });
  await linked.until(() => linked.messages.length === 5);
  expect(said()).toEqual(['one', 'two', 'three', 'four', 'five']);
});

test('news of members that was not stored is handed over at the next start, and once', async () => {
  const group = server.group({
    jid: '120363000000000001@g.us',
    subject: 'Family',
    addressing: 'lid',
    members: [anna],
  });
  const bert = server.person({
    phoneNumber: '4915122222222',
    lidNumber: '100000000002',
    name: 'B',
  });
  linked.beforeStored = () => Promise.reject(new Error('the disk is full'));
  server.changeMembers(group, { kind: 'add', member: bert, by: anna });
  await server.say(anna, 'welcome', { group });
  await expect.poll(() => server.mailbox.acknowledged.length).toBe(1);
  await linked.channel.disconnect();
  linked.beforeStored = async () => {};
  await linked.restart();
  await linked.until(() => linked.messages.length === 2);
  expect(linked.messages.map(({ text, notes }) => notes ?? text)).toEqual([
    ['in this chat: 4915111111111 added 4915122222222'],
    'welcome',
  ]);
  await linked.restart();
  await server.say(anna, 'last', { group });
  await linked.until(() => linked.messages.length === 3);
  expect(said()).toEqual(['', 'welcome', 'last']);
});

test('a message that the host could not store at once is tried again, before those behind it', async () => {
  let failures = 2;
  linked.beforeStored = async () => {
    if (failures-- > 0) throw new Error('busy');
  };
  await server.say(anna, 'one');
  await server.say(anna, 'two');
  await linked.until(() => linked.messages.length === 2);
  expect(said()).toEqual(['one', 'two']);
});

test('stored messages are not handed over again', async () => {
  await server.say(anna, 'one');
  await linked.until(() => linked.messages.length === 1);
  await linked.restart();
  await server.say(anna, 'two');
  await linked.until(() => linked.messages.length === 2);
  expect(said()).toEqual(['one', 'two']);
});

test('a message is on disk when it is acknowledged, as a kill at that moment would show', async () => {
  const { promise: isOver, resolve: goOn } = Promise.withResolvers<void>();
  linked.beforeStored = () => isOver;
  const images: string[] = [];
  const { mailbox } = server;
  const acknowledge = mailbox.acknowledge.bind(mailbox);
  mailbox.acknowledge = (node) => {
    const before = mailbox.size;
    acknowledge(node);
    if (mailbox.size === before) return;
    const image = mkdtempSync(join(tmpdir(), 'claw-image-'));
    cpSync(linked.dataDir, image, { recursive: true });
    images.push(image);
  };
  await server.say(anna, 'one');
  await server.say(anna, 'two');
  await expect.poll(() => images.length).toBe(2);
  const [, image = ''] = images;
  goOn();
  await linked.close();
  linked = new LinkedChannel(server, {}, {}, image);
  await linked.connect();
  await linked.until(() => linked.messages.length === 2);
  expect(said()).toEqual(['one', 'two']);
  for (const folder of images) rmSync(folder, { recursive: true, force: true });
});
