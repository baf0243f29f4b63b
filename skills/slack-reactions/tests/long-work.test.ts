import { expect, test } from 'vitest';
import { ADA, ADA_DIRECT, connectChannel, startWorkspace } from '../../slack/tests/fixtures.ts';
import type { SlackServer } from '../../slack/tests/slack-server.ts';

const JID = `slack:${ADA_DIRECT}`;

/** Two messages of Ada's have come in. */
async function withTwo(slack: SlackServer) {
  const connected = await connectChannel(slack);
  const ids = ['one', 'two'].map((text) => slack.sendText(ADA, ADA_DIRECT, text));
  await slack.until(() => connected.host.messages.length === 2);
  const step = (activity: string | null) =>
    connected.channel.draft?.({
      id: 'd1',
      jid: JID,
      text: `Well ${activity}`,
      activity,
      answersTo: ids,
    });
  return { ...connected, ids, last: ids[1] ?? '', step };
}

test('the last message of those that take long has 👀 once, and ✅ in its place when they are answered', async () => {
  await using slack = await startWorkspace();
  await using two = await withTwo(slack);
  await two.step(null);
  expect(slack.reactions).toEqual([]);
  await two.step('reading');
  await two.step('reading on');
  await slack.until(() => slack.reactions.length === 1);
  expect(slack.reactions).toEqual([`${two.last} eyes`]);
  two.channel.answered?.(JID, two.ids);
  await slack.until(() => slack.reactions.includes(`${two.last} white_check_mark`));
  expect(slack.reactions).toEqual([`${two.last} white_check_mark`]);
  const added = slack.calls.filter(({ method }) => method === 'reactions.add');
  expect(added).toHaveLength(2);
});

test('a quick answer has no mark, and without the scope there is none and all else works', async () => {
  await using slack = await startWorkspace();
  await using two = await withTwo(slack);
  two.channel.answered?.(JID, two.ids);
  slack.lacking.add('reactions:write');
  await two.step('reading');
  two.channel.answered?.(JID, two.ids);
  const tried = () => slack.calls.filter(({ method }) => method.startsWith('reactions.')).length;
  await slack.until(() => tried() === 3);
  await two.channel.send({ id: 'm1', jid: JID, text: 'Done.' });
  expect(slack.posted.at(-1)?.text).toBe('Done.');
  expect(slack.reactions).toEqual([]);
});
