import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LinkedChannel } from '../testing/whatsapp/linked-channel.ts';
import { startWhatsAppServer } from '../testing/whatsapp/server.ts';
import { answers, TestProject } from './test-assistant.ts';

const ANNA = { phoneNumber: '4915111111111', lidNumber: '100000000001', name: 'Anna' };
const BERT = { phoneNumber: '4915122222222', lidNumber: '100000000002', name: 'Bert' };

test('on WhatsApp the owner registers a group from the phone, and it is answered there and nowhere else', async () => {
  const server = await startWhatsAppServer();
  using project = new TestProject();
  const linked = new LinkedChannel(server, {}, {}, join(project.dir, 'data'));
  await linked.pair();
  const [anna, bert] = [server.person(ANNA), server.person(BERT)];
  const group = (id: string, subject: string) =>
    server.group({ jid: `${id}@g.us`, subject, addressing: 'lid', members: [anna, bert] });
  const family = group('120363000000000001', 'Family Chat');
  const work = group('120363000000000002', 'Work');
  const agent = async ({ prompt }: { readonly prompt: string }) => answers(`**pong** (${prompt})`);
  const assistant = await project.start({ agent, over: { channels: [linked.channel] } });
  const heard = () =>
    server.account.phone.heard.filter(({ to }) => to === server.account.pn).map(({ text }) => text);

  await server.sayOnPhone('hello');
  await expect.poll(heard).toEqual(['*pong* (hello)']);
  await expect
    .poll(() => assistant.store.chats.unregistered(10).map(({ name }) => name))
    .toContain('Family Chat');
  await server.sayOnPhone('/register Family Chat', server.account.lid, { as: 'lid' });
  await expect.poll(() => heard().length).toBe(2);
  expect(heard()[1]).toContain('Family Chat');

  await server.say(bert, 'soup tonight', { group: family });
  await server.say(anna, '@Andy who cooks?', { group: family });
  await server.say(anna, '@Andy who cooks?', { group: work });
  await server.say(bert, 'hi, who is this?');
  await expect.poll(() => bert.read.length).toBe(1);
  expect(anna.read[0]).toMatchObject({ to: family.jid });
  expect(bert.read[0]?.text).toMatch(
    /^\*pong\* \(.*Bert: soup tonight\n.*Anna: @Andy who cooks\?\)$/s,
  );

  server.cut();
  await server.say(anna, '@Andy and tomorrow?', { group: family });
  await expect.poll(() => anna.read.length).toBe(2);
  expect(bert.read.map(({ to }) => to)).toEqual([family.jid, family.jid]);
  expect(heard()).toHaveLength(2);
  await assistant.stop();
  await server.close();
});
