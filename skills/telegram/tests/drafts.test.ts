import { expect, test } from 'vitest';
import { startBotApi } from './bot-api.ts';
import { ADA, ADA_DIRECT, connectChannel, EVE, inMemory, stoppedClock, TOKEN } from './fixtures.ts';

const JID = 'telegram:10011';
const DRAFT = { id: 'd1', jid: JID, activity: null };

/** A channel that Ada has written to, on a disk that outlives it. */
async function answering(disk = inMemory()) {
  const api = await startBotApi({ token: TOKEN });
  const { channel, host } = await connectChannel(api, {}, stoppedClock(), disk);
  api.sendText(ADA, ADA_DIRECT, 'hello');
  await api.until(() => host.messages.length === 1);
  return {
    api,
    channel,
    host,
    disk,
    texts: () => api.sent.map(({ text }) => text),
    async [Symbol.asyncDispose]() {
      await channel.disconnect();
      await api.goDown();
    },
  };
}

test.concurrent('a draft is one message that grows with a sign of more, and the answer is its end', async () => {
  await using chat = await answering();
  const { api, channel, texts } = chat;
  await channel.draft?.({ ...DRAFT, text: 'One **bo' });
  const [first] = api.sent;
  expect(texts()).toEqual(['One bo …']);
  await channel.draft?.({ ...DRAFT, text: 'One **bold** word', activity: 'reading files' });
  expect(texts()).toEqual(['One bold word\n\n… reading files']);
  await channel.send({ id: 'm1', jid: JID, text: 'One **bold** word.', replaces: 'd1' });
  expect(api.sent).toMatchObject([{ message_id: first?.message_id, text: 'One bold word.' }]);
  // As after a crash that kept the host from noting it.
  await channel.send({ id: 'm1', jid: JID, text: 'One **bold** word.', replaces: 'd1' });
  expect(texts()).toEqual(['One bold word.']);
});

test.concurrent('a long answer is as many messages as it needs, each there once', async () => {
  await using chat = await answering();
  const { api, channel, texts } = chat;
  const page = (word: string) => `${word} `.repeat(500).trim();
  const text = ['alpha', 'bravo', 'gamma'].map(page).join('\n\n');
  await channel.draft?.({ ...DRAFT, text: page('alpha') });
  await channel.draft?.({ ...DRAFT, text: text.slice(0, 8_000) });
  expect(texts().map((each) => each.split(' ', 1)[0])).toEqual(['alpha', 'bravo', 'gamma']);
  expect(texts().at(-1)).toMatch(/ …$/);
  const before = api.calls.length;
  await channel.draft?.({ ...DRAFT, text: text.slice(0, 8_100) });
  // Of what has not changed, nothing is asked of Telegram.
  const since = api.calls.slice(before).filter(({ method }) => method !== 'getUpdates');
  expect(since.map(({ method }) => method)).toEqual(['editMessageText']);
  await channel.send({ id: 'm1', jid: JID, text, replaces: 'd1' });
  expect(texts().join('\n\n')).toBe(text);
});

test.concurrent('an end that is shorter takes needless messages away, and so does taking a draft back', async () => {
  await using chat = await answering();
  const { channel, texts } = chat;
  const long = 'word '.repeat(2_000);
  await channel.draft?.({ ...DRAFT, text: long });
  expect(texts().length).toBeGreaterThan(2);
  await channel.send({ id: 'm1', jid: JID, text: 'It failed.', replaces: 'd1' });
  expect(texts()).toEqual(['It failed.']);
  await channel.draft?.({ ...DRAFT, id: 'd2', text: long });
  await channel.takeBack?.(JID, 'd2');
  await channel.takeBack?.(JID, 'd2');
  await channel.takeBack?.(JID, 'of nobody');
  expect(texts()).toEqual(['It failed.']);
});

test.concurrent('a process that comes later finds the draft; one that is gone is said once more', async () => {
  await using chat = await answering();
  const { api, channel, disk, texts } = chat;
  await channel.draft?.({ ...DRAFT, text: 'Half an' });
  await channel.disconnect();
  await using later = await connectChannel(api, {}, stoppedClock(), disk);
  await later.channel.send({ id: 'm1', jid: JID, text: 'All of it.', replaces: 'd1' });
  expect(texts()).toEqual(['All of it.']);
  await later.channel.draft?.({ ...DRAFT, id: 'd2', text: 'Half an' });
  api.sent.length = 0;
  await later.channel.send({ id: 'm2', jid: JID, text: 'All of that.', replaces: 'd2' });
  expect(texts()).toEqual(['All of that.']);
  later.channel.forgetChat?.(JID);
  await later.channel.send({ id: 'm3', jid: JID, text: 'New.', replaces: 'm2' });
  expect(texts()).toEqual(['All of that.', 'New.']);
});

test.concurrent('a pause that Telegram asks for delays the step, and an edit it refuses is said once more', async () => {
  await using chat = await answering();
  const { api, channel, texts } = chat;
  await channel.draft?.({ ...DRAFT, text: 'One' });
  const parameters = { retry_after: 3 };
  const error = { error_code: 429, description: 'Too Many Requests', parameters };
  api.failNext('editMessageText', error);
  await channel.draft?.({ ...DRAFT, text: 'One two' });
  expect(texts()).toEqual(['One two …']);
  for (const _ of [1, 2]) {
    api.failNext('editMessageText', { error_code: 400, description: 'Bad Request: no' });
  }
  await channel.send({ id: 'm1', jid: JID, text: 'One two three', replaces: 'd1' });
  expect(texts().at(-1)).toBe('One two three');
});

test.concurrent('a reaction is told with the message that it is on, by those alone who may write', async () => {
  await using chat = await answering();
  const { api, channel, host } = chat;
  await channel.draft?.({ ...DRAFT, text: 'Half' });
  await channel.send({ id: 'm1', jid: JID, text: 'Shall I?', replaces: 'd1' });
  const [question] = api.sent;
  if (question === undefined) throw new Error('nothing was sent');
  api.reactTo(EVE, question, '👍');
  api.reactTo(ADA, { ...question, message_id: 999 }, '👍');
  api.reactTo(ADA, question, '❤', '👍');
  api.reactTo(ADA, question);
  await api.until(() => host.reactions.length === 2);
  const told = { jid: JID, sender: String(ADA.id), isOwner: false, messageId: 'm1' };
  expect(host.reactions).toEqual([
    { ...told, emoji: '👍' },
    { ...told, emoji: null },
  ]);
  expect(channel.capabilities?.drafts).toMatchObject({ everyMs: 1_000, everyMsInGroup: 4_000 });
});
