import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type AgentScript,
  answers,
  TestChannel,
  TestProject,
  textsOf,
} from '../../testing/assistant.ts';
import { TestClock } from '../../testing/clock.ts';
import { LinkedChannel } from '../../testing/whatsapp/linked-channel.ts';
import { voteOn } from '../../testing/whatsapp/people/vote.ts';
import { startWhatsAppServer, type WhatsAppServer } from '../../testing/whatsapp/server.ts';

const ANNA = { phoneNumber: '4915111111111', lidNumber: '100000000001', name: 'Anna' };
const PNG = Buffer.concat([Buffer.from([0x89]), Buffer.from('PNG and so on')]);
const BERT = { phoneNumber: '4915122222222', lidNumber: '100000000002', name: 'Bert' };

/** Returns the texts in the owner's own chat, as the phone shows them. */
function toOwner({ account }: WhatsAppServer): readonly string[] {
  return account.phone.heard.filter(({ to }) => to === account.pn).map(({ text }) => text);
}

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
  const heard = () => toOwner(server);

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

test('a picture in a group is fetched for its agent, and goes with the group', async () => {
  const server = await startWhatsAppServer();
  using project = new TestProject();
  const linked = new LinkedChannel(server, {}, {}, join(project.dir, 'data'));
  await linked.pair();
  const anna = server.person(ANNA);
  const jid = '120363000000000001@g.us';
  const family = server.group({ jid, subject: 'Family', addressing: 'lid', members: [anna] });
  const fetched: unknown[] = [];
  const shown: unknown[] = [];
  const agent: AgentScript = async ({ folder, prompt, pictures }, { onTool }) => {
    shown.push(pictures);
    const id = /\[image, 1 kB, id (\w+)\]/.exec(prompt)?.[1] ?? prompt;
    fetched.push(await onTool({ folder, name: 'get_attachment', input: { message_id: id } }));
    return answers('A picture.');
  };
  const assistant = await project.start({ agent, over: { channels: [linked.channel] } });
  const heard = () => toOwner(server);
  await expect.poll(() => assistant.store.chats.byJid(jid)).not.toBeNull();
  await server.sayOnPhone('/register Family');
  await expect.poll(() => heard().length).toBe(1);

  const picture = await server.upload({ type: 'image', bytes: PNG, mimetype: 'image/jpeg' });
  await server.say(
    anna,
    { imageMessage: { ...picture, caption: '@Andy what is this?' } },
    { group: family },
  );
  await expect.poll(() => anna.read.length).toBe(1);
  expect(fetched).toMatchObject([
    { ok: true, value: { type: 'image/png', sizeBytes: PNG.length } },
  ]);
  const shelf = join(project.dir, 'data/media/family');
  const [name = ''] = readdirSync(shelf);
  expect(fetched).toMatchObject([{ value: { path: `/workspace/media/${name}` } }]);
  expect(shown).toMatchObject([[{ path: `/workspace/media/${name}`, problem: null }]]);
  expect(readFileSync(join(shelf, name))).toEqual(PNG);
  expect(readdirSync(join(linked.dataDir, 'whatsapp/media'))).toEqual([]);

  await server.sayOnPhone('/unregister Family delete');
  await expect.poll(() => heard().at(-2)).toContain('Say yes or no');
  const poll = server.account.phone.heard.at(-1);
  const under = { creator: server.account.lid, voter: server.account.pn };
  if (poll !== undefined) await server.sayOnPhone(voteOn(poll, ['Yes'], under));
  await expect.poll(() => heard().at(-1)).toContain('is deleted');
  expect(existsSync(shelf)).toBe(false);
  const { id = '' } = anna.read[0] ?? {};
  await expect(linked.channel.fetchAttachment(jid, id)).rejects.toMatchObject({
    code: 'MEDIA_UNKNOWN',
  });
  await assistant.stop();
  await server.close();
});

test('an agent sends a file to its group, and its answer quotes what others have talked past', async () => {
  const server = await startWhatsAppServer();
  using project = new TestProject();
  const linked = new LinkedChannel(server, {}, {}, join(project.dir, 'data'));
  await linked.pair();
  const [anna, bert] = [server.person(ANNA), server.person(BERT)];
  const jid = '120363000000000001@g.us';
  const members = [anna, bert];
  const family = server.group({ jid, subject: 'Family', addressing: 'lid', members });
  const hasTalked = Promise.withResolvers<void>();
  const agent: AgentScript = async ({ folder }, { onTool }) => {
    writeFileSync(join(project.dir, 'groups', folder, 'list.md'), '- tea');
    const input = { text: 'Here it is.', attachments: ['list.md'] };
    const { value } = await onTool({ folder, name: 'send_message', input });
    await hasTalked.promise;
    return answers(String(value));
  };
  const assistant = await project.start({ agent, over: { channels: [linked.channel] } });
  await expect.poll(() => assistant.store.chats.byJid(jid)).not.toBeNull();
  await server.sayOnPhone('/register Family');
  await expect.poll(() => toOwner(server).length).toBe(1);

  const id = await server.say(anna, '@Andy what do we need?', { group: family });
  await expect.poll(() => bert.read.length).toBe(2);
  await server.say(bert, 'and nice weather, too', { group: family });
  await expect.poll(() => assistant.store.messages.sendersOf(jid).length).toBe(2);
  hasTalked.resolve();
  await expect.poll(() => bert.read.length).toBe(3);
  const [words, file, answer] = bert.read.map(({ message }) => message);
  expect(words?.extendedTextMessage?.text).toBe('Here it is.');
  expect(file?.documentMessage).toMatchObject({ fileName: 'list.md', mimetype: 'text/plain' });
  const { text, contextInfo } = answer?.extendedTextMessage ?? {};
  expect(text).toBe('Queued for Family.');
  expect(contextInfo).toMatchObject({
    stanzaId: id,
    quotedMessage: { conversation: '@Andy what do we need?' },
  });
  expect([anna.pn, anna.lid]).toContain(contextInfo?.participant);
  // The copy is kept to be looked at.
  expect(readdirSync(join(project.dir, 'data/outgoing'))).toHaveLength(1);
  await assistant.stop();
  await server.close();
});

test('a removed device is told in the terminal, once, and everything else goes on', async () => {
  const server = await startWhatsAppServer();
  using project = new TestProject();
  const linked = new LinkedChannel(server, {}, {}, join(project.dir, 'data'));
  await linked.pair();
  const terminal = new TestChannel('terminal');
  const assistant = await project.start({ over: { channels: [terminal, linked.channel] } });
  server.logOut();
  await expect.poll(() => textsOf(terminal)).toHaveLength(1);
  expect(textsOf(terminal)[0]).toContain('Pair it again: say `/pair`');
  await terminal.say('still there?');
  await expect.poll(() => textsOf(terminal).at(-1)).toBe('pong');
  await assistant.stop();

  const unpaired = new TestChannel('terminal');
  const second = linked.withEndpoint({});
  const again = await project.start({ over: { channels: [unpaired, second.channel] } });
  expect(second.channel.status().state).toBe('unpaired');
  await again.stop();
  expect(textsOf(unpaired)).toEqual([]);

  await linked.pair();
  const paired = new TestChannel('terminal');
  const third = linked.withEndpoint({});
  const back = await project.start({ over: { channels: [paired, third.channel] } });
  await expect.poll(() => textsOf(paired)).toEqual(['The channel whatsapp works again.']);
  await back.stop();
  await server.close();
});

test('after a pause the owner is told in one line what was too old to be answered', async () => {
  const server = await startWhatsAppServer();
  using project = new TestProject();
  const clock = new TestClock('2026-11-21T12:00:00Z');
  const linked = new LinkedChannel(server, {}, {}, join(project.dir, 'data'));
  await linked.pair();
  const anna = server.person(ANNA);
  const jid = '120363000000000001@g.us';
  const family = server.group({ jid, subject: 'Family', addressing: 'lid', members: [anna] });
  const { setTimer } = clock;
  const first = await project.start({ over: { channels: [linked.channel], setTimer } });
  const heard = () => toOwner(server);
  await expect.poll(() => first.store.chats.byJid(jid)).not.toBeNull();
  await server.sayOnPhone('/register Family');
  await expect.poll(() => heard().length).toBe(1);
  await first.stop();

  const sentAt = Date.now() - 25 * 3_600_000;
  for (let index = 0; index < 20; index += 1) {
    await server.say(anna, `@Andy ${index}`, { group: family, sentAt });
  }
  await server.say(anna, '@Andy and now?', { group: family });
  const second = linked.withEndpoint({});
  const agent: AgentScript = async ({ prompt }) => answers(`${prompt.split('\n').length} lines`);
  const again = await project.start({ agent, over: { channels: [second.channel], setTimer } });
  await expect.poll(() => anna.read.map(({ text }) => text)).toEqual(['21 lines']);
  clock.pass(10_000);
  const notice = 'While I was away: 20 older messages in 1 chat were not answered: Family 20.';
  await expect.poll(() => heard().at(-1)).toBe(notice);
  await again.stop();
  await server.close();
});

test('a chat that was registered under one address goes on when its person shows up under the other', async () => {
  const server = await startWhatsAppServer();
  using project = new TestProject();
  const linked = new LinkedChannel(server, {}, {}, join(project.dir, 'data'));
  await linked.pair();
  const anna = server.person(ANNA);
  const agent: AgentScript = async ({ folder, prompt }) =>
    answers(`${folder}: ${prompt.split('\n').length}`);
  const assistant = await project.start({ agent, over: { channels: [linked.channel] } });
  await server.say(anna, 'who is this?', { as: 'lid', isAlone: true });
  await expect.poll(() => assistant.store.chats.byJid(anna.lid)).not.toBeNull();
  await server.sayOnPhone(`/register ${anna.lid} as anna`);
  await expect.poll(() => toOwner(server).at(-1)).toContain('is registered');
  await server.say(anna, 'hello', { as: 'lid', isAlone: true });
  await expect.poll(() => anna.read.length).toBe(1);
  await server.say(anna, 'and by number?', { as: 'pn', isAlone: true });
  await server.say(anna, 'now you know', { as: 'pn' });
  await expect.poll(() => anna.read.map(({ text }) => text)).toEqual(['anna: 1', 'anna: 1']);
  const { groups, chats, messages } = assistant.store;
  expect(groups.all()).toMatchObject([{}, {}, { jid: anna.pn, folder: 'anna' }]);
  expect(chats.unregistered(10)).toEqual([]);
  expect(messages.sendersOf(anna.pn)).toEqual([{ sender: anna.pn, name: 'Anna' }]);
  await assistant.stop();
  await server.close();
});
