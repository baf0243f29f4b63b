import { expect, test } from 'vitest';
import { LinkedChannel } from '../../../testing/whatsapp/linked-channel.ts';
import { startWhatsAppServer } from '../../../testing/whatsapp/server.ts';

const MESSAGES = 100;

test('somebody who writes while they are written to reads and is read, every time', async () => {
  const server = await startWhatsAppServer();
  const linked = new LinkedChannel(server);
  await linked.pair();
  const anna = server.person({ phoneNumber: '4915111111111', lidNumber: '1000001', name: 'Anna' });
  await linked.connect();
  const texts = Array.from({ length: MESSAGES }, (_, index) => `message ${index}`);
  const saying = texts.map((text, index) =>
    server.say(anna, text, { as: index % 2 === 0 ? 'lid' : 'pn' }),
  );
  await linked.until(() => linked.messages.length > 0);
  const jid = linked.messages[0]?.jid ?? '';
  const sending = texts.map(async (text, index) =>
    linked.channel.send({ id: `out-${index}`, jid, text }),
  );
  await Promise.all([...saying, ...sending]);
  await linked.until(() => linked.messages.length === MESSAGES);
  expect(linked.messages.map(({ text }) => text)).toEqual(texts);
  await expect.poll(() => anna.read.map(({ text }) => text).sort()).toEqual([...texts].sort());
  await linked.close();
  await server.close();
});
