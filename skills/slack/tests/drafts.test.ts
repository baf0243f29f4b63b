import { expect, test } from 'vitest';
import {
  ADA,
  connectChannel,
  EVE,
  GENERAL,
  inMemory,
  startWorkspace,
  stoppedClock,
} from './fixtures.ts';

const JID = `slack:${GENERAL}`;
const DRAFT = { id: 'd1', jid: JID, activity: null };

/** A connected workspace, on a disk that outlives the connection. */
async function connected() {
  const slack = await startWorkspace();
  const disk = inMemory();
  const { channel, host } = await connectChannel(slack, {}, stoppedClock(), disk);
  return {
    slack,
    channel,
    host,
    disk,
    texts: () => slack.posted.map(({ text }) => text),
    async [Symbol.asyncDispose]() {
      await channel.disconnect();
      await slack.goDown();
    },
  };
}

test.concurrent('a draft is one message in its thread that grows, and the answer is its end', async () => {
  await using workspace = await connected();
  const { slack, channel, texts } = workspace;
  const thread = '1700000000.000100';
  await channel.draft?.({ ...DRAFT, text: 'One **bo', thread });
  expect(texts()).toEqual(['One *bo* …']);
  expect(slack.threads.get('One *bo* …')).toBe(thread);
  await channel.draft?.({ ...DRAFT, text: 'One', activity: 'reading files', thread });
  expect(texts()).toEqual(['One\n\n… reading files']);
  const answer = { id: 'm1', jid: JID, text: 'One, whole.', replaces: 'd1', thread };
  await channel.send(answer);
  await channel.send(answer);
  expect(texts()).toEqual(['One, whole.']);
});

test.concurrent('a long answer is as many messages as it needs; a short end takes the others away', async () => {
  await using workspace = await connected();
  const { channel, texts } = workspace;
  const text = ['alpha', 'beta', 'gamma'].map((word) => `${word} `.repeat(600).trim()).join('\n\n');
  await channel.draft?.({ ...DRAFT, text: text.slice(0, 3_000) });
  await channel.draft?.({ ...DRAFT, text: text.slice(0, 8_000) });
  expect(texts()).toHaveLength(3);
  await channel.send({ id: 'm1', jid: JID, text, replaces: 'd1' });
  expect(texts().join('\n\n')).toBe(text);
  await channel.draft?.({ ...DRAFT, id: 'd2', text });
  await channel.send({ id: 'm2', jid: JID, text: 'It failed.', replaces: 'd2' });
  expect(texts()).toHaveLength(4);
  expect(texts().at(-1)).toBe('It failed.');
});

test.concurrent('a draft is taken back, and found by a process that comes later', async () => {
  await using workspace = await connected();
  const { slack, channel, disk, texts } = workspace;
  await channel.draft?.({ ...DRAFT, text: 'Half an' });
  await channel.takeBack?.(JID, 'd1');
  await channel.takeBack?.(JID, 'd1');
  expect(texts()).toEqual([]);
  await channel.draft?.({ ...DRAFT, id: 'd2', text: 'Half an' });
  await channel.disconnect();
  await using later = await connectChannel(slack, {}, stoppedClock(), disk);
  await later.channel.send({ id: 'm2', jid: JID, text: 'All of it.', replaces: 'd2' });
  expect(texts()).toEqual(['All of it.']);
});

test.concurrent('a draft that a kill left without a note is found by its mark: changed, replaced, or taken away', async () => {
  await using workspace = await connected();
  const { slack, channel, disk, texts } = workspace;
  const thread = '1700000000.000100';
  const lose = async (id: string, more = {}) => {
    slack.failNext('chat.postMessage', { cutLine: true });
    const draft = channel.draft?.({ ...DRAFT, id, text: `Half of ${id}`, ...more });
    await expect(draft).rejects.toMatchObject({ name: 'UnknownDelivery' });
  };
  await lose('d1');
  await lose('d2', { thread });
  await lose('d3', { thread });
  await channel.disconnect();
  await using later = await connectChannel(slack, {}, stoppedClock(), disk);
  await later.channel.draft?.({ ...DRAFT, text: 'More of d1' });
  await later.channel.send({ id: 'm2', jid: JID, text: 'All of d2.', replaces: 'd2', thread });
  slack.failNext('conversations.replies', { status: 500, body: {} });
  const failed = later.channel.takeBack?.(JID, 'd3');
  await expect(failed).rejects.toMatchObject({ code: 'UNREACHABLE' });
  await later.channel.takeBack?.(JID, 'd3');
  expect(texts()).toEqual(['More of d1 …', 'All of d2.']);
});

test.concurrent('a reaction is told with the message that it is on, by those alone who may write', async () => {
  await using workspace = await connected();
  const { slack, channel, host } = workspace;
  await channel.send({ id: 'm1', jid: JID, text: 'Shall I?' });
  const react = (type: string, user: string, reaction: string, ts = slack.stampOf(0)) =>
    slack.push({ type, user, reaction, item: { type: 'message', channel: GENERAL, ts } });
  react('reaction_added', EVE, '+1');
  react('reaction_added', ADA, '+1', '1.000001');
  react('reaction_added', ADA, 'thumbsup::skin-tone-3');
  react('reaction_added', ADA, 'party_parrot');
  react('reaction_removed', ADA, '+1');
  await slack.until(() => host.reactions.length === 3);
  const told = { jid: JID, sender: ADA, isOwner: false, messageId: 'm1' };
  expect(host.reactions).toEqual([
    { ...told, emoji: '👍' },
    { ...told, emoji: ':party_parrot:' },
    { ...told, emoji: null },
  ]);
});
