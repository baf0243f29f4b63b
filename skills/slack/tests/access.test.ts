import { expect, test } from 'vitest';
import {
  ADA,
  ADA_DIRECT,
  APP_TOKEN,
  BOT_TOKEN,
  connectChannel,
  createChannel,
  EVE,
  EVE_DIRECT,
  GENERAL,
  HostEnd,
  startWorkspace,
} from './fixtures.ts';

test.concurrent('without any token there is no channel', () => {
  expect(createChannel({ SLACK_ALLOW_FROM: '*' }, new HostEnd())).toBeNull();
  expect(createChannel({ SLACK_BOT_TOKEN: '', SLACK_APP_TOKEN: '' }, new HostEnd())).toBeNull();
});

test.concurrent.each([
  { env: { SLACK_BOT_TOKEN: '' }, line: 'SLACK_BOT_TOKEN=' },
  { env: { SLACK_APP_TOKEN: '' }, line: 'SLACK_APP_TOKEN=' },
  { env: { SLACK_ALLOW_FROM: '' }, line: 'SLACK_ALLOW_FROM=<your member id>' },
  { env: { SLACK_ALLOW_FROM: ' , ' }, line: 'SLACK_ALLOW_FROM=<your member id>' },
  { env: { SLACK_ALLOW_FROM: `${ADA}, @eve` }, line: '"@eve"' },
])('with $env nothing is asked of Slack and the status says $line', async ({ env, line }) => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack, env);
  expect(connected.channel.status().state).toBe('refused');
  expect(connected.channel.status().detail).toContain(line);
  expect(connected.host.statuses).toEqual([connected.channel.status()]);
  expect(slack.calls).toEqual([]);
});

test.concurrent('only those on the list get through, alone and in channels; of the rest those who write directly are counted', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack, { SLACK_ALLOW_FROM: `U0X,${ADA}` });
  const { host } = connected;
  slack.sendText(EVE, EVE_DIRECT, 'let me in');
  slack.sendText(EVE, GENERAL, `<@${slack.botUserId}> let me in`);
  slack.sendText(ADA, GENERAL, 'I am a bot', { bot_id: 'B7' });
  slack.sendText(ADA, GENERAL, 'hello');
  await slack.until(() => slack.pending.length === 0);
  expect(host.messages.map(({ text }) => text)).toEqual(['hello']);
  expect(host.chats).toEqual([{ jid: `slack:${GENERAL}`, name: 'general', isDirect: false }]);
  expect(host.strangers).toEqual([EVE]);
  expect(slack.calls.some(({ fields }) => fields['user'] === EVE)).toBe(false);
});

test.concurrent('a star lets everybody write', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack, { SLACK_ALLOW_FROM: '*' });
  const { host } = connected;
  slack.sendText(EVE, EVE_DIRECT, 'one');
  slack.sendText(ADA, ADA_DIRECT, 'two');
  await slack.until(() => host.messages.length === 2);
  expect(host.messages.map(({ sender }) => sender)).toEqual([EVE, ADA]);
});

test.concurrent('a channel that the app is invited to is listed, unless a stranger invited it', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack);
  const { host } = connected;
  slack.addChannel({ id: 'C0TRAP', name: 'trap' });
  const joined = { type: 'member_joined_channel', user: slack.botUserId, channel_type: 'C' };
  slack.push({ ...joined, channel: 'C0TRAP', inviter: EVE });
  slack.push({ ...joined, channel: 'C0TRAP', user: EVE, inviter: ADA });
  slack.push({ ...joined, channel: GENERAL, inviter: ADA });
  await slack.until(() => slack.pending.length === 0);
  expect(host.chats.map(({ name }) => name)).toEqual(['general']);
});

test.concurrent('a JID is owned when it is a channel id behind slack:', () => {
  const channel = createChannel({ SLACK_BOT_TOKEN: BOT_TOKEN }, new HostEnd());
  const jids = [`slack:${GENERAL}`, `slack:${ADA_DIRECT}`, 'slack:', 'slack:U0ADA', 'telegram:1'];
  expect(jids.map((jid) => channel?.ownsJid(jid))).toEqual([true, true, false, false, false]);
});

test.concurrent('the tokens are in no status and no log line', async () => {
  await using slack = await startWorkspace();
  await using connected = await connectChannel(slack, { SLACK_APP_TOKEN: `${APP_TOKEN}-wrong` });
  const { host } = connected;
  expect(host.statuses.at(-1)?.state).toBe('refused');
  expect(JSON.stringify([host.statuses, host.log])).not.toMatch(/test-token/);
});
