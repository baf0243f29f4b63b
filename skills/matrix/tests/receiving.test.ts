import { expect, test } from 'vitest';
import type { HostEnd } from '../../../src/testing/channel/host-end.ts';
import {
  ADA,
  ADA_DIRECT,
  BOT,
  connectChannel,
  createChannel,
  EVE,
  type Given,
  HALL,
  inMemory,
  settingsOf,
  startServer,
} from './fixtures.ts';
import type { Json } from './matrix-server.ts';

const inReply = (event_id: string): Json => ({ 'm.in_reply_to': { event_id } });

test('mentions, answers and threads are told apart; what is answered is quoted; machines are not listened to', async () => {
  await using server = await startServer();
  await using account = await connectChannel(server, {
    env: { MATRIX_ALLOW_FROM: `${ADA},${EVE}` },
  });
  const { channel, host } = account;
  await channel.send({ id: 'm1', jid: `matrix:${HALL}`, text: 'Anything else?' });
  const [ours] = server
    .events(HALL)
    .filter(({ sender }) => sender === BOT)
    .slice(-1);
  const told = server.say(HALL, EVE, 'the tram is late');
  server.say(HALL, ADA, 'so it is', { 'm.relates_to': inReply(told) });
  const fallback = `> <${EVE}> the tram is late\n> very\n\nreally?`;
  server.say(HALL, ADA, fallback, { 'm.relates_to': inReply(told) });
  server.say(HALL, ADA, 'yes please', { 'm.relates_to': inReply(ours?.event_id ?? '') });
  server.say(HALL, ADA, 'Andy the bot: what now?', { 'm.mentions': { user_ids: [BOT] } });
  const inThread = {
    rel_type: 'm.thread',
    event_id: told,
    is_falling_back: true,
    ...inReply(told),
  };
  server.say(HALL, ADA, `${BOT} in here`, { 'm.relates_to': inThread });
  server.push(HALL, ADA, 'm.room.message', { msgtype: 'm.notice', body: 'I am a machine' });
  server.push(HALL, ADA, 'm.room.message', { msgtype: 'm.emote', body: 'waves' });
  server.push(HALL, ADA, 'm.room.message', {
    msgtype: 'm.location',
    body: 'here',
    geo_uri: 'geo:1,2',
  });
  await server.until(() => host.messages.length === 8);
  const seen = host.messages.map(({ text, mentionsAssistant }) => [mentionsAssistant, text]);
  expect(seen).toEqual([
    [false, 'the tram is late'],
    [false, 'so it is'],
    [false, 'really?'],
    [true, 'yes please'],
    [true, '@Andy what now?'],
    [true, '@Andy in here'],
    [false, '* waves'],
    [false, ''],
  ]);
  expect(host.messages.slice(1, 4).map(({ notes }) => notes)).toEqual([
    ['in answer to eve: "the tram is late"'],
    ['in answer to eve: "the tram is late"'],
    ['in answer to Andy: "Anything else?"'],
  ]);
  expect(host.messages[7]?.notes).toEqual(['location 1, 2, here']);
  expect(host.messages[5]?.thread).toBe(told);
  expect(host.messages[1]).toMatchObject({
    chatName: 'Hall',
    senderName: 'Ada',
  });
});

test('corrections and reactions are told; what was taken back while away is nothing', async () => {
  await using server = await startServer();
  const disk: Given = { openDatabase: inMemory() };
  {
    await using account = await connectChannel(server, disk);
    const { channel, host } = account;
    await channel.send({ id: 'm1', jid: `matrix:${ADA_DIRECT}`, text: 'Done.' });
    const id = server.events(ADA_DIRECT).at(-1)?.event_id ?? '';
    const onIt = (event_id: string) => ({
      'm.relates_to': { rel_type: 'm.annotation', event_id, key: '👍' },
    });
    const thumb = server.push(ADA_DIRECT, ADA, 'm.reaction', onIt(id));
    await server.until(() => host.reactions.length === 1);
    server.redact(ADA_DIRECT, thumb, ADA);
    await server.until(() => host.reactions.length === 2);
    expect(host.reactions.map(({ messageId, emoji }) => [messageId, emoji])).toEqual([
      ['m1', '👍'],
      ['m1', null],
    ]);
    const said = server.say(ADA_DIRECT, ADA, 'at noon');
    const edited = { 'm.new_content': { msgtype: 'm.text', body: 'at one' } };
    const relation = { 'm.relates_to': { rel_type: 'm.replace', event_id: said } };
    server.say(ADA_DIRECT, ADA, '* at one', { ...edited, ...relation });
    await server.until(() => host.messages.length === 2);
    expect(host.messages[1]).toMatchObject({
      notes: ['corrected: an earlier message "at noon" now says "at one"'],
      isContext: true,
    });
  }
  const gone = server.say(ADA_DIRECT, ADA, 'forget this');
  server.redact(ADA_DIRECT, gone, ADA);
  server.say(ADA_DIRECT, ADA, 'still there?');
  await using again = await connectChannel(server, disk);
  await server.until(() => again.host.messages.length > 0);
  expect(again.host.heard).toEqual(['still there?']);
});

test('a question has numbers to press, and a press is an answer', async () => {
  await using server = await startServer();
  await using account = await connectChannel(server);
  const { channel, host } = account;
  const options = ['Paris', 'Rome'].map((label) => ({ word: label.toLowerCase(), label }));
  const choices = { question: 'q7', text: 'Where to?', options };
  await channel.send({
    id: 'm1',
    jid: `matrix:${ADA_DIRECT}`,
    text: 'Where to? 1. Paris 2. Rome',
    choices,
  });
  const [asked, ...keys] = server
    .events(ADA_DIRECT)
    .filter(({ sender }) => sender === BOT)
    .slice(1);
  expect(keys.map(({ content }) => (content['m.relates_to'] as Json)['key'])).toEqual(['1️⃣', '2️⃣']);
  const pressed = { rel_type: 'm.annotation', event_id: asked?.event_id, key: '2⃣' };
  server.push(ADA_DIRECT, EVE, 'm.reaction', { 'm.relates_to': pressed });
  server.push(ADA_DIRECT, ADA, 'm.reaction', { 'm.relates_to': pressed });
  await server.until(() => host.choices.length > 0);
  expect(host.choices).toEqual([
    { jid: `matrix:${ADA_DIRECT}`, sender: ADA, isOwner: false, question: 'q7', word: 'rome' },
  ]);
});

test('an invitation is taken from those who may write, and declined from others, who are counted', async () => {
  await using server = await startServer();
  await using account = await connectChannel(server, { env: { MATRIX_OWNER: ADA } });
  const { host } = account;
  server.addRoom('!evil:test', [EVE]);
  server.addRoom('!new:test', [ADA]);
  server.say('!new:test', ADA, 'before it was invited');
  server.invite('!evil:test', EVE, BOT);
  server.invite('!new:test', ADA, BOT, { isDirect: true });
  await server.until(() => server.rooms.get('!new:test')?.joinedAt.has(BOT) === true);
  server.say('!new:test', ADA, 'hello there');
  await server.until(() => host.heard.includes('hello there'));
  expect(host.heard).toEqual(['hello there']);
  expect(host.strangers).toEqual([EVE]);
  expect(server.rooms.get('!evil:test')?.joinedAt.has(BOT)).toBe(false);
  expect(server.calls.map(({ path }) => path)).toContain('/rooms/!evil:test/leave');
  const [chat] = host.chats.filter(({ jid }) => jid === 'matrix:!new:test');
  expect(chat).toMatchObject({ isDirect: true, isOwners: true });
  // A second chat with the owner, and one in which a third person hears: neither is the owner's own.
  server.say(ADA_DIRECT, ADA, 'also here');
  await server.until(() => host.heard.includes('also here'));
  expect(host.chats.filter(({ isOwners }) => isOwners)).toHaveLength(1);
  server.join('!new:test', EVE);
  server.say('!new:test', ADA, 'now we are three');
  await server.until(() => host.heard.includes('now we are three'));
  expect(host.messages.at(-1)?.isDirect).toBe(false);
});

test('policies: all messages where open, none of other rooms where there is a list', async () => {
  await using server = await startServer();
  server.addRoom('!listed:test', [ADA, BOT]);
  {
    await using open = await connectChannel(server, { env: { MATRIX_GROUP_POLICY: 'open' } });
    server.say(HALL, ADA, 'no name said');
    server.say(HALL, EVE, 'not from a stranger');
    await server.until(() => open.host.messages.length > 0);
    expect(open.host.messages.map(({ mentionsAssistant }) => mentionsAssistant)).toEqual([true]);
  }
  const env = { MATRIX_GROUP_POLICY: 'allowlist', MATRIX_ROOMS: '!listed:test' };
  await using listed = await connectChannel(server, { env });
  server.say(HALL, ADA, 'in another room');
  server.say('!listed:test', ADA, 'in the room');
  server.say(ADA_DIRECT, ADA, 'directly');
  await server.until(() => listed.host.messages.length === 2);
  expect(listed.host.heard.toSorted()).toEqual(['directly', 'in the room']);
});

test('what was said in a long absence comes in order, page by page; what was said before ever is not answered', async () => {
  await using server = await startServer();
  const disk: Given = { openDatabase: inMemory() };
  server.say(ADA_DIRECT, ADA, 'long ago');
  await createAndLeave(server, disk);
  const texts = Array.from({ length: 330 }, (_, at) => `message ${at}`);
  for (const text of texts) server.say(ADA_DIRECT, ADA, text);
  await using again = await connectChannel(server, disk);
  await server.until(() => again.host.messages.length >= texts.length);
  expect(again.host.heard).toEqual(texts);
});

async function createAndLeave(server: Awaited<ReturnType<typeof startServer>>, disk: Given) {
  await using account = await connectChannel(server, disk);
  expect(account.host.offered).toBe(0);
}

test('entries that are no ids are refused in words; without settings it is silent', async () => {
  const env = settingsOf({ url: 'http://localhost:1' });
  await using odd = await connectChannel(
    { url: 'http://localhost:1' },
    { env: { MATRIX_ALLOW_FROM: 'ada' } },
  );
  const { state, detail } = odd.channel.status();
  expect([state, detail]).toEqual([
    'refused',
    expect.stringContaining('"ada", which is not a user id'),
  ]);
  expect(() => createChannel({})).toThrow('silent');
  expect(() => createChannel({ ...env, MATRIX_GROUP_POLICY: 'all' })).toThrow(
    'mention, open or allowlist',
  );
});

const noticesOf = ({ told }: HostEnd): readonly string[] =>
  told.flatMap((one) => (one.kind === 'notice' ? [one.text] : []));
const movesOf = ({ told }: HostEnd): readonly (readonly [from: string, to: string])[] =>
  told.flatMap((one) => (one.kind === 'same-chat' ? [[one.from, one.to] as const] : []));

/** Begins the upgrade of the hall to a new room, which names a room before it. */
function upgradeHall(
  server: Awaited<ReturnType<typeof startServer>>,
  { before = HALL, by = ADA, isPublic = true } = {},
): void {
  const predecessor = { room_id: before, event_id: '$1:test' };
  server.addRoom(
    '!new:test',
    [ADA, EVE],
    [
      { type: 'm.room.create', content: { room_version: '11', predecessor } },
      { type: 'm.room.join_rules', content: { join_rule: isPublic ? 'public' : 'invite' } },
    ],
  );
  const content = { body: 'This room has been replaced', replacement_room: '!new:test' };
  server.push(HALL, by, 'm.room.tombstone', content, '');
}

test('an upgraded room that does not name the room before is not followed: it could be another chat', async () => {
  await using server = await startServer();
  await using account = await connectChannel(server);
  const { host } = account;
  upgradeHall(server, { before: '!other:test' });
  await server.until(() => noticesOf(host).length === 1);
  expect(noticesOf(host)).toEqual([
    'The Matrix room Hall was upgraded to !new:test, which does not name it as the room before. The assistant did not follow.',
  ]);
  expect(movesOf(host)).toEqual([]);
  expect(server.rooms.get('!new:test')?.joinedAt.has(BOT)).toBe(false);
});

test('in an upgraded room, what was said before the assistant came is heard, and nobody is said to have joined', async () => {
  await using server = await startServer();
  await using account = await connectChannel(server);
  const { host } = account;
  upgradeHall(server);
  server.say('!new:test', ADA, 'is everybody here?');
  await server.until(() => movesOf(host).length === 1);
  server.say('!new:test', ADA, 'now you are');
  await server.until(() => host.heard.includes('now you are'));
  expect(host.heard).toEqual(['is everybody here?', 'now you are']);
});

test('a room that the assistant cannot join is followed by a later invitation', async () => {
  await using server = await startServer();
  await using account = await connectChannel(server);
  const { host } = account;
  upgradeHall(server, { isPublic: false });
  await server.until(() => noticesOf(host).length === 1);
  expect(noticesOf(host)[0]).toContain('and the assistant cannot join !new:test. Invite it there.');
  expect(movesOf(host)).toEqual([]);
  server.invite('!new:test', ADA, BOT);
  await server.until(() => movesOf(host).length === 1);
  expect(movesOf(host)).toEqual([[`matrix:${HALL}`, 'matrix:!new:test']]);
  await server.until(() => noticesOf(host).length === 2);
  expect(noticesOf(host)[1]).toContain('The chat goes on in the new room.');
  server.say('!new:test', ADA, 'here we are');
  await server.until(() => host.messages.length === 1);
  expect(host.messages[0]).toMatchObject({ jid: 'matrix:!new:test', text: 'here we are' });
});

test('an upgrade by somebody who may not write is told, and waits for an invitation', async () => {
  await using server = await startServer();
  await using account = await connectChannel(server);
  const { host } = account;
  upgradeHall(server, { by: EVE });
  await server.until(() => noticesOf(host).length === 1);
  expect(noticesOf(host)[0]).toContain(`upgraded by ${EVE}, who may not write to the assistant.`);
  expect(server.rooms.get('!new:test')?.joinedAt.has(BOT)).toBe(false);
});

test('an invitation to a room that only says that it is the next one takes no chat over', async () => {
  await using server = await startServer();
  await using account = await connectChannel(server);
  const { host } = account;
  const predecessor = { room_id: HALL, event_id: '$1:test' };
  server.addRoom('!false:test', [ADA], [{ type: 'm.room.create', content: { predecessor } }]);
  server.invite('!false:test', ADA, BOT);
  await server.until(() => server.rooms.get('!false:test')?.joinedAt.has(BOT) === true);
  server.say('!false:test', ADA, 'hello');
  await server.until(() => host.messages.length === 1);
  expect(movesOf(host)).toEqual([]);
  expect(noticesOf(host)).toEqual([]);
});

test('who comes, leaves and is removed is told once, where somebody who may write did it', async () => {
  await using server = await startServer();
  const bob = '@bob:test';
  server.names.set(bob, 'Bob');
  await using account = await connectChannel(server, {
    env: { MATRIX_ALLOW_FROM: `${ADA},${bob}` },
  });
  const { host } = account;
  server.join(HALL, bob);
  // A new name is no news, nor is what strangers do.
  server.push(HALL, bob, 'm.room.member', { membership: 'join', displayname: 'Bobby' }, bob);
  server.leave(HALL, EVE);
  server.join(HALL, EVE);
  server.push(HALL, ADA, 'm.room.member', { membership: 'leave' }, bob);
  server.join(HALL, bob);
  server.leave(HALL, bob);
  server.push(HALL, ADA, 'm.room.member', { membership: 'ban' }, EVE);
  server.push(HALL, ADA, 'm.room.member', { membership: 'invite' }, '@carl:test');
  server.leave(ADA_DIRECT, ADA);
  server.say(HALL, ADA, 'last');
  await server.until(() => host.messages.at(-1)?.text === 'last');
  const news = host.messages.slice(0, -1);
  expect(news.map(({ text, notes, isContext }) => [text, notes, isContext])).toEqual([
    ['', ['in this chat: Bob joined'], true],
    ['', ['in this chat: Ada removed Bobby'], true],
    ['', ['in this chat: Bob joined'], true],
    ['', ['in this chat: Bob left'], true],
    ['', ['in this chat: Ada removed eve'], true],
  ]);
});
