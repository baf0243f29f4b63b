import type { webApi } from '@slack/bolt';
import type { ChannelClock } from '../channel.ts';
import { PartDelivery } from '../kit/part-delivery.ts';
import { explainSendFailure, readFailure, SlackError } from './failure.ts';
import { formatParts } from './format.ts';
import { channelIdOf } from './jid.ts';

/** Sends messages through an app. What fails is a SlackError, or an UnknownDelivery. */
export function createDelivery(web: webApi.WebClient, clock: ChannelClock): PartDelivery<string> {
  return new PartDelivery({
    partsOf: ({ jid, text }) => {
      channelIn(jid);
      return formatParts(text);
    },
    send: async ({ jid }, text) => {
      // A preview would make Slack fetch an address that the model chose.
      const quietly = { unfurl_links: false, unfurl_media: false };
      await web.chat.postMessage({ channel: channelIn(jid), text, ...quietly });
    },
    pauseMs: (error) => {
      const failure = readFailure(error);
      return failure.kind === 'rate-limited' ? failure.waitMs : null;
    },
    pause: clock.pause,
    explain: (error) => (error instanceof SlackError ? error : explainSendFailure(error)),
  });
}

/** @throws SlackError JID_INVALID */
function channelIn(jid: string): string {
  const channel = channelIdOf(jid);
  if (channel === null) throw new SlackError('JID_INVALID', `${jid} is not a channel of Slack.`);
  return channel;
}
