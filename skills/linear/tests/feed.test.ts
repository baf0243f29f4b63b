import { expect, test } from 'vitest';
import { ADA, connect, EVE, inMemory, JID, nudge } from './fixtures.ts';
import { LinearServer, ME } from './linear-server.ts';

test('an issue that is assigned is a message, with what it says and where its answers belong', async () => {
  await using linear = await new LinearServer().comeUp();
  const before = linear.open(ADA, 'Older', { number: 7 });
  linear.open(ADA, 'Not ours', { to: EVE.id, number: 8 });
  await using connected = await connect(linear);
  const { host, channel } = connected;
  expect(host.messages).toEqual([
    {
      id: `${before.id}-${before.createdAt}`,
      jid: JID,
      chatName: 'Linear',
      isDirect: true,
      sender: ADA.id,
      senderName: 'Ada (ENG-7)',
      isOwner: false,
      mentionsAssistant: true,
      sentAt: before.createdAt,
      text: '[assigns you ENG-7] Older\n\nState: Todo; priority: No priority; team: Engineering\nhttps://linear.app/acme/issue/ENG-7',
      thread: before.id,
    },
  ]);
  expect(host.chats).toEqual([{ jid: JID, name: 'Linear', isDirect: true }]);
  const { id = '', thread = '' } = host.messages[0] ?? {};
  await channel.send({ id: 'm1', jid: JID, text: 'On it.', thread });
  channel.answered?.(JID, [id]);
  const question = linear.comment(ADA, before, 'How long?');
  await linear.until(() => host.messages.length === 2);
  expect(host.messages[1]).toMatchObject({ text: 'How long?', senderName: 'Ada (ENG-7)' });
  const reply = linear.comment(ADA, before, 'Well?', question.id);
  await linear.until(() => host.messages.length === 3);
  await channel.send({
    id: 'm2',
    jid: JID,
    text: 'A day.',
    thread: host.messages[2]?.thread ?? '',
  });
  expect(reply.parentId).toBe(question.id);
  expect(linear.posted.map(({ body, issueId, parentId }) => [body, issueId, parentId])).toEqual([
    ['On it.', before.id, null],
    ['A day.', before.id, question.id],
  ]);
  // Its own comments do not come back.
  linear.comment(ADA, before, 'Good.');
  await linear.until(() => host.messages.length === 4);
  expect(host.messages[3]?.text).toBe('Good.');
});

test('who assigned counts, not who wrote; one that is taken back and assigned again is a message again', async () => {
  await using linear = await new LinearServer().comeUp();
  await using connected = await connect(linear);
  const { host } = connected;
  const issue = linear.open(EVE, 'By Eve', { to: null });
  linear.assign(EVE, issue, ME.id);
  await linear.until(() => host.strangers.length === 1);
  expect(host.strangers).toEqual([EVE.email]);
  linear.assign(EVE, issue, null);
  linear.assign(ADA, issue, ME.id);
  await linear.until(() => host.messages.length === 1);
  linear.assign(ADA, issue, null);
  linear.assign(ADA, issue, ME.id);
  await linear.until(() => host.messages.length === 2);
  expect(new Set(host.messages.map(({ id }) => id)).size).toBe(2);
  expect(host.messages.every(({ text }) => text.startsWith('[assigns you ENG-1] By Eve'))).toBe(
    true,
  );
});

test('the next issue waits until the one before is answered, and nothing of it is lost', async () => {
  await using linear = await new LinearServer().comeUp();
  const [one, two] = [linear.open(ADA, 'One'), linear.open(ADA, 'Two')];
  const disk = inMemory();
  await using first = await connect(linear, { openDatabase: disk });
  linear.comment(ADA, two, 'on two');
  linear.comment(ADA, one, 'on one');
  await linear.until(() => first.host.messages.length === 2);
  expect(first.host.messages.map(({ senderName }) => senderName)).toEqual([
    'Ada (ENG-1)',
    'Ada (ENG-1)',
  ]);
  const [assigned, remark] = first.host.messages.map(({ id }) => id);
  first.channel.answered?.(JID, [assigned ?? '']);
  linear.comment(ADA, one, 'still on one');
  await linear.until(() => first.host.messages.length === 3);
  await first.channel.disconnect();
  await using second = await connect(linear, { openDatabase: disk });
  await linear.until(() => second.host.messages.length === 2);
  expect(second.host.messages.map(({ text }) => text.split('\n')[0])).toEqual([
    '[assigns you ENG-2] Two',
    'on two',
  ]);
  expect(remark).not.toBe(assigned);
  second.channel.chatAcknowledged?.(JID);
  const three = linear.open(ADA, 'Three');
  await linear.until(() => second.host.messages.length === 3);
  expect(second.host.messages[2]?.thread).toBe(three.id);
});

test.each([
  ['after a quarter of an hour without an answer', 15 * 60_000],
  ['after the clock was set back by an hour', -3_600_000],
])('%s the next issue comes all the same', async (_, offMs) => {
  await using linear = await new LinearServer().comeUp();
  linear.open(ADA, 'One');
  linear.open(ADA, 'Two');
  let aheadMs = 0;
  await using connected = await connect(linear, { now: () => Date.now() + aheadMs });
  const looks = () => linear.asked.filter((name) => name === 'Issues').length;
  await linear.until(() => looks() > 3);
  expect(connected.host.messages).toHaveLength(1);
  aheadMs = offMs;
  await linear.until(() => connected.host.messages.length === 2);
});

test('a comment is what it is when it is heard; a later change is told as one', async () => {
  await using linear = await new LinearServer().comeUp();
  const issue = linear.open(ME, 'Old');
  await using connected = await connect(linear);
  const { host } = connected;
  const comment = linear.comment(ADA, issue, 'at noon');
  await linear.until(() => host.messages.length === 1);
  linear.edit(comment, 'at ] one');
  await linear.until(() => host.messages.length === 2);
  expect(host.messages.map(({ text, isContext = false }) => [text, isContext])).toEqual([
    ['at noon', false],
    ['[corrects a comment of theirs: "at one"]', true],
  ]);
});

test('what was not stored is asked for again, and a nudge makes it look at once', async () => {
  await using linear = await new LinearServer().comeUp();
  const issue = linear.open(ME, 'Old');
  const env = { LINEAR_POLL_SECONDS: '3600' };
  await using connected = await connect(linear, { env, dataDir: '/project/nudged' });
  const { host } = connected;
  let failures = 1;
  host.beforeStored = async () => {
    failures -= 1;
    if (failures >= 0) throw new Error('disk full');
  };
  linear.comment(ADA, issue, 'hello');
  nudge('/project/another');
  nudge('/project/nudged');
  await linear.until(() => host.messages.length === 1);
  expect([host.heard, host.offered]).toEqual([['hello'], 2]);
});

test('a clock that is an hour ahead hides no comment', async () => {
  await using linear = await new LinearServer().comeUp();
  const issue = linear.open(ME, 'Old');
  await using connected = await connect(linear, { now: () => Date.now() + 3_600_000 });
  linear.comment(ADA, issue, 'hello');
  await linear.until(() => connected.host.messages.length === 1);
});

test('old comments of an issue are no messages, and completed issues are none', async () => {
  await using linear = await new LinearServer().comeUp();
  linear.aheadMs = -600_000;
  const issue = linear.open(ME, 'Old');
  linear.comment(ADA, issue, 'long ago');
  linear.open(ADA, 'Finished').stateId = 's3';
  linear.aheadMs = 0;
  await using connected = await connect(linear);
  linear.comment(ADA, issue, 'now');
  await linear.until(() => connected.host.messages.length === 1);
  expect(connected.host.heard).toEqual(['now']);
});
