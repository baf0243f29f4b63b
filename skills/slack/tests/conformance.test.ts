import type { ChannelContext } from '../../../src/channels/channel.ts';
import { channel } from '../../../src/channels/slack.ts';
import { channelFrom } from '../../../src/testing/channel/bench.ts';
import { testChannel } from '../../../src/testing/channel/conformance.ts';
import type { FarEnd, Variation } from '../../../src/testing/channel/far-end.ts';
import { NOTATIONS } from '../../../src/testing/channel/shown.ts';
import { SLACK_CONTENT, sendSlackContent } from './content.ts';
import {
  ADA,
  ADA_DIRECT,
  APP_TOKEN,
  BOT_TOKEN,
  EVE,
  EVE_DIRECT,
  GENERAL,
  settingsOf,
  startWorkspace,
} from './fixtures.ts';
import type { SlackServer } from './slack-server.ts';

const WRONG = 'xoxb-wrong-token-of-nobody';

testChannel({
  name: 'slack',
  limit: 3_900,
  lengthOf: (text) => text.length,
  notation: NOTATIONS.mrkdwn,
  tokenSetting: 'SLACK_BOT_TOKEN',
  lacks: {},
  content: SLACK_CONTENT,
  start: async () => farEndOf(await startWorkspace()),
});

function farEndOf(slack: SlackServer): FarEnd {
  let last = '';
  const create = (context: ChannelContext, variation: Variation) =>
    channelFrom(
      channel,
      {
        ...settingsOf(slack),
        ...(variation === 'wrong token' ? { SLACK_BOT_TOKEN: WRONG } : {}),
        ...(variation === 'nobody allowed' ? { SLACK_ALLOW_FROM: '' } : {}),
      },
      context,
    );
  const changed = (subtype: string, more: Readonly<Record<string, unknown>>) =>
    slack.push({ type: 'message', subtype, channel: ADA_DIRECT, channel_type: 'im', ...more });
  return {
    create,
    friendTyped: [ADA, `<@${ADA}>`],
    jidOf: (place) => `slack:${place === 'direct' ? ADA_DIRECT : GENERAL}`,
    sendText(from, place, text) {
      const [person, own] = from === 'friend' ? [ADA, ADA_DIRECT] : [EVE, EVE_DIRECT];
      last = slack.sendText(person, place === 'direct' ? own : GENERAL, text);
    },
    sent: () =>
      slack.posted.map(({ channel: where, text }) => ({
        place: where === GENERAL ? 'group' : 'direct',
        text,
      })),
    secrets: [BOT_TOKEN, APP_TOKEN, WRONG],
    waiting: () => slack.pending.length,
    goDown: () => slack.goDown(),
    comeUp: () => slack.comeUp(),
    revoke: () => slack.revoke(),
    limitNext(seconds, later) {
      const headers = seconds === null ? {} : { 'Retry-After': String(seconds) };
      const body = { ok: false, error: 'ratelimited' };
      slack.failNext('chat.postMessage', { status: 429, headers, body }, later);
    },
    loseNext: () => slack.failNext('chat.postMessage', { cutLine: true }),
    sendHalf: () => slack.sendHalf(),
    sendInvalid: () => slack.sendBytes(Buffer.from([0x22, 0xc3, 0x28, 0xff, 0x22])),
    sendFile(name, size) {
      const file = { id: 'F1', name, size, mimetype: 'video/mp4', url_private_download: '' };
      slack.sendText(ADA, ADA_DIRECT, '', { subtype: 'file_share', files: [file] });
    },
    edit: (text) =>
      changed('message_changed', {
        ts: '1.1',
        message: { type: 'message', user: ADA, text, ts: last },
        previous_message: { type: 'message', user: ADA, ts: last },
      }),
    remove: () => changed('message_deleted', { ts: '1.2', deleted_ts: last }),
    forward: (text) => {
      const shared = {
        is_msg_unfurl: true,
        is_share: true,
        author_id: EVE,
        author_name: 'Eve',
        text,
      };
      slack.sendText(ADA, ADA_DIRECT, '', { attachments: [shared] });
    },
    sendContent: (kind, connected) => sendSlackContent(slack, kind, connected),
    close: () => slack.removeChannel(ADA_DIRECT),
    [Symbol.asyncDispose]: () => slack.goDown(),
  };
}
