import { afterEach, beforeEach, expect, test } from 'vitest';
import { costOfFourfold, LINEAR_AT_MOST } from '../../../testing/growth.ts';
import { LinkedChannel } from '../../../testing/whatsapp/linked-channel.ts';
import type { Person } from '../../../testing/whatsapp/people/person.ts';
import { startWhatsAppServer, type WhatsAppServer } from '../../../testing/whatsapp/server.ts';
import { readContent } from '../inbound/content.ts';

const PHONE_NUMBER = '4915199999999';
/** A name that holds what names stand for. */
const NAME = `@${PHONE_NUMBER} @${PHONE_NUMBER}`;

let server: WhatsAppServer;
let linked: LinkedChannel;
let mallory: Person;
beforeEach(async () => {
  server = await startWhatsAppServer();
  mallory = server.person({ phoneNumber: PHONE_NUMBER, lidNumber: '100000000099', name: NAME });
  linked = new LinkedChannel(server);
  await linked.pair();
  await linked.connect();
});
afterEach(async () => {
  await linked.close();
  await server.close();
});

test('a mention of somebody whose name mentions them does not grow', async () => {
  await server.say(mallory, 'hello');
  await linked.until(() => linked.messages.length === 1);
  const contextInfo = { mentionedJid: Array.from({ length: 18 }, () => mallory.pn) };
  await server.say(mallory, {
    extendedTextMessage: { text: `@${PHONE_NUMBER} is me`, contextInfo },
  });
  await linked.until(() => linked.messages.length === 2);
  expect(linked.messages[1]?.text).toBe(`@${NAME} is me`);
});

test('a name as long as a book is cut, and stands on one line', async () => {
  const bert = { phoneNumber: '4915188888888', lidNumber: '100000000088' };
  const name = `Bert\n"]\n${'x'.repeat(60_000)}`;
  const author = server.person({ ...bert, name });
  await server.say(author, 'hello');
  await linked.until(() => linked.messages.length === 1);
  const quoted = { stanzaId: 'x', participant: author.pn, quotedMessage: { conversation: 'hm' } };
  const contextInfo = { ...quoted, mentionedJid: [author.pn] };
  const text = `@${bert.phoneNumber} `.repeat(100).trim();
  await server.say(author, { extendedTextMessage: { text, contextInfo } });
  await linked.until(() => linked.messages.length === 2);
  const [, message] = linked.messages;
  expect(message?.senderName).toMatch(/^Bert " x+$/);
  expect(message?.senderName?.length).toBeLessThan(101);
  expect(message?.text.length).toBeLessThan(12_000);
  expect(message?.notes).toHaveLength(1);
});

test('a contact full of beginnings of numbers is read, and four times as many cost about four times', async () => {
  const vcardOf = (size: number) => 'TEL\n'.repeat(size);
  const vcard = vcardOf(60_000);
  await server.say(mallory, { contactMessage: { displayName: 'Bert', vcard } });
  await linked.until(() => linked.messages.length === 1);
  expect(linked.messages[0]?.notes).toEqual(['contact Bert']);
  const cost = costOfFourfold(15_000, (size) => {
    const contactMessage = { displayName: 'Bert', vcard: vcardOf(size) };
    return () => readContent({ contactMessage });
  });
  expect(cost).toBeLessThan(LINEAR_AT_MOST);
});
