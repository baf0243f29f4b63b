import { expect, test } from 'vitest';
import { HostEnd } from '../../../src/testing/channel/host-end.ts';
import { ADA, ADA_JID, BOB, connect, EVE, GROUP, GROUP_JID, inMemory } from './fixtures.ts';
import { SignalCli } from './signal-cli.ts';

const FAMILY = { group: GROUP, groupName: 'Family' };

test('people are known by number or UUID, in chats of their own and in groups; strangers are counted', async () => {
  await using cli = await new SignalCli().comeUp();
  await using linked = await connect(cli);
  const { host } = linked;
  cli.say(EVE, 'let me in');
  cli.say(EVE, 'me too', FAMILY);
  const at = cli.say(ADA, 'hello');
  cli.say(BOB, 'hello all', FAMILY);
  await cli.until(() => host.messages.length === 2);
  expect(host.strangers).toEqual([EVE.number]);
  expect(host.messages[0]).toEqual({
    id: `${at}-${ADA.uuid}`,
    jid: ADA_JID,
    chatName: 'Ada',
    isDirect: true,
    sender: ADA.uuid,
    senderName: 'Ada',
    isOwner: false,
    mentionsAssistant: false,
    text: 'hello',
    sentAt: at,
  });
  expect(host.messages[1]).toMatchObject({ jid: GROUP_JID, isDirect: false, chatName: 'Family' });
  expect(host.chats).toEqual([
    { jid: ADA_JID, name: 'Ada', isDirect: true },
    { jid: GROUP_JID, name: 'Family', isDirect: false },
  ]);
});

test('mentions have names, a mention or a quotation calls the assistant, other quotations are told', async () => {
  await using cli = await new SignalCli().comeUp();
  await using linked = await connect(cli);
  const { host } = linked;
  const mentions = [
    { name: cli.uuid, number: null, uuid: cli.uuid, start: 3, length: 1 },
    { name: ADA.number, number: ADA.number, uuid: ADA.uuid, start: 10, length: 1 },
  ];
  cli.say(ADA, 'first', FAMILY);
  cli.say(BOB, '🐢 \ufffc, ask \ufffc.', { ...FAMILY, mentions });
  const quote = { id: 1, authorNumber: cli.account, authorUuid: cli.uuid, text: 'Yes?' };
  cli.say(BOB, 'and this?', { ...FAMILY, quote });
  const other = { id: 2, authorNumber: ADA.number, authorUuid: ADA.uuid, text: 'at ] noon' };
  cli.say(BOB, 'really?', { ...FAMILY, quote: other });
  await cli.until(() => host.messages.length === 4);
  expect(
    host.messages.slice(1).map(({ text, mentionsAssistant }) => [text, mentionsAssistant]),
  ).toEqual([
    ['🐢 @Andy, ask @Ada.', true],
    ['and this?', true],
    ['really?', false],
  ]);
  expect(host.messages[2]?.notes).toEqual(['in answer to Andy: "Yes?"']);
  expect(host.messages[3]?.notes).toEqual(['in answer to Ada: "at noon"']);
});

test('corrections, what is taken back, and what is not text are told in words', async () => {
  await using cli = await new SignalCli().comeUp();
  await using linked = await connect(cli);
  const { host } = linked;
  const at = cli.say(ADA, 'at noon');
  const dataMessage = { timestamp: cli.nextTime(), message: 'at one' };
  cli.receive(ADA, { editMessage: { targetSentTimestamp: at, dataMessage } });
  cli.say(ADA, null, { remoteDelete: { timestamp: at } });
  cli.say(ADA, null, { viewOnce: true, attachments: [{ contentType: 'image/jpeg', id: 'x.jpg' }] });
  cli.say(ADA, null, { sticker: { packId: 'ab', stickerId: 1 } });
  cli.say(ADA, null, {
    pollCreate: { question: 'Lunch?', allowMultiple: false, options: ['a', 'b'] },
  });
  cli.say(ADA, null, { contacts: [{ name: { display: 'Bob' }, phone: [{ value: '+491' }] }] });
  cli.say(ADA, null, { isExpirationUpdate: true, expiresInSeconds: 3_600 });
  cli.receive(ADA, { typingMessage: { action: 'STARTED', timestamp: 1 } });
  cli.receive(ADA, { receiptMessage: { when: 1, isDelivery: true, timestamps: [at] } });
  cli.say(ADA, 'done');
  await cli.until(() => host.messages.some(({ text }) => text === 'done'));
  const told = host.messages.map(({ text, notes = [], isContext = false }) => [
    text,
    ...notes,
    isContext,
  ]);
  expect(told).toEqual([
    ['at noon', false],
    ['', 'corrected: an earlier message now says "at one"', true],
    ['', 'deleted: an earlier message', true],
    ['', 'cannot be seen here: media, it can be viewed once', false],
    ['', 'sticker', false],
    ['', 'poll "Lunch?": a / b', false],
    ['', 'contact Bob, +491', false],
    ['done', false],
  ]);
});

test('where the account is the owner’s own, notes to self and their words in groups count, nothing else they write', async () => {
  await using cli = await new SignalCli().comeUp();
  await using linked = await connect(cli, { env: { SIGNAL_OWNER: cli.account } });
  const { host, channel } = linked;
  const self = { uuid: cli.uuid, number: cli.account, name: 'Me' };
  const sent = (more: object) =>
    cli.receive(self, { syncMessage: { sentMessage: { timestamp: cli.nextTime(), ...more } } });
  sent({ message: 'to Ada', destinationNumber: ADA.number, destinationUuid: ADA.uuid });
  sent({ message: 'buy milk', destinationNumber: cli.account, destinationUuid: cli.uuid });
  sent({
    message: '@Andy hello',
    groupInfo: { groupId: GROUP, groupName: 'Family', type: 'DELIVER' },
  });
  await cli.until(() => host.messages.length === 2);
  const jid = `signal:${cli.account}`;
  expect(host.messages).toMatchObject([
    { jid, text: 'buy milk', isOwner: true, isDirect: true },
    { jid: GROUP_JID, text: '@Andy hello', isOwner: true, isDirect: false },
  ]);
  expect(host.chats[0]).toEqual({ jid, name: 'Note to Self', isDirect: true, isOwners: true });
  await channel.send({ id: 'm1', jid, text: 'Noted.' });
  expect(cli.posted[0]?.params).toMatchObject({ recipient: [cli.account], notifySelf: true });
});

test('an event is on disk before the host gets it: a crash in between loses nothing', async () => {
  await using cli = await new SignalCli().comeUp();
  const disk = inMemory();
  const stuck = new HostEnd();
  stuck.beforeStored = () => Promise.reject(new Error('disk full'));
  await using first = await connect(cli, { openDatabase: disk, host: stuck });
  cli.say(ADA, 'one');
  cli.say(ADA, 'two');
  await cli.until(() => stuck.offered > 1);
  // The stream stays open meanwhile, and signal-cli has nothing left of these two.
  expect(first.channel.status().state).toBe('connected');
  expect(JSON.stringify(first.host.log)).toContain('disk full');
  await first.channel.disconnect();
  await using second = await connect(cli, { openDatabase: disk });
  await cli.until(() => second.host.messages.length === 2);
  expect(second.host.heard).toEqual(['one', 'two']);
});

test('what is for another account of the same signal-cli, or is no event at all, is left out', async () => {
  await using cli = await new SignalCli().comeUp();
  await using linked = await connect(cli);
  cli.receive(ADA, { dataMessage: { timestamp: 1, message: 'for another' } }, '+4915177777777');
  await cli.write('event:receive\ndata:{"no": \n\n:\nevent:receive\ndata:[]\n\n');
  cli.say(ADA, 'hello');
  await cli.until(() => linked.host.messages.length === 1);
  expect(linked.host.heard).toEqual(['hello']);
  expect(JSON.stringify(linked.host.log)).toContain('another account than SIGNAL_ACCOUNT');
});
